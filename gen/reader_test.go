package gen

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const oneSpec = "package p\n\n//hookgen:points\ntype Points interface {\n\tOnStart(int)\n}\n"

// folder writes files into a new directory.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAFileThatCannotBeReadIsTroubleIfThereIsNoSpec(t *testing.T) {
	loop := func(dir string) {
		if err := os.Symlink("loop.go", filepath.Join(dir, "loop.go")); err != nil {
			t.Skip(err)
		}
	}
	dir := folder(t, map[string]string{"other.go": "package p\n"})
	loop(dir)
	_, found := Read(dir)
	if len(found) != 1 || !found.Trouble() || found[0].Pos.Filename != filepath.Join(dir, "loop.go") || !strings.HasPrefix(found[0].Message, "cannot be read (") {
		t.Errorf("without a spec: %v", found)
	}
	dir = folder(t, map[string]string{"other.go": "package p\n\nconst Zero = 0\n", "spec.go": oneSpec})
	loop(dir)
	if s, found := Read(dir); len(found) > 0 || len(s.Exports) == 0 {
		t.Errorf("beside a spec: %v", found)
	}
	dir = folder(t, map[string]string{"spec.go": "package p\n\n//hookgen:points\ntype Points interface{}\n"})
	loop(dir)
	if _, found := Read(dir); len(found) != 1 || found[0].Rule != "no-points" {
		t.Errorf("beside a spec with a mistake: %v", found)
	}
	dir = folder(t, map[string]string{"spec.go": oneSpec})
	loop(dir)
	if _, found := Read(dir); len(found) > 0 {
		t.Errorf("beside nothing but a spec: %v", found)
	}
	dir = t.TempDir()
	loop(dir)
	if _, found := Read(dir); len(found) != 1 || !found.Trouble() {
		t.Errorf("alone: %v", found)
	}
}

func TestWhatIsNoFileIsNoTrouble(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "dir.go"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere.go", filepath.Join(dir, "link.go")); err != nil {
		t.Skip(err)
	}
	if _, found := Read(dir); len(found) != 1 || found[0].Rule != "no-spec" || !strings.HasPrefix(found[0].Message, "no Go file") {
		t.Error(found)
	}
}

func TestTroubleSaysWhatToDo(t *testing.T) {
	for err, want := range map[error]string{
		&fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}: "may not be read: change its permissions",
		&fs.PathError{Op: "open", Path: "x", Err: fs.ErrClosed}:     "cannot be read (file already closed): replace or remove it",
		fs.ErrInvalid: "cannot be read (invalid argument): replace or remove it",
	} {
		if got := readTrouble(err); got != want {
			t.Errorf("%v: %q", err, got)
		}
	}
}

// TestAHugeFileIsNotRead makes holes, which cost nothing.
func TestAHugeFileIsNotRead(t *testing.T) {
	dir := folder(t, map[string]string{"a.go": oneSpec, "b.go": "", "c.go": "", "z.go": "package p\n"})
	for _, name := range []string{"b.go", "c.go"} {
		if err := os.Truncate(filepath.Join(dir, name), maxSource+1); err != nil {
			t.Skip(err)
		}
	}
	_, found := Read(dir)
	if len(found) != 2 {
		t.Fatal(found)
	}
	for i, name := range []string{"b.go", "c.go"} {
		if found[i].Rule != "size" || found[i].Pos.Filename != filepath.Join(dir, name) ||
			found[i].Message != "has 67.1 MB, and no file of its package is read beyond 64 MB: move it into another package" {
			t.Error(found[i])
		}
	}
	found = tooLarge([]source{{text: []byte(pointsDirective), size: maxSource}})
	if len(found) != 1 || found[0].Message != "has 67.1 MB, and a spec is not read beyond 4 MB: declare payloads in other files" {
		t.Error(found)
	}
}

func TestASpecMayHaveFourMegabytes(t *testing.T) {
	for size, refused := range map[int64]bool{maxSpec: false, maxSpec + 1: true} {
		s := source{text: []byte(pointsDirective), size: size}
		if s.tooLarge() != refused {
			t.Errorf("a spec of %d bytes: %v", size, !refused)
		}
		if s.text = nil; s.tooLarge() {
			t.Errorf("another file of %d bytes is refused", size)
		}
	}
	for size, refused := range map[int64]bool{maxSource: false, maxSource + 1: true} {
		if (source{size: size}).tooLarge() != refused {
			t.Errorf("a file of %d bytes: %v", size, !refused)
		}
	}
}

func TestSpecMadeByHandIsRefused(t *testing.T) {
	for _, to := range []Output{{Package: "p"}, {Package: "out", SpecPath: "example.com/p"}} {
		found := CheckOutput(&Spec{File: "dir/spec.go"}, to)
		if len(found) != 1 || found[0].Rule != ruleNotRead || found[0].Pos.Filename != "dir/spec.go" {
			t.Errorf("%+v: %v", to, found)
		}
	}
}

func TestAHeaderWithinALineIsNone(t *testing.T) {
	if Generated([]byte("x " + Header)) {
		t.Error("it is taken for one")
	}
}

