package breaking_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/breaking"
	"github.com/hookgen/hookgen/gen/model"
	"github.com/hookgen/hookgen/internal/usermodule"
	"golang.org/x/tools/go/packages"
	"pgregory.net/rapid"
)

// TestDrawnChanges draws a spec and some changes of it. A program that uses everything that the old generated code
// exports is type-checked with the new one. If the verdict says that hooks or programs compile, they do.
func TestDrawnChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages")
	}
	c := newChecker(t)
	rapid.Check(t, func(t *rapid.T) {
		d := &drawing{t: t, chosen: map[string]string{}}
		old := d.spec()
		labels := slices.Sorted(maps.Keys(d.chosen))
		for _, label := range rapid.SliceOfNDistinct(rapid.SampledFrom(labels), 1, 3, rapid.ID[string]).Draw(t, "changes") {
			delete(d.chosen, label)
		}
		now := d.spec()
		oldVersion, oldPackage := c.read(t, old)
		newVersion, newPackage := c.read(t, now)
		if oldPackage == nil || newPackage == nil {
			t.Skip("no spec")
		}
		verdict := breaking.Safe
		findings := breaking.Compare(*oldVersion, *newVersion)
		for _, f := range findings {
			verdict = breaking.Worse(verdict, f.Verdict)
		}
		hooks, programs := usesOf(oldPackage)
		if wrong := c.check(t, oldPackage, hooks+programs); wrong != "" {
			t.Fatalf("the old program is wrong: %s\n%s%s", wrong, hooks, programs)
		}
		effect := breaking.Safe
		wrong := c.check(t, newPackage, hooks)
		if wrong != "" {
			effect = breaking.BreaksHooks
		} else if wrong = c.check(t, newPackage, programs); wrong != "" {
			effect = breaking.BreaksLoops
		}
		if breaking.Worse(verdict, effect) != verdict {
			t.Fatalf("the verdict is %s, and the effect %s: %s\n%v\n%s", verdict, effect, wrong, findings,
				gocmp.Diff(old, now))
		}
	})
}

// A drawing draws the texts of a spec, decision by decision.
type drawing struct {
	t      *rapid.T
	chosen map[string]string // the decisions by label
}

// pick draws a decision, unless it was made before.
func (d *drawing) pick(label string, from ...string) string {
	if _, met := d.chosen[label]; !met {
		d.chosen[label] = rapid.SampledFrom(from).Draw(d.t, label)
	}
	return d.chosen[label]
}

