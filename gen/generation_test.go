package gen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/internal/usermodule"
	"pgregory.net/rapid"
)

// For every accepted spec, the output is gofmt-clean, type-checks, and is the same on a second run. Every other spec
// has diagnostics with positions. Text of a spec cannot break out of a comment or string, so a spec without comments
// generates the same code.
func TestAcceptedSpecsGenerateCodeThatCompiles(t *testing.T) {
	universe := newUniverse(t)
	drawn, accepted := 0, map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		drawn++
		g := drawSpec(t, false)
		bare := g.sources("p", true)
		if _, err := universe.check("user/p", nil, bare...); err != nil {
			if !strings.Contains(err.Error(), " and not used") { // where no law happens to need the spec language
				t.Fatalf("the compiler refuses what was drawn: %v\n%s", err, bare)
			}
			t.Skip("refused by the compiler")
		}
		for _, own := range []bool{false, true} {
			if generationHolds(t, universe, g, own) {
				accepted[own]++
			}
		}
	})
	t.Logf("of %d specs, %d were accepted in the spec's package, %d in a package of its own", drawn, accepted[false],
		accepted[true])
	if !t.Failed() && (accepted[false] < drawn/3 || accepted[true] < drawn/3) {
		t.Errorf("too few specs are accepted to say much")
	}
}

// generationHolds checks the output for a spec in one mode, and reports whether the spec is accepted.
func generationHolds(t *rapid.T, u *universe, g *genSpec, own bool) bool {
	src := g.sources("p", true)
	text := generated(t, src, own)
	if text == nil {
		return false
	}
	formatted, err := format.Source(text)
	if err != nil {
		t.Fatalf("it does not parse: %v\n%s\n%s", err, src, text)
	}
	if diff := cmp.Diff(string(formatted), string(text)); diff != "" {
		t.Fatalf("it is not as gofmt has it (-gofmt +it):\n%s\n%s", diff, src)
	}
	if again := generated(t, src, own); !bytes.Equal(again, text) {
		t.Fatalf("a second run makes something else (-first +second):\n%s", cmp.Diff(string(text), string(again)))
	}
	if own {
		spec, err := u.check("user/p", nil, src...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = u.check("user/out", map[string]*types.Package{"user/p": spec}, string(text))
		if err != nil {
			t.Fatalf("the compiler refuses it: %v\n%s\n%s", err, src, text)
		}
	} else if _, err := u.check("user/p", nil, append(src, string(text))...); err != nil {
		t.Fatalf("the compiler refuses it: %v\n%s\n%s", err, src, text)
	}
	mustBeInert(t, text)
	mustDocumentFields(t, text)
	silent := generated(t, g.sources("p", false), own)
	if diff := cmp.Diff(codeOf(t, silent), codeOf(t, text)); diff != "" {
		t.Fatalf("its comments change what a spec makes (-without +with):\n%s\n%s", diff, src)
	}
	return true
}

// generated returns the output for a spec, or nil if the spec is refused. A refusal must have a diagnostic with a
// position.
func generated(t *rapid.T, sources []string, own bool) []byte {
	dir, err := os.MkdirTemp("", "generation")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for i, src := range sources {
		if err := os.WriteFile(filepath.Join(dir, []string{"spec.go", "beside.go"}[i]), []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, found := gen.Read(dir)
	if s != nil {
		found = gen.CheckOutput(s, outputOf(own))
	}
	for _, d := range found {
		if filepath.Dir(d.Pos.Filename) != dir || d.Pos.Line < 1 || d.Pos.Column < 1 || d.Message == "" || d.Rule == "" {
			t.Fatalf("a finding without a place: %+v", d)
		}
	}
	if len(found) > 0 {
		return nil
	}
	text, err := gen.Emit(s, outputOf(own))
	if err != nil {
		t.Fatalf("%v\n%s", err, sources)
	}
	return text
}

func outputOf(own bool) gen.Output {
	if own {
		return gen.Output{Package: "out", SpecPath: "user/p"}
	}
	return gen.Output{Package: "p"}
}

// directive matches comments that the go command or another tool interprets.
var directive = regexp.MustCompile(`^//(go:|line |export |extern |hookgen:|[a-z0-9]+:[a-z0-9]| *\+build)|^/\*`)

// mustBeInert checks that the header is the first line, and that sealed interfaces have the only directives.
func mustBeInert(t *rapid.T, text []byte) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Text != "//sumtype:decl" && directive.MatchString(c.Text) || strings.ContainsAny(c.Text, "\r\u2028\u2029\x00") {
				t.Fatalf("a comment is more than that: %q", c.Text)
			}
		}
	}
	if first := file.Comments[0].List[0]; first.Pos() != file.FileStart || first.Text != gen.Header {
		t.Fatalf("the file begins with %q", first.Text)
	}
}

