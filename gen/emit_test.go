package gen

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// emitted returns the generated code for a spec file. It fails the test if the spec is refused.
func emitted(t *testing.T, text string, to Output) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "spec.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, found := Read(dir)
	if len(found) > 0 {
		t.Fatal(found)
	}
	out, err := Emit(s, to)
	if err != nil {
		t.Fatal(err)
	}
	formatted, err := format.Source(out)
	if err != nil {
		t.Fatalf("it does not parse: %v\n%s", err, out)
	}
	if diff := cmp.Diff(string(formatted), string(out)); diff != "" {
		t.Errorf("not as gofmt has it (-gofmt +it):\n%s\n%s", diff, text)
	}
	return string(out)
}

// specOf returns a spec with these methods and declarations.
func specOf(methods, declarations string) string {
	return "package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n//hookgen:points\ntype Points interface {\n" +
		methods + "\n}\n\n" + declarations
}

// declared returns the top-level names of a Go file, and methods as Type.Method.
func declared(t *testing.T, text string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				names[receiver(d.Recv)+"."+d.Name.Name] = true
			} else {
				names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					names[s.Name.Name] = true
				}
			}
		}
	}
	return names
}

// gofmt may lay out these payloads differently at each point, so the emitter formats each point separately.
func TestEmitTakesPayloadsOfEveryForm(t *testing.T) {
	laws := []string{
		"", "spec.Replace, spec.FailOpen", "Stop, spec.FailClosed", "spec.Vote, Stop, spec.FailOpen",
		"spec.Collect[func(a, b int) error]",
		"Stop, spec.Collect[struct{ A int }], spec.FailOpen", "spec.Check", "spec.Around[[2]interface{ M() }]",
		"spec.Reverse",
	}
	payloads := []string{
		"struct{}", "struct{ A, B int; C string `json:\"c\"` }", "interface{ M(a int, more ...string) (int, error) }",
		"func(int) <-chan (<-chan int)",
		"[len(\"abc\")*2]map[string][]*int", "*chan<- struct{}", "((int))",
	}
	for _, payload := range payloads {
		for _, law := range laws {
			method := "On(" + payload + ")"
			if law != "" {
				method += " (" + law + ")"
			}
			emitted(t, specOf(method, "type Stop struct{}"), Output{Package: "p"})
		}
	}
}

func TestEmitDeclaresOnlyWhatTheLawNeeds(t *testing.T) {
	const point = "On(int)"
	everywhere := []string{"On", "OnFunc", "OnFunc.On", "OnFunc.Bind", "OnObserver", "OnFired", "OnPoint",
		"OnPoint.Fire"}
	optional := []string{"OnOutcome", "OnExit", "ReplaceOn", "OnNext", "OnNext.Call"}
	for law, has := range map[string]string{
		"":                                "",
		"spec.Check":                      "",
		"spec.Collect[int]":               "",
		"(spec.Replace, spec.FailOpen)":   "OnOutcome ReplaceOn",
		"(Stop, spec.FailOpen)":           "OnOutcome OnExit",
		"(spec.Vote,Stop, spec.FailOpen)": "OnOutcome OnExit",
		"(spec.Replace, Stop, spec.Collect[int], spec.FailClosed)": "OnOutcome OnExit ReplaceOn",
		"spec.Around[int]":                 "OnNext OnNext.Call",
		"(spec.Reverse, spec.Around[int])": "OnNext OnNext.Call",
	} {
		t.Run(law, func(t *testing.T) {
			names := declared(t, emitted(t, specOf(point+" "+law, "type Stop struct{}"), Output{Package: "p"}))
			for _, name := range everywhere {
				if !names[name] {
					t.Errorf("law %q: no %s", law, name)
				}
			}
			for _, name := range optional {
				if want := strings.Contains(" "+has+" ", " "+name+" "); names[name] != want {
					t.Errorf("law %q: %s declared: %v, want %v", law, name, names[name], want)
				}
			}
		})
	}
}