func TestWordsAreListed(t *testing.T) {
	for _, words := range [][]string{nil, {"a"}, {"a", "b"}, {"a", "b", "c"}} {
		want := map[int]string{0: "", 1: "a", 2: "a or b", 3: "a, b or c"}[len(words)]
		if got := listed(words); got != want {
			t.Errorf("%v: %q", words, got)
		}
	}
}

// A named import is what its name says, whatever the path of another one looks like.
func TestANamedImportWins(t *testing.T) {
	for _, lines := range []string{"import x \"example.com/a\"\nimport \"example.com/x\"\n", "import \"example.com/x\"\nimport x \"example.com/a\"\n"} {
		s := mustRead(t, "package p\n\n"+lines+"\n//hookgen:points\ntype Points interface {\n\tOnStart(x.T)\n}\n")
		if n := len(s.Imports); n != 2 {
			t.Errorf("%d imports: %v", n, s.Imports)
		}
		for _, i := range s.Imports {
			if i.Path == "example.com/a" && i.Name != "x" {
				t.Errorf("it is called %s", i.Name)
			}
		}
	}
}

// Another file may have an import that is none; what follows it counts.
func TestAnImportThatIsNoneIsPassedOver(t *testing.T) {
	s, found := readFiles(map[string]string{
		"spec.go":  oneSpec,
		"other.go": "package p\n\nimport (\n\t\"bad\\q\"\n\t\"cmp\"\n)\n\ntype Sorted[K cmp.Ordered] struct{ K K }\n",
	})
	if len(found) > 0 {
		t.Fatal(found)
	}
	if found := CheckOutput(s, Output{Package: "out", SpecPath: "example.com/p"}); len(found) > 0 {
		t.Error(found)
	}
}

// An Edit finds its field by the type, an embedded one too, however it is written.
func TestAnEditFindsItsField(t *testing.T) {
	for edit, want := range map[string]string{
		"*Note": "Note", "time.Time": "Time", "*url.URL": "URL", "Box[byte]": "Box", "[]Box[Key]": "Keys", "[2 * Width]int": "Pairs",
		"[b.c.d]int": "Odd", "struct{ Note; A int }": "Struct", "Alias": "Own", "Pair[byte, Note]": "Pair", "*Pair[Note, byte]": "Pair",
	} {
		decls := `
type Call struct {
	*Note
	time.Time
	*url.URL
	Box[uint8]
	Keys   []Box[string]
	Other  []Box[int]
	Pairs  [2 * Width]int
	Fours  [4 * Width]int
	Odd    [b.c.d]int
	Even   [b.c.e]int
	Struct struct{ Note; A int }
	Inner  struct{ Call; A int }
	Own    Alias
`
		if strings.Contains(edit, "*Pair") {
			decls += "\t*Pair[Note, byte]\n"
		} else {
			decls += "\tPair[byte, Note]\n"
		}
		decls += "}\n\ntype Note string\n\ntype Box[T any] struct{ V T }\n\ntype Pair[A, B any] struct{ A A; B B }\n\ntype Key = string\n\ntype Alias = float64\n\nconst Width = 1\n\nvar b struct{ c struct{ d [2]int; e [3]int } }\n"
		s := mustRead(t, "package p\n\nimport (\n\t\"net/url\"\n\t\"time\"\n\n\t\"github.com/hookgen/hookgen/spec\"\n)\n\n//hookgen:points\ntype Points interface {\n\tOnCall(Call) (spec.Edit["+edit+"], spec.FailOpen)\n}\n"+decls)
		if got := s.List[0].EditField; got != want {
			t.Errorf("Edit[%s] is about %q, want %q", edit, got, want)
		}
	}
}

// Types are compared up to sixteen thousand letters.
func TestATypeThatIsTooLongIsNoFields(t *testing.T) {
	for n, fits := range map[int]bool{1<<14 - 1: true, 1 << 14: false} {
		long := strings.Repeat("L", n)
		_, found := readFiles(map[string]string{"spec.go": "package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n//hookgen:points\ntype Points interface {\n\tOnCall(Call) (spec.Edit[" + long + "], spec.FailOpen)\n}\n\ntype Call struct{ A " + long + " }\n\ntype " + long + " string\n"})
		if fits != (len(found) == 0) {
			t.Errorf("%d letters: %.300v", n, found)
		}
	}
	doubling := aliases(40) + "type T40 string\n"
	_, found := readFiles(map[string]string{"spec.go": "package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n//hookgen:points\ntype Points interface {\n\tOnCall(Call) (spec.Edit[T0], spec.FailOpen)\n}\n\ntype Call struct{ A T0 }\n" + doubling})
	if len(found) != 1 || found[0].Rule != "edit-field" {
		t.Errorf("aliases of aliases: %v", found)
	}
}