// spec returns the files of a spec and of another package of its module.
func (d *drawing) spec() program {
	var b strings.Builder
	b.WriteString("package mail\n\nimport (\n\t\"fmt\"\n\n\t\"github.com/hookgen/hookgen/spec\"\n\t\"user/addr\"\n)\n\n" +
		"var _ fmt.Stringer\nvar _ addr.P\n\n//hookgen:points\ntype Points interface {\n" +
		d.pick("env", "", "\tspec.Env[*Env]\n", "\tspec.Env[Env]\n"))
	for _, name := range []string{"OnA", "OnB"} {
		payload := d.pick(name+" payload", "A", "A", "A", "*A", "B", "Box[A]", "Box[int]", "addr.P", "[]A", "map[Text]B",
			"[n]A", "struct{ F A }")
		law := d.pick(name+" law", "", "spec.Check", "spec.CheckAll", "spec.Around[B]", "spec.Collect[string]",
			"spec.Collect[Text]", "(spec.Collect[B], spec.FailClosed)", "(X, spec.FailClosed)", "(X, spec.FailOpen)",
			"(X, Y, spec.FailOpen)",
			"(spec.Replace, spec.FailOpen)", "(spec.Replace, X, Y, spec.FailOpen)", "(Y, X, spec.FailOpen)",
			"(spec.Vote, X, Y, spec.FailOpen)", "(spec.Vote, Y, X, spec.FailClosed)",
			"(Y, spec.Collect[B], spec.FailOpen)", "(spec.Edit[Edited], X, spec.FailOpen)",
			"(spec.Edit[Edited], spec.FailOpen)", "(spec.Replace, spec.Edit[Edited], X, spec.FailOpen)")
		for _, m := range model.Flags() {
			switch usage := d.pick(name+" "+m.Name, "", "", "", m.Usage()); {
			case usage == "":
			case law == "":
				law = usage
			default:
				law = "(" + usage + ", " + strings.Trim(law, "()") + ")"
			}
		}
		fmt.Fprintf(&b, "\t%s(%s) %s\n", name, payload, law)
	}
	b.WriteString("\t" + d.pick("OnC", "", "OnC(A)", "OnC(B) (X, spec.FailOpen)", "OnD(A)",
		"OnD(A)\n\tOnC(B) spec.Check") + "\n}\n\ntype Env struct{ Name " + d.pick("environment", "string", "int") +
		" }\n\ntype Edited string\n\n")
	field := func(of string) {
		for _, name := range []string{"F", "G", "h"} {
			kind := d.pick(of+" "+name, "", "int", "string", "[]string", "[n]int", "[4]int", "Text", "Kind", "*C", "addr.P",
				"func(int) Text", "I", "Box[string]", "map[Kind]C", "struct{ F int }")
			if kind != "" {
				fmt.Fprintf(&b, "\t%s %s %s\n", name, kind, d.pick(of+" "+name+" tag", "", "", "`json:\"f\"`"))
			}
		}
	}
	b.WriteString("type A struct {\n\tEdited Edited\n" + d.pick("A embeds", "", "\tBase\n", "\t*Base\n", "\tbase\n",
		"\taddr.P\n", "\tBase\n\tbase\n", "\tBase Base\n", "\tfmt.Stringer\n", "\tI\n", "\tText\n"))
	field("A")
	b.WriteString("}\n\n" + d.pick("A methods", "", "func (A) Number() int { return 0 }\n",
		"func (*A) Number() int { return 0 }\n", "func (A) Number() string { return \"\" }\n",
		"func (A) Extra(a Text, b ...int) (C, error) { panic(0) }\n"))
	b.WriteString("\ntype B struct {\n\tEdited Edited\n")
	field("B")
	b.WriteString("}\n\ntype Base struct {\n" + d.pick("Base", "", "\tF int\n", "\tID int\n", "\tID, G Text\n") + "}\n\n" +
		d.pick("Base methods", "", "func (Base) Number() int { return 0 }\n", "func (*Base) ID2() {}\n") +
		"\ntype base struct{ " + d.pick("base", "", "hidden int", "ID string", "F int; G string", "Base") + " }\n\n" +
		"type C " + d.pick("C", "struct{}", "struct{ V int }", "struct{ V []int }", "int", "= Base", "= c", "*Base") +
		"\n\n" +
		"type c struct{ V int }\n\n" +
		"type Text " + d.pick("Text", "string", "= string", "= Edited", "[]byte", "struct{ Text string }") + "\n\n" +
		"type Kind " + d.pick("Kind", "int", "string", "= int", "= kind", "uint8") + "\n\ntype kind int\n\n" +
		"type Box[T " + d.pick("Box", "any", "comparable") + "] struct{ " +
		d.pick("Box field", "V T", "V []T", "V, W T") + " }\n\n" +
		"type I interface{ " + d.pick("I", "M()", "M(); N(int) Text", "M(int)", "M(); hidden()", "I2", "M(); I2") + " }\n\n" +
		"type I2 interface{ " + d.pick("I2", "N(int) Text", "N(a int) string", "O()") + " }\n\n" +
		d.pick("X", "type X struct{ Reason string }\n", "type X struct{ Reason Text }\n", "type X struct{ Common }\n",
			"type X struct{}\n", "type X struct{ Reason string; Code [n]Kind }\n") +
		"\ntype Common struct{ " + d.pick("Common", "Reason string", "Reason int", "Code int") + " }\n\n" +
		"type Y struct{ " + d.pick("Y", "", "Reason string", "Error error", "Kinds []Kind") + " }\n\n" +
		"const n = " + d.pick("n", "3", "4", "2 + 2") + "\n\n" +
		d.pick("constants", "", "const K = n\n", "const K Kind2 = n\n", "const K = \"k\"\n",
			"const (\n\tK Kind2 = iota\n\tL\n)\n", "const K = 1.5\n", "const (\n\tL Kind2 = iota\n\tK\n)\n") +
		"\ntype Kind2 " + d.pick("Kind2", "int", "= int", "int64") + "\n")
	return program{"mail/spec.go": b.String(), "addr/addr.go": "package addr\n\ntype P struct{ Zone " +
		d.pick("zone", "Zone", "Area") + "; " + d.pick("P", "", "ID int", "ID Q", "*Q", "F, G int") +
		" }\n\ntype Q struct{ " +
		d.pick("Q", "Street string", "ID int") + " }\n\n" +
		"type Zone " + d.pick("Zone", "int", "uint8", "= int") + "\n\ntype Area = Zone\n\n" +
		d.pick("constants of addr", "", "const High = Zone(1)\n", "const High Zone = 1\n", "const High Area = 2\n",
			"const Low, High Zone = iota, 2\n", "const (\n\tLow Zone = iota\n\tHigh\n)\n") +
		d.pick("P methods", "", "func (P) Number() int { return 0 }\n", "func (P) Number() Q { return Q{} }\n")}
}