// mustDocumentFields checks that each field of Hooks has the comment of its point's interface, with the law.
func mustDocumentFields(t *rapid.T, text []byte) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	interfaces, fields := map[string]string{}, map[string]string{}
	for _, d := range file.Decls {
		d, ok := d.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE {
			continue
		}
		spec := d.Specs[0].(*ast.TypeSpec)
		interfaces[spec.Name.Name] = d.Doc.Text()
		if hooks, ok := spec.Type.(*ast.StructType); ok && spec.Name.Name == "Hooks" {
			for _, f := range hooks.Fields.List {
				if !ast.IsExported(f.Names[0].Name) {
					continue
				}
				fields[f.Names[0].Name] = f.Doc.Text()
			}
		}
	}
	for name, got := range fields {
		want := strings.TrimPrefix(interfaces[name], name+" is a hook of the point "+name+".\n\n")
		if layout.ReplaceAllString(got, "") != layout.ReplaceAllString(want, "") || !strings.Contains(got, "hook") {
			t.Fatalf("field %s of Hooks has the comment %q, and its interface %q", name, got, want)
		}
	}
}

// layout matches characters that gofmt may add to or remove from the comments of types. It leaves those of fields.
var layout = regexp.MustCompile(`[^\pL\pN]+`)

// codeOf returns Go code without its comments.
func codeOf(t *rapid.T, text []byte) string {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, d := range file.Decls {
		if err := format.Node(&b, token.NewFileSet(), ast.Node(d)); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n")
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// A universe type-checks packages against the export data of the go command.
type universe struct{ imports types.Importer }

func newUniverse(t *testing.T) *universe {
	t.Helper()
	paths := []string{"cmp", "github.com/hookgen/hookgen/hookkit", "github.com/hookgen/hookgen/hookkit/hookimpl",
		"github.com/hookgen/hookgen/spec", "github.com/hookgen/hookgen/tests/fixture"}
	for _, i := range genImports {
		paths = append(paths, i.path)
	}
	out, err := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"},
		paths...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
	return &universe{importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})}
}

// check type-checks a package. It may import the given packages, which the go command does not know.
func (u *universe) check(path string, beside map[string]*types.Package, sources ...string) (*types.Package, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for i, src := range sources {
		file, err := parser.ParseFile(fset, fmt.Sprintf("%s/%d.go", path, i), src, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	config := types.Config{Importer: among{u.imports, beside}, GoVersion: "go1.26"}
	return config.Check(path, fset, files, nil)
}

// among is an importer of packages that are there, and else of those of another.
type among struct {
	types.Importer
	beside map[string]*types.Package
}

func (a among) Import(path string) (*types.Package, error) {
	if p := a.beside[path]; p != nil {
		return p, nil
	}
	return a.Importer.Import(path)
}

// The go command builds and vets the output of a few dozen specs in both modes.
func TestGeneratedCodeVetsClean(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages")
	}
	universe, module := newUniverse(t), usermodule.New(t)
	module.Init("user")
	specs := rapid.Custom(func(t *rapid.T) *genSpec { return drawSpec(t, true) })
	made := 0
	for seed := 0; made < 30 && seed < 300; seed++ {
		g := specs.Example(seed)
		name := fmt.Sprint("p", made)
		sources := g.sources(name, true)
		if _, err := universe.check("user/"+name, nil, sources...); err != nil {
			continue
		}
		dir := filepath.Join(module.Dir, name)
		for i, src := range sources {
			file := []string{"spec.go", "beside.go"}[i]
			module.Write(name+"/"+file, src)
			module.Write(name+"/apart/"+file, src)
		}
		if generate(t, dir, gen.Output{Package: name}, dir) &&
			generate(t, dir, gen.Output{Package: "out", SpecPath: "user/" + name + "/apart"}, dir+"/out") {
			made++
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if made < 30 {
		t.Fatalf("only %d specs were accepted", made)
	}
	module.Run("go", "vet", "./...")
}

// generate writes the output for the spec in a directory, and reports whether the spec is accepted.
func generate(t *testing.T, dir string, to gen.Output, into string) bool {
	t.Helper()
	s, found := gen.Read(dir)
	if len(found) > 0 || len(gen.CheckOutput(s, to)) > 0 {
		return false
	}
	text, err := gen.Emit(s, to)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(into, gen.FileName), text, 0o644); err != nil {
		t.Fatal(err)
	}
	return true
}