// The parser stops behind ten errors, and is asked ten times.
func TestAHundredAndTenUnionsAreLedAround(t *testing.T) {
	for n, syntax := range map[int]bool{110: false, 125: true} {
		_, found := readFiles(map[string]string{"spec.go": pointsOf(n, "On#(int) (A | B, spec.FailOpen)", "\ntype A struct{}\n")})
		unions := 0
		for _, d := range found {
			if d.Rule == "union" {
				unions++
			}
		}
		if unions != min(n, 110) || ruleIs(found, ruleSyntax) != syntax {
			t.Errorf("of %d unions %d are told; a syntax error: %v", n, unions, !syntax)
		}
	}
}

func TestABraceAtTheBeginningIsNoInterface(t *testing.T) {
	for _, text := range []string{"{ A | B } //hookgen:points", "} A | B //hookgen:points", "interface { A(B | C) } //hookgen:points", "| //hookgen:points", ", //hookgen:points"} {
		if _, found := readFiles(map[string]string{"spec.go": text}); len(found) == 0 {
			t.Errorf("nothing is wrong with %q", text)
		}
	}
}

// Comments above the package clause are no constraint, but for the two forms of one; an old one within the package
// comment is none to the go command either.
func TestAHeadIsNoConstraint(t *testing.T) {
	for head, fine := range map[string]bool{
		"// Copyright.\n\n":                        true,
		"/* Copyright. */\n\n// Package p is p.\n": true,
		"// Package p is p.\n// +build linux\n":    true,
		"// +build linux\n\n":                      false,
		"//go:build linux\n\n// Package p is p.\n": false,
		"// Copyright.\n\n//go:build linux\n\n":    false,
	} {
		_, found := readFiles(map[string]string{"spec.go": head + oneSpec + "\n//go:build linux\n"})
		if fine != (len(found) == 0) || !fine && found[0].Rule != "build-constraint" {
			t.Errorf("%q: %v", head, found)
		}
	}
}

// The comment above a group of declarations belongs to none of them, that behind a line to the line.
func TestTheCommentOfAGroupIsNobodys(t *testing.T) {
	s := mustRead(t, `package p

import "github.com/hookgen/hookgen/spec"

// These are types.
type (
	//hookgen:points
	Points interface{ OnOne(int) (A, B, C, spec.FailOpen) }

	A struct{}

	// B is b.
	B struct{} // not told

	C struct{} // C is c.
)

// D is d.
type D struct{}

// These are constants.
const (
	X = 1
	Y = 2 // Y is y.
)
`)
	if s.PointsDoc != "" {
		t.Errorf("the points are said to be %q", s.PointsDoc)
	}
	want := map[string]string{"A": "", "B": "B is b.\n", "C": "C is c.\n", "D": "D is d.\n", "X": "", "Y": "Y is y.\n"}
	for _, x := range s.Exits {
		if x.Doc != want[x.Name] {
			t.Errorf("exit %s is said to be %q", x.Name, x.Doc)
		}
	}
	for _, x := range s.Exports {
		if doc, known := want[x.Name]; known && x.Doc != doc {
			t.Errorf("%s is said to be %q", x.Name, x.Doc)
		}
	}
}

// An exit may be called as a marker is: what stands before the dot tells them apart.
func TestAnExitCalledReplaceIsAnExit(t *testing.T) {
	s := mustRead(t, "package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n//hookgen:points\ntype Points interface {\n\tOnOne(int) (Replace, Vote, Check, Around, Collect, Reverse, Edit, spec.FailOpen)\n}\n"+
		"\ntype Replace struct{}\n\ntype Vote struct{}\n\ntype Check struct{}\n\ntype Around struct{}\n\ntype Collect struct{}\n\ntype Reverse struct{}\n\ntype Edit struct{}\n")
	p := s.List[0]
	if len(p.Exits) != 7 || p.Replace || p.Reverse || p.Kind != Flow || p.Policy != FailOpen || p.Edit.Expr != nil || p.Collect.Expr != nil {
		t.Errorf("it is read as %+v", p)
	}
}

// What stands behind a dot is no type of the package.
func TestATypeOfAnotherPackageIsNotTheOneOfThatName(t *testing.T) {
	s := mustRead(t, "package p\n\nimport (\n\t\"time\"\n\n\t\"github.com/hookgen/hookgen/spec\"\n)\n\n//hookgen:points\ntype Points interface {\n\tOnOne(time.Time) (Time, spec.FailOpen)\n}\n\ntype Time struct{ Reason string }\n")
	if found := CheckOutput(s, Output{Package: "out", SpecPath: "example.com/p"}); len(found) > 0 {
		t.Error(found)
	}
}

func TestATypeOfFortyEightLettersIsShownWhole(t *testing.T) {
	for n, cut := range map[int]bool{48: false, 49: true} {
		typ := "[]" + strings.Repeat("T", n-2)
		want := typ + " is nothing"
		if cut {
			want = typ[:45] + "... is nothing"
		}
		_, found := readFiles(map[string]string{"spec.go": pointsOf(1, "On#(int) ("+typ+", spec.FailOpen)", "")})
		if len(found) != 1 || !strings.HasPrefix(found[0].Message, want) {
			t.Errorf("%d letters: %v", n, found)
		}
	}
}