// A checker type-checks packages that import the runtime.
type checker struct {
	dir     string
	runtime types.Importer
}

func newChecker(t *testing.T) *checker {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile, Dir: usermodule.Root(t),
	}, "./hookkit/...", "./spec", "context", "fmt", "io")
	if err != nil || packages.PrintErrors(loaded) > 0 {
		t.Fatal("the runtime does not compile: ", err)
	}
	files := map[string]string{}
	packages.Visit(loaded, nil, func(p *packages.Package) { files[p.PkgPath] = p.ExportFile })
	return &checker{t.TempDir(), importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, os.ErrNotExist
		}
		return os.Open(files[path])
	})}
}

// An importing imports packages that were checked before, and those of the runtime.
type importing struct {
	checked map[string]*types.Package
	rest    types.Importer
}

func (i importing) Import(path string) (*types.Package, error) {
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return i.rest.Import(path)
}

// read reads a version of a spec, and type-checks its generated code. It returns nil if either is wrong.
func (c *checker) read(t *rapid.T, p program) (*breaking.Version, *types.Package) {
	for name, text := range p {
		name = filepath.Join(c.dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	spec, found := gen.Read(filepath.Join(c.dir, "mail"))
	if len(found) > 0 {
		return nil, nil
	}
	text, err := gen.Emit(spec, gen.Output{Package: "mail"})
	if err != nil {
		t.Fatal(err)
	}
	addr, err := c.parsed(map[string]*types.Package{}, "user/addr", p["addr/addr.go"])
	if err != nil {
		return nil, nil
	}
	pkg, err := c.parsed(map[string]*types.Package{"user/addr": addr}, "user/mail", p["mail/spec.go"], string(text))
	if err != nil {
		return nil, nil // for example an embedded pointer to an interface
	}
	surface, found := spec.Surface("user", func(importPath string) []gen.File {
		files, _ := gen.Files(filepath.Join(c.dir, strings.TrimPrefix(importPath, "user/")))
		return files
	})
	if len(found) > 0 {
		t.Fatal(found)
	}
	return &breaking.Version{Surface: surface, Output: spec.Package}, pkg
}

// parsed parses and type-checks a package.
func (c *checker) parsed(checked map[string]*types.Package, path string, texts ...string) (*types.Package, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for i, text := range texts {
		f, err := parser.ParseFile(fset, fmt.Sprintf("file%d.go", i), text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	config := types.Config{Importer: importing{checked, c.runtime}}
	return config.Check(path, fset, files, nil)
}

// check type-checks uses of a package, and returns the first error.
func (c *checker) check(t *rapid.T, pkg *types.Package, uses string) string {
	checked := map[string]*types.Package{pkg.Path(): pkg}
	for _, p := range pkg.Imports() {
		checked[p.Path()] = p
	}
	var imports strings.Builder
	for _, path := range []string{"context", "fmt", "io", "time", "user/addr", "user/mail", usermodule.Path + "/hookkit"} {
		if regexp.MustCompile(`\b` + path[strings.LastIndex(path, "/")+1:] + `\.`).MatchString(uses) {
			fmt.Fprintf(&imports, "import %q\n", path)
		}
	}
	if _, err := c.parsed(checked, "user/use", "package use\n\n"+imports.String()+"\n"+uses); err != nil {
		return err.Error()
	}
	return ""
}
