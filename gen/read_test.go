package gen

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// readFiles reads a directory that consists of the files.
func readFiles(files map[string]string) (*Spec, Diagnostics) {
	var sources []source
	for name, text := range files {
		if isSource(name) {
			sources = append(sources, source{name, "dir/" + name, []byte(text), int64(len(text))})
		}
	}
	spec, found := read("dir", sources)
	return spec, found.sorted()
}

// mustRead reads a valid spec of one file.
func mustRead(t *testing.T, text string) *Spec {
	t.Helper()
	spec, found := readFiles(map[string]string{"spec.go": text})
	if len(found) > 0 {
		t.Fatal(found)
	}
	return spec
}

// A pointShape holds the fields of a point that tests compare.
type pointShape struct {
	Name, Doc, Param, Payload string
	Kind                      Kind
	Replace, Reverse          bool
	Edit, EditField           string
	Exits                     string
	Collect, Around           string
	Policy                    Policy
}

func shapes(s *Spec) []pointShape {
	text := func(t Type) string {
		if t.Expr == nil {
			return ""
		}
		return s.info.source(t.Expr)
	}
	var all []pointShape
	for _, p := range s.Points {
		all = append(all, pointShape{
			p.Name, p.Doc, p.Param, text(p.Payload), p.Kind, p.Replace, p.Reverse, text(p.Edit), p.EditField,
			strings.Join(p.Exits, " "), text(p.Collect), text(p.Around), p.Policy,
		})
	}
	return all
}

const everyLaw = `// Package p shows every law.
package p

import (
	"time"

	law "github.com/hookgen/hookgen/spec"
)

// Points are the points.
//
//hookgen:points
type Points interface {
	law.Env[*Env] // the environment

	// OnStart starts.
	OnStart(start Start)
	Reversed(_ Start) law.Reverse
	Rewriting(Start) (law.Replace, law.FailOpen)
	Editing(Message) (law.Edit[Text], law.FailClosed)
	EditingGeneric(Envelope[Text]) (law.Edit[Text], law.FailClosed)
	Both(Message) (law.Replace, law.Edit[Text], Stop, law.FailClosed)
	Leaving(time.Time) (Stop, Skip, law.FailClosed)
	Back(Start) (law.Reverse, law.Replace, Skip, law.FailOpen)
	Voting([]Start) (law.Vote, Skip, Stop, law.FailClosed)
	VotingBack(Start) (law.Reverse, law.Vote, law.Collect[int], Skip, law.FailClosed)
	Collecting(Start) law.Collect[map[string]int]
	CollectingClosed(Start) (law.Collect[int], law.FailClosed)
	Deciding(Start) (Stop, law.Collect[string], law.FailClosed)
	Model
}

// Model groups points.
type Model interface {
	Checking(Start) law.Check
	Wrapping(Start) law.Around[time.Duration]
	WrappingBack(Start) (law.Around[int], law.Reverse)
	WrappingBackToo(Start) (law.Reverse, law.Around[int])
}

type Env struct{}

type Start struct{}

type Text string

// Message is edited.
type Message struct {
	From string
	Text // embedded
}

type Envelope[T any] struct {
	Kind string
	Body T
}

// Skip skips.
type Skip struct {
	// Reason says why.
	Reason string ` + "`json:\"reason\"`" + `
	A, B   int // two
}

type Stop struct{}

const Limit = 3

type hidden struct{}
`