// The emitter skips gofmt for simple comments. gofmt must agree that they are unchanged.
func TestEmitFormatsDocumentationAsGofmt(t *testing.T) {
	docs := []string{
		"plain.", "A ``quoted'' word.", "don''t", "Head.\n\nAn Old Heading\n\nText.", "Head.\n\nlower case\n\nText.",
		"Head.\n\n\nText.", "Head.\n\n# Heading\n\nText.",
		"List:\n  - one\n  - two", "Code:\n\n\tx := 1", "1. one\n2. two", "[Link]: https://example.org\n\nText.", "é",
		"(in parentheses)", "\"quoted\"", "x", "go:embed x", "+build x", "line x:1",
		"Ends in blanks.  \n\t\nText.", "Head.\n\nAn Old Heading", "An Old Heading\n\nText.", "\ttabbed",
		"  indented\n  twice", "text\u2028with\u2029separators", "`raw`", "* star", "Deprecated: no.",
	}
	for _, doc := range docs {
		comment := "// " + strings.ReplaceAll(doc, "\n", "\n// ") + "\n"
		emitted(t, specOf(comment+"On(Item) (Stop, spec.FailOpen)",
			comment+"type Item int\n\n"+comment+"const Max = 1\n\n"+comment+"type Stop struct {\n"+comment+"Reason string\n}"),
			Output{Package: "out", SpecPath: "example.org/p"})
	}
}

// A spec can contain the line with which the emitter separates its sections.
func TestPlaceholdersInASpecAreSafe(t *testing.T) {
	const mark = "//hookgen:section"
	text := "// " + mark + "\n" + specOf("// "+mark+"\nOn(struct { A int `\n"+mark+"\n` }) (Stop, spec.FailOpen)\n"+
		"To([len(`\n"+mark+"\n`)]int)",
		"// "+mark+"\ntype Stop struct {\n// "+mark+"\nReason string `\n"+mark+"\n`\n}")
	for _, to := range []Output{{Package: "p"}, {Package: "out", SpecPath: "example.org/p"}} {
		t.Run(to.Package, func(t *testing.T) {
			if out := emitted(t, specOf("On(int)", ""), to); strings.Contains(out, mark) { // sections without anything
				t.Errorf("the mark is left:\n%s", out)
			}
			out := emitted(t, text, to)
			if strings.Contains(out, "\n"+mark) || !declared(t, out)["OnPoint.Fire"] {
				t.Errorf("the mark is left, or something is missing:\n%s", out)
			}
		})
	}
}

// The constraint of a generic type may be the one thing that needs an import.
func TestEmitImportsPackagesOfConstraints(t *testing.T) {
	text := strings.Replace(specOf("On(int)", "type Sorted[K cmp.Ordered] struct{ K K }"), "import \"github",
		"import \"cmp\"\nimport \"github", 1)
	out := emitted(t, text, Output{Package: "out", SpecPath: "example.org/p"})
	if !strings.Contains(out, "\n\t\"cmp\"\n") || !strings.Contains(out, "type Sorted[K cmp.Ordered] = p.Sorted[K]") {
		t.Errorf("it is not imported, or not needed:\n%s", out)
	}
}

// The files of a spec are parsed at the same time, in an order that differs from run to run.
func TestConstantsKeepTheOrderOfFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("spec.go", specOf("N(int)", ""))
	var want []string
	for c := 'a'; c <= 'z'; c++ {
		name := "Of" + strings.ToUpper(string(c))
		write(string(c)+".go", "package p\n\nconst (\n\t"+name+"2 = 1\n\t"+name+"1 = 2\n)\n")
		want = append(want, name+"2", name+"1")
	}
	s, found := Read(dir)
	if len(found) > 0 {
		t.Fatal(found)
	}
	text, err := Emit(s, Output{Package: "out", SpecPath: "example.org/p"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range regexp.MustCompile(`(?m)^\t(Of\w+) += p\.`).FindAllSubmatch(text, -1) {
		got = append(got, string(c[1]))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// An import of the spec is called err, which generated code calls its errors.
func TestImportsNamedErrAreRenamed(t *testing.T) {
	spec := strings.Replace(specOf("OnTick(err.Duration)", ""), "import ", "import err \"time\"\nimport ", 1)
	text := emitted(t, spec, Output{Package: "p"})
	if !strings.Contains(text, `err2 "time"`) || !strings.Contains(text, "payload err2.Duration") {
		t.Errorf("it is not imported as err2:\n%.2000s", text)
	}
}

// A spec may import a package as err, a name that jennifer gives to no import, and declare the first replacement.
func TestImportNamedErr(t *testing.T) {
	spec := strings.Replace(specOf("\tA(err.Builder) spec.Check\n", "type err2 int"), "import ",
		"import err \"strings\"\nimport ", 1)
	typeCheck(t, spec, emitted(t, spec, Output{Package: "p"}))
}