func TestReadFillsEveryLaw(t *testing.T) {
	s := mustRead(t, everyLaw)
	want := []pointShape{
		{Name: "OnStart", Doc: "OnStart starts.\n", Param: "start", Payload: "Start"},
		{Name: "Reversed", Payload: "Start", Reverse: true},
		{Name: "Rewriting", Payload: "Start", Kind: Flow, Replace: true, Policy: FailOpen},
		{Name: "Editing", Payload: "Message", Kind: Flow, Edit: "Text", EditField: "Text", Policy: FailClosed},
		{Name: "EditingGeneric", Payload: "Envelope[Text]", Kind: Flow, Edit: "Text", EditField: "Body", Policy: FailClosed},
		{Name: "Both", Payload: "Message", Kind: Flow, Replace: true, Edit: "Text", EditField: "Text", Exits: "Stop",
			Policy: FailClosed},
		{Name: "Leaving", Payload: "time.Time", Kind: Flow, Exits: "Stop Skip", Policy: FailClosed},
		{Name: "Back", Payload: "Start", Kind: Flow, Replace: true, Reverse: true, Exits: "Skip", Policy: FailOpen},
		{Name: "Voting", Payload: "[]Start", Kind: Vote, Exits: "Skip Stop", Policy: FailClosed},
		{Name: "VotingBack", Payload: "Start", Kind: Vote, Reverse: true, Collect: "int", Exits: "Skip", Policy: FailClosed},
		{Name: "Collecting", Payload: "Start", Kind: Collect, Collect: "map[string]int", Policy: FailOpen},
		{Name: "CollectingClosed", Payload: "Start", Kind: Collect, Collect: "int", Policy: FailClosed},
		{Name: "Deciding", Payload: "Start", Kind: Flow, Exits: "Stop", Collect: "string", Policy: FailClosed},
		{Name: "Checking", Payload: "Start", Kind: Check},
		{Name: "Wrapping", Payload: "Start", Kind: Around, Around: "time.Duration"},
		{Name: "WrappingBack", Payload: "Start", Kind: Around, Around: "int", Reverse: true},
		{Name: "WrappingBackToo", Payload: "Start", Kind: Around, Around: "int", Reverse: true},
	}
	if diff := cmp.Diff(want, shapes(s)); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestReadFillsTheSpec(t *testing.T) {
	s := mustRead(t, everyLaw)
	type imported struct{ Name, Path string }
	type export struct {
		Name, Doc string
		Const     bool
		Params    int
	}
	type field struct{ Name, Tag, Doc string }
	type whole struct {
		Dir, File, Package, Doc, Points, PointsDoc, Env string
		Imports                                         []imported
		SpecPkg                                         imported
		Exits                                           []string
		Skip                                            []field
		Exports                                         []export
		Declared                                        []string
	}
	got := whole{
		Dir: s.Dir, File: s.File, Package: s.Package, Doc: s.Doc, Points: s.Interface.Name.Name, PointsDoc: s.PointsDoc,
		Env: s.info.source(s.Env.Expr), SpecPkg: imported{s.SpecPkg.Name, s.SpecPkg.Path}, Declared: s.Declared,
	}
	for _, i := range s.Imports {
		got.Imports = append(got.Imports, imported{i.Name, i.Path})
	}
	for _, x := range s.Exits {
		got.Exits = append(got.Exits, x.Name+": "+x.Doc)
	}
	for _, f := range s.Exits[0].Fields {
		got.Skip = append(got.Skip, field{f.Name, f.Tag, f.Doc})
	}
	for _, x := range s.Exports {
		got.Exports = append(got.Exports, export{x.Name, x.Doc, x.Const, len(x.Params)})
	}
	want := whole{
		Dir: "dir", File: "dir/spec.go", Package: "p", Doc: "Package p shows every law.\n",
		Points: "Points", PointsDoc: "Points are the points.\n", Env: "*Env",
		Imports: []imported{{"time", "time"}},
		SpecPkg: imported{"law", "github.com/hookgen/hookgen/spec"},
		Exits:   []string{"Skip: Skip skips.\n", "Stop: "},
		Skip:    []field{{"Reason", "`json:\"reason\"`", "Reason says why.\n"}, {"A", "", "two\n"}, {"B", "", "two\n"}},
		Exports: []export{
			{Name: "Env"}, {Name: "Envelope", Params: 1}, {Name: "Limit", Const: true},
			{Name: "Message", Doc: "Message is edited.\n"},
			{Name: "Model", Doc: "Model groups points.\n"}, {Name: "Points", Doc: "Points are the points.\n"}, {Name: "Start"},
			{Name: "Text"},
		},
		Declared: strings.Fields("Env Envelope Limit Message Model Points Skip Start Stop Text hidden"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// A spec with a byte order mark and CRLF reads like the plain one.
func TestReadToleratesWindows(t *testing.T) {
	plain := mustRead(t, everyLaw)
	text := "\ufeff" + strings.ReplaceAll(everyLaw, "\n", "\r\n")
	windows := mustRead(t, text)
	if diff := cmp.Diff(shapes(plain), shapes(windows)); diff != "" {
		t.Errorf("plain -, windows +:\n%s", diff)
	}
	for i, x := range plain.Exits {
		y := windows.Exits[i]
		if x.Doc != y.Doc || len(x.Fields) > 0 && (x.Fields[0].Tag != y.Fields[0].Tag || x.Fields[0].Doc != y.Fields[0].Doc) {
			t.Errorf("exit %v became %v", x, y)
		}
	}
	to := Output{Package: "out", SpecPath: "example.com/p"}
	one, err := Emit(plain, to)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Emit(windows, to)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(one), string(other)); diff != "" {
		t.Errorf("plain -, windows +:\n%s", diff)
	}
}

func TestReadExtension(t *testing.T) {
	s := mustRead(t, `package p

import "example.com/go-agent/v2"

//hookgen:points
type Points interface {
	agent.Points
	OnStart(agent.Run)
}
`)
	if len(s.Parents) != 1 || s.Parents[0].Import.Name != "agent" ||
		s.Parents[0].Import.Path != "example.com/go-agent/v2" {
		t.Errorf("parents %v", s.Parents)
	}
	if len(s.Points) != 1 || s.SpecPkg.Path != "" {
		t.Errorf("points %v, language %v", s.Points, s.SpecPkg)
	}
}

// The other files of the directory need not compile.
func TestReadIgnoresOtherFiles(t *testing.T) {
	s, found := readFiles(map[string]string{
		"spec.go":         "package p\n\n//hookgen:points\ntype Points interface {\n\tOnStart(int)\n}\n",
		"broken.go":       "package p\n\ntype Whole struct{}\n\nfunc broken( {\n\ntype Late struct{}\n",
		"nothing.go":      "",
		"other.go":        "package other\n\ntype Foreign struct{}\n",
		"ignored.go":      "//go:build ignore\n\npackage p\n\ntype Ignored struct{}\n",
		"tables_linux.go": "package p\n\ntype Linux struct{}\n",
		"set.go":          "package p\n\nimport (\n\tc \"cmp\"\n)\n\n// Set is a set.\ntype Set[T c.Ordered] map[T]bool\n",
		"min.go":          "package p\n\nfunc min(a, b int) int { return a }\n",
		"hooks_gen.go":    "not even Go",
	})
	// load would skip hooks_gen.go because of its header. This test calls read with it, as a broken file.
	if len(found) > 0 {
		t.Fatal(found)
	}
	var names []string
	for _, x := range s.Exports {
		names = append(names, x.Name)
	}
	if got := strings.Join(names, " "); got != "Points Set Whole" && got != "Late Points Set Whole" {
		t.Errorf("exports %s", got)
	}
	if len(s.Imports) != 1 || s.Imports[0].Name != "c" || s.Imports[0].Path != "cmp" {
		t.Errorf("the constraint of Set is imported as %v", s.Imports)
	}
}

// The constraints of two files need different packages of the same name.
func TestReadRenamesImportsOfOtherFiles(t *testing.T) {
	s, found := readFiles(map[string]string{
		"spec.go": "package p\n\nimport \"example.com/one/law\"\n\n//hookgen:points\n" +
			"type Points interface {\n\tOnStart(law.Start)\n}\n",
		"set.go": "package p\n\nimport \"example.com/two/law\"\n\ntype Set[T law.Member] map[T]bool\n",
	})
	if len(found) > 0 {
		t.Fatal(found)
	}
	if len(s.Imports) != 2 || s.Imports[1].Name != "law2" || s.Imports[1].Path != "example.com/two/law" {
		t.Fatalf("imports %v", s.Imports)
	}
	text, err := Emit(s, Output{Package: "out", SpecPath: "example.com/p"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "type Set[T law2.Member] = ") {
		t.Errorf("Set is not shown with its constraint:\n%s", text)
	}
}

// An import for a constraint of another file must not hide a name of the generated code.
func TestAdoptedImportsHideNothing(t *testing.T) {
	for alias, want := range map[string]string{"iota": "iota2", "panic": "panic2", "P": "P2", "Hooks": "Hooks2",
		"OnStart": "OnStart3", "OnStartFunc": "OnStartFunc2", "law": "law"} {
		t.Run(alias, func(t *testing.T) {
			s, found := readFiles(map[string]string{
				"spec.go": "package p\n\nimport OnStart2 \"example.com/two\"\n\n//hookgen:points\n" +
					"type Points interface {\n\tOnStart(OnStart2.T)\n}\n",
				"set.go": "package p\n\nimport " + alias + " \"cmp\"\n\ntype Set[T " + alias + ".Ordered] map[T]bool\n",
			})
			if len(found) > 0 {
				t.Fatal(found)
			}
			if len(s.Imports) != 2 || s.Imports[1].Name != want || s.Imports[1].Path != "cmp" {
				t.Errorf("imports %v, want %s", s.Imports, want)
			}
		})
	}
}

func TestReadDirectories(t *testing.T) {
	const spec = "package p\n\n//hookgen:points\ntype Points interface {\n\tOnStart(int)\n}\n"
	write := func(t *testing.T, path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("a link to a spec is read", func(t *testing.T) {
		dir, target := t.TempDir(), filepath.Join(t.TempDir(), "real.go")
		write(t, target, spec)
		if err := os.Symlink(target, filepath.Join(dir, "spec.go")); err != nil {
			t.Skip(err)
		}
		if _, found := Read(dir); len(found) > 0 {
			t.Error(found)
		}
	})
	t.Run("what is no file, and what leads nowhere, is passed over", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "spec.go"), spec)
		if err := os.Mkdir(filepath.Join(dir, "dir.go"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("nowhere.go", filepath.Join(dir, "link.go")); err != nil {
			t.Skip(err)
		}
		if _, found := Read(dir); len(found) > 0 {
			t.Error(found)
		}
	})
	t.Run("a directory that is not there is trouble", func(t *testing.T) {
		_, found := Read(filepath.Join(t.TempDir(), "none"))
		if !found.Trouble() || !strings.Contains(found.Error(), "no such directory: give") {
			t.Error(found)
		}
	})
	t.Run("a file in place of a directory is trouble", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "spec.go")
		write(t, path, spec)
		_, found := Read(path)
		if !found.Trouble() || !strings.Contains(found.Error(), "is not a directory: give") {
			t.Error(found)
		}
	})
	t.Run("a spec of 10 MB is refused at once", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "spec.go"), spec+strings.Repeat("type T struct{}\n", 625_000))
		start := time.Now()
		_, found := Read(dir)
		if len(found) != 1 || found[0].Rule != "size" || !strings.Contains(found[0].Message, "has 10.0 MB") {
			t.Error(found)
		}
		if took := time.Since(start); took > patience {
			t.Errorf("it took %v", took)
		}
	})
	t.Run("a file of 5 MB beside the spec is read", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "spec.go"), spec)
		write(t, filepath.Join(dir, "table.go"), "package p\n\nconst Table = `"+strings.Repeat("0123456789abcdef",
			5<<16)+"`\n")
		s, found := Read(dir)
		if len(found) > 0 {
			t.Fatal(found)
		}
		if len(s.Exports) != 2 || s.Exports[1].Name != "Table" {
			t.Errorf("exports %v", s.Exports)
		}
	})
}

// These files would be slow if a check took quadratic time, because they have long lists that the checks compare. The
// time limit is far above the linear time, and far below the quadratic time.
func TestHostileFilesAreReadQuickly(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, strings.ReplaceAll(format, "#", "%[1]d"), i)
		}
		return b.String()
	}
	in := func(body, decls string) string {
		return "package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n//hookgen:points\ntype Points interface {\n" +
			body + "}\n" + decls
	}
	for name, text := range map[string]string{
		"policies": in("A(int) ("+strings.Repeat("spec.FailClosed, ", 10_000)+")\n", ""),
		"undeclared exits": in(many(8_000, "Point#(int) (Undeclared#, spec.FailClosed)\n"),
			many(6_000, "type Exit# struct{}\n")),
		"undeclared groups": in(many(12_000, "Group#\n"), many(8_000, "type Other# interface{}\n")),
		"qualifiers":        in(many(12_000, "Point#(pkg#.T)\n"), ""),
		"imports": "package p\n" + many(15_000, "import \"example.com/a#\"\n") + "//hookgen:points\n" +
			"type Points interface{\n" + many(15_000, "Point#(b#.T)\n") + "}\n",
		"used imports": "package p\n" + many(10_000, "import \"example.com/a#\"\n") + "//hookgen:points\n" +
			"type Points interface{\n" + many(10_000, "Point#(a#.T)\n") + "}\n",
		"directives": strings.Repeat("//hookgen:points\n", 100_000) + "package p\n" +
			many(15_000, "type T# struct{}\n"),
		"points":    in(many(15_000, "Point#(int)\n"), ""),
		"one point": in(strings.Repeat("Point(int)\n", 50_000), ""),
		"exits": in(many(6_000, "Point#(int) (Exit#, spec.FailClosed)\n"),
			many(6_000, "type Exit# struct{ A Exit# }\nfunc (Exit#) M() {}\n")),
		"groups in groups": in("G0\n", many(12_000, "type G# interface{ G1#; G2# }\n")),
		"nested types":     in("A("+strings.Repeat("[]", 50_000)+"int)\n", ""),
		"nested too deep":  in("A("+strings.Repeat("[]", 500_000)+"int)\n", ""),
		"doubling aliases": in("A(M) (spec.Edit[T0], spec.FailClosed)\n",
			"type M struct{ F T1 }\n"+many(1000, "type T# = struct{ A, B T1# }\n")+aliases(40)),
		"unions":      in(many(12_000, "Point#(int) (A | B)\n"), ""),
		"long names":  in(many(200, "P"+strings.Repeat("x", 10_000)+"#(int) (Y"+strings.Repeat("y", 5_000)+"#)\n"), ""),
		"sum":         in("A(["+strings.Repeat("1+", 50_000)+"1]int)\n", ""),
		"structs":     in("A("+strings.Repeat("struct{ A ", 20_000)+"int"+strings.Repeat("}", 20_000)+")\n", ""),
		"wide struct": in("A(struct{"+many(20_000, "A# int;")+"})\n", ""),
		"edits": in(many(5_000, "Point#(M) (spec.Edit[T], spec.FailOpen)\n"),
			"type T string\ntype M struct{ X T;"+many(900, "A# int;")+"}\n"),
		"edits of many": in(many(5_000, "Point#(M) (spec.Edit[T], spec.FailOpen)\n"),
			"type T string\ntype M struct{ X T;"+many(10_000, "A# int;")+"}\n"),
		"long arguments": in("A("+strings.Repeat("Box[-", 20_000)+"1"+strings.Repeat("]", 20_000)+")\n", ""),
		"braces":         in(strings.Repeat("A(interface{", 10_000), ""),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			s, found := readFiles(map[string]string{"spec.go": text})
			if s != nil {
				CheckOutput(s, Output{Package: "p"})
				CheckOutput(s, Output{Package: "out", SpecPath: "example.com/p"})
			}
			if name != "points" && name != "edits" && len(found) == 0 {
				t.Error("nothing is wrong with it")
			}
			if took := time.Since(start); took > patience {
				t.Errorf("%d bytes took %v", len(text), took)
			} else {
				t.Logf("%d bytes took %v, %d findings", len(text), took, len(found))
			}
		})
	}
}

// aliases declares n aliases. Each contains the next one twice.
func aliases(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "type T%d = struct{ A, B T%d }\n", i, i+1)
	}
	return b.String()
}

// patience is far longer than any of these files takes on a slow machine, and far shorter than quadratic time.
const patience = time.Minute
