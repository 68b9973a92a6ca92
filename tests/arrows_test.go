package tests

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/internal/usermodule"
)

const modulePath = usermodule.Path

// A row lists the imports that the packages in and below a directory may have, in addition to each other and the
// standard library. Packages of this module are given by directory, other modules by path. If several rows match,
// the longest directory counts.
type row struct {
	dir     string
	imports []string
	modules []string
	tests   []string // further packages for test files only
}

// agentLoop has the packages that all packages for the agent's spec may import.
var agentLoop = []string{"hookkit", "generated/agent", "spec/agentspec", "internal/jsonscan"}

// roomTests are further imports of the test files of a room of builtin.
var roomTests = []string{"builtin", "hooktest", "loop"}

// modelTests are further imports of the test files of a model.
var modelTests = []string{"builtin/retry", "tests/readmetest", "loop"}

// room lists the imports that a room of builtin may have: those of all rooms, and the named rooms.
func room(others ...string) []string {
	return append(append([]string{
		"builtin/internal",
		"builtin/limit",
		"builtin/share",
		"internal/atomicfile",
		"internal/filename",
		"internal/terminal",
	}, others...), agentLoop...)
}

// everything lists the packages that those may import which nothing imports.
var everything = []string{"builtin", "gen", "generated", "hookkit", "hooktest", "loop", "spec"}

// rows are the allowed imports of the module. A directory without a row must not have Go files.
var rows = []row{
	{dir: "spec", tests: []string{"gen", "hookkit"}},
	{dir: "spec/agentspec", imports: []string{"spec"}},
	{dir: "hookkit", tests: []string{"hookkit/internal/testdata/testpoints", "spec"}},
	{dir: "hookkit/wire", imports: []string{"hookkit", "internal/jsonscan"}},
	{dir: "hookkit/wire/wireimpl", imports: []string{"hookkit", "hookkit/hooklog", "internal/spelling"}},
	{dir: "hookkit/internal/runstore", imports: []string{"hookkit", "hookkit/wire"}},
	{dir: "hookkit/internal/skew", imports: []string{"hookkit", "hookkit/wire", "internal/jsonscan"}},
	{dir: "hookkit/internal/strictjson", imports: []string{"internal/jsonscan"}},
	{dir: "hookkit/hooklog", imports: []string{
		"hookkit", "internal/atomicfile", "internal/eventline", "internal/jsonscan",
	}},
	{dir: "hookkit/internal/testdata/testpoints", imports: []string{"hookkit", "spec"}},
	{dir: "internal"},
	{
		dir: "gen", imports: []string{"internal/spelling"}, modules: []string{"github.com/dave/jennifer"},
		tests: []string{"internal/usermodule"},
	},
	{
		dir: "gen/export", imports: []string{"gen"}, tests: []string{"internal/usermodule"},
		modules: []string{"github.com/google/jsonschema-go", "golang.org/x/tools"},
	},
	{dir: "generated/agent", imports: []string{"hookkit", "spec", "spec/agentspec"}},
	{dir: "loop", imports: append([]string{"internal/spelling"}, agentLoop...), tests: []string{
		"hooktest",
		"loop/looptest",
	}, modules: []string{
		"github.com/google/jsonschema-go",
	}},
	{dir: "loop/fleet/fleettest", imports: append([]string{"loop"}, agentLoop...)},
	{dir: "loop/adapt/adapttest", imports: append([]string{"loop/adapt", "loop/looptest"}, agentLoop...)},
	{dir: "loop/openai", imports: append([]string{"internal/modelhttp"}, agentLoop...), tests: modelTests},
	{dir: "loop/openai/example", imports: append([]string{"loop", "loop/openai"}, agentLoop...)},
	{dir: "loop/anthropic", imports: append([]string{"internal/modelhttp"}, agentLoop...), tests: modelTests},
	{dir: "loop/anthropic/example", imports: append([]string{"loop", "loop/anthropic"}, agentLoop...)},
	{dir: "loop/looptest", imports: append([]string{"hooktest", "loop"}, agentLoop...),
		modules: []string{"github.com/google/jsonschema-go"}},
	{dir: "builtin", imports: append([]string{"builtin/limit", "builtin/repair"}, agentLoop...), tests: roomTests},
	{
		dir:     "builtin/internal",
		imports: append([]string{"internal/atomicfile", "internal/filename", "internal/spelling"}, agentLoop...),
		tests:   []string{"builtin/internal/testdata/fixture"},
	},
	{dir: "builtin/limit", imports: room(), tests: roomTests},
	{dir: "builtin/share", imports: room(), tests: roomTests},
	{
		dir:     "builtin/permission",
		imports: room(),
		tests:   roomTests,
		modules: []string{"github.com/bmatcuk/doublestar/v4", "github.com/expr-lang/expr"},
	},
	{
		dir:     "builtin/shell",
		imports: room(),
		tests:   roomTests,
		modules: []string{"mvdan.cc/sh/v3"},
	},
	{
		dir:     "builtin/guardrail",
		imports: room("builtin/redact"),
		tests:   roomTests,
		modules: []string{"github.com/google/jsonschema-go"},
	},
	{
		dir: "builtin/declared", imports: room("builtin/permission", "internal/spelling"), tests: append([]string{
			"builtin/prompt", "builtin/repair", "builtin/window",
		}, roomTests...),
		modules: []string{"github.com/bmatcuk/doublestar/v4", "github.com/expr-lang/expr"},
	},
	{
		dir: "builtin/declared/claudecode", imports: room("internal/spelling"),
		tests: append([]string{"builtin/permission"}, roomTests...),
	},
	{dir: "builtin/redact", imports: room(), tests: append([]string{"internal/leaks"}, roomTests...)},
	{dir: "builtin/window", imports: room(), tests: roomTests},
	{dir: "builtin/prompt", imports: room(), tests: roomTests},
	{dir: "builtin/memory", imports: room("builtin/redact", "builtin/session"), tests: roomTests},
	{dir: "builtin/session", imports: room(), tests: roomTests},
	{dir: "builtin/answer", imports: room(), tests: roomTests, modules: []string{"github.com/google/jsonschema-go"}},
	{dir: "builtin/repair", imports: room(), tests: roomTests},
	{dir: "builtin/retry", imports: room(), tests: roomTests, modules: []string{"github.com/cenkalti/backoff/v5"}},
	{dir: "builtin/record", imports: room("builtin/redact", "builtin/memory"), tests: roomTests},
	{dir: "builtin/observe", imports: room("builtin/redact", "builtin/window"), tests: roomTests},
	{dir: "hooktest", imports: []string{"hookkit", "internal/atomicfile", "internal/terminal"},
		tests: []string{"spec/testdata/mail", "tests/fixture"}},
	{
		dir:     "cmd/hookgen",
		imports: []string{"gen", "internal/atomicfile", "internal/progress", "internal/spelling", "internal/version"},
		tests:   []string{"internal/moduleproxy", "internal/usermodule"},
		modules: []string{"github.com/rogpeppe/go-internal", "golang.org/x/mod", "golang.org/x/tools"},
	},
	{
		dir: "cmd/hooklog",
		imports: []string{
			"builtin/record", "cmd/hooklog/internal/eventlog", "cmd/hooklog/internal/eventpage",
			"cmd/hooklog/internal/numbers", "cmd/hooklog/internal/rotated", "hookkit/hooklog", "hookkit/wire",
			"internal/atomicfile", "internal/eventline", "internal/progress", "internal/spelling", "internal/terminal",
			"internal/version",
		},
		tests:   []string{"gen"},
		modules: []string{"github.com/rogpeppe/go-internal"},
	},
	{dir: "internal/version", imports: []string{"gen"}},
	{dir: "internal/progress", imports: []string{"internal/terminal"}},
	{
		dir: "cmd/hooklog/internal/eventlog",
		imports: []string{
			"cmd/hooklog/internal/numbers", "cmd/hooklog/internal/rotated", "hookkit/hooklog", "hookkit/wire",
			"internal/eventline",
		},
	},
	{dir: "cmd/hooklog/internal/numbers", imports: []string{"hookkit/hooklog", "hookkit/wire"}},
	{
		dir:     "cmd/hooklog/internal/eventpage",
		imports: []string{"cmd/hooklog/internal/eventlog", "hookkit/hooklog", "hookkit/wire"},
		tests:   []string{"generated/agent", "internal/terminal", "spec/agentspec"},
		modules: []string{"github.com/rogpeppe/go-internal"},
	},
	{dir: "internal/modelhttp/modeltest", imports: []string{"generated/agent", "internal/modelhttp"}},
	{
		dir: "hookvet", imports: []string{"internal/spelling"}, modules: []string{"golang.org/x/tools"},
		tests: []string{"internal/usermodule"},
	},
	{
		dir: "cmd/hookvet", imports: []string{"hookvet", "internal/progress", "internal/version"},
		tests:   []string{"gen", "internal/usermodule"},
		modules: []string{"golang.org/x/tools"},
	},
	{dir: "examples", imports: everything},
	{dir: "lab", imports: []string{"internal/atomicfile"}},
	{dir: "internal/moduleproxy", modules: []string{"golang.org/x/mod"}},
	{dir: "lab/mutation", imports: []string{"lab/figures"}, modules: []string{"golang.org/x/tools"}},
	{dir: "internal/usermodule", imports: []string{"internal/moduleproxy"}},
	{
		dir: "lab/release", imports: []string{"internal/moduleproxy"}, modules: []string{"golang.org/x/mod"},
		tests: []string{"gen", "internal/usermodule"},
	},
	{
		dir: "lab/pages", imports: []string{"builtin/redact", "internal/leaks", "lab/figures"},
		tests: []string{"builtin/shell", "generated/agent"},
	},
	{dir: "site/playground", imports: []string{"gen"}, modules: []string{"golang.org/x/tools"}},
	{dir: "tests", imports: append([]string{"internal", "lab/figures"}, everything...), modules: []string{
		"github.com/google/go-cmp", "github.com/google/jsonschema-go", "pgregory.net/rapid",
	}},
}

// testModules are for test files only, in any directory.
var testModules = []string{
	"github.com/google/go-cmp", "pgregory.net/rapid", "github.com/rogpeppe/go-internal", "go.uber.org/goleak",
	"golang.org/x/tools",
}

// TestImportArrows reads every Go file of the module, regardless of build constraints.
func TestImportArrows(t *testing.T) {
	wrong, err := wrongArrows(os.DirFS(usermodule.Root(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// TestWrongArrowsAreFound checks examples of forbidden imports.
func TestWrongArrowsAreFound(t *testing.T) {
	file := func(imports ...string) *fstest.MapFile {
		text := "package p\n"
		for _, i := range imports {
			text += fmt.Sprintf("import _ %q\n", i)
		}
		return &fstest.MapFile{Data: []byte(text)}
	}
	got, err := wrongArrows(fstest.MapFS{
		"spec/spec.go":          file("fmt"),
		"hookkit/run.go":        file("context", "golang.org/x/tools/go/analysis"),
		"hookkit/run_test.go":   file("testing", "pgregory.net/rapid", modulePath+"/hookkit"),
		"hookkit/other_test.go": file(modulePath + "/loop"),
		"gen/emit.go":           file("github.com/dave/jennifer/jen", modulePath+"/hookkit"),
		"gen/gen_test.go":       file(modulePath + "/hookkit"),
		"builtin/guard.go":      file(modulePath+"/generated/agent", modulePath+"/loop"),
		"builtin/guard_test.go": file(modulePath+"/hooktest", modulePath+"/builtin/limit"),
		"builtin/limit/guard.go": file(modulePath+"/hooktest", modulePath+"/builtin/internal/kit", modulePath+
			"/builtin/repair"),
		"loop/run.go":             file(modulePath + "/builtin"),
		"loop/step.go":            file(modulePath + "/loop/looptest"),
		"loop/step_test.go":       file(modulePath + "/loop/looptest"),
		"loop/looptest/script.go": file(modulePath+"/builtin", modulePath+"/hooktest", modulePath+"/loop"),
		"loop/testdata/run.go":    file(modulePath + "/builtin"),
		"hooktest/check.go": file(modulePath+"/generated/agent", modulePath+"/hookkit", modulePath+
			"/loop", "pgregory.net/rapid"),
		"examples/agent/main.go":    file(modulePath+"/builtin", modulePath+"/loop"),
		"contrib/otel/go.mod":       {Data: []byte("module example.com/otel")},
		"contrib/otel/otel.go":      file("example.com/otel"),
		"hooktest/check_test.go":    file(modulePath+"/spec/testdata/mail", modulePath+"/tests/fixture"),
		"elsewhere/new.go":          file("fmt"),
		"tests/fixture/fixture.go":  file(modulePath + "/hookkit"),
		"tests/fire_test.go":        file(modulePath + "/tests/fixture"),
		"generated/agent/agent.go":  file(modulePath + "/generated/other"),
		"spec/agentspec/tool.go":    file(modulePath + "/spec"),
		"cmd/hookgen/main.go":       file(modulePath+"/gen", modulePath+"/generated/agent"),
		"spec/example_test.go":      file(modulePath + "/gen"),
		"spec/agentspec/wrong.go":   file(modulePath + "/specification"),
		"hookkit/with_build_tag.go": {Data: []byte("//go:build plan9\n\npackage p\n\nimport _ \"example.com/x\"\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"builtin/guard.go may not import " + modulePath + "/loop",
		"builtin/limit/guard.go may not import " + modulePath + "/builtin/repair",
		"builtin/limit/guard.go may not import " + modulePath + "/hooktest",
		"cmd/hookgen/main.go may not import " + modulePath + "/generated/agent",
		"elsewhere/new.go: no row says what its directory may import",
		"gen/emit.go may not import " + modulePath + "/hookkit",
		"gen/gen_test.go may not import " + modulePath + "/hookkit",
		"generated/agent/agent.go may not import " + modulePath + "/generated/other",
		"hookkit/other_test.go may not import " + modulePath + "/loop",
		"hookkit/run.go may not import golang.org/x/tools/go/analysis",
		"hookkit/with_build_tag.go may not import example.com/x",
		"hooktest/check.go may not import " + modulePath + "/generated/agent",
		"hooktest/check.go may not import " + modulePath + "/loop",
		"hooktest/check.go may not import pgregory.net/rapid",
		"loop/looptest/script.go may not import " + modulePath + "/builtin",
		"loop/run.go may not import " + modulePath + "/builtin",
		"loop/step.go may not import " + modulePath + "/loop/looptest",
		"spec/agentspec/wrong.go may not import " + modulePath + "/specification",
		"spec/spec.go may not import fmt",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// wrongArrows returns the imports that the rows do not allow, in the order of the files.
func wrongArrows(module fs.FS) ([]string, error) {
	var wrong []string
	err := fs.WalkDir(module, ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && name != ".":
			if base == "testdata" || base[0] == '.' || base[0] == '_' || isModule(module, name) {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		imports, err := importsOf(module, name)
		if err != nil {
			return err
		}
		r := rowOf(path.Dir(name))
		if r == nil {
			wrong = append(wrong, name+": no row says what its directory may import")
			return nil
		}
		for _, i := range imports {
			if !r.allows(i, strings.HasSuffix(name, "_test.go")) {
				wrong = append(wrong, name+" may not import "+i)
			}
		}
		return nil
	})
	return wrong, err
}

// TestModulesKeepTheirInternalPackages checks every module, with its tests. A program may combine one version of a
// module with another version of another module, whose internal packages may differ.
func TestModulesKeepTheirInternalPackages(t *testing.T) {
	wrong, err := foreignInternals(os.DirFS(usermodule.Root(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// TestForeignInternalPackagesAreFound checks examples of both kinds.
func TestForeignInternalPackagesAreFound(t *testing.T) {
	file := func(i string) *fstest.MapFile {
		return &fstest.MapFile{Data: fmt.Appendf(nil, "package p\nimport _ %q\n", i)}
	}
	got, err := foreignInternals(fstest.MapFS{
		"go.mod":                         {},
		"loop/loop.go":                   file(modulePath + "/internal/x"),
		"contrib/a/go.mod":               {},
		"contrib/a/a.go":                 file(modulePath + "/contrib/a/internal/x"),
		"contrib/a/a_test.go":            file(modulePath + "/internal/x"),
		"contrib/a/sub/sub.go":           file(modulePath + "/contrib/a/internal"),
		"contrib/b/go.mod":               {},
		"contrib/b/b.go":                 file(modulePath + "/contrib/a/internal/x"),
		"contrib/b/testdata/other.go":    file("internal/x"),
		"cmd/tool/pagetest/go.mod":       {},
		"cmd/tool/pagetest/page_test.go": file(modulePath + "/cmd/tool/internal/page"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"cmd/tool/pagetest/page_test.go: " + modulePath + "/cmd/tool/internal/page is internal to another module",
		"contrib/a/a_test.go: " + modulePath + "/internal/x is internal to another module",
		"contrib/b/b.go: " + modulePath + "/contrib/a/internal/x is internal to another module",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// foreignInternals returns the imports of internal packages of other modules of the tree.
func foreignInternals(tree fs.FS) ([]string, error) {
	// owner returns the directory of the module that a file or package belongs to.
	owner := func(name string) string {
		for name != "." && !isModule(tree, name) {
			name = path.Dir(name)
		}
		return name
	}
	var wrong []string
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (base == "testdata" || base[0] == '.' || base[0] == '_'):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		imports, err := importsOf(tree, name)
		if err != nil {
			return err
		}
		for _, i := range imports {
			local, ours := strings.CutPrefix(i, modulePath+"/")
			if ours && slices.Contains(strings.Split(local, "/"), "internal") && owner(local) != owner(path.Dir(name)) {
				wrong = append(wrong, name+": "+i+" is internal to another module")
			}
		}
		return nil
	})
	return wrong, err
}

// isModule reports whether a directory is the root of a module.
func isModule(tree fs.FS, dir string) bool {
	_, err := fs.Stat(tree, path.Join(dir, "go.mod"))
	return err == nil
}

// TestRoomsLinkOnlyTheirLibraries follows the imports of each room of builtin: a program that uses one hook links the
// modules of that hook's room and no others.
func TestRoomsLinkOnlyTheirLibraries(t *testing.T) {
	module := os.DirFS(usermodule.Root(t))
	rooms, err := fs.Glob(module, "builtin/*/doc.go")
	if err == nil {
		var formats []string
		formats, err = fs.Glob(module, "builtin/declared/*/doc.go")
		rooms = append(rooms, formats...)
	}
	if err != nil || len(rooms) == 0 {
		t.Fatalf("no rooms (%v)", err)
	}
	for _, name := range rooms {
		dir := path.Dir(name)
		t.Run(path.Base(dir), func(t *testing.T) {
			linked := map[string]bool{}
			if err := link(module, dir, map[string]bool{}, linked); err != nil {
				t.Fatal(err)
			}
			for i := range linked {
				if !slices.ContainsFunc(rowOf(dir).modules, func(m string) bool { return within(i, m) }) {
					t.Errorf("%s links %s; its row does not have that module", dir, i)
				}
			}
		})
	}
}

// TestContribLibrariesStayInContrib lists the modules that a program links if it imports the packages that all agents
// import. The libraries that a module of contrib requires are not among them.
func TestContribLibrariesStayInContrib(t *testing.T) {
	root := usermodule.Root(t)
	files, err := filepath.Glob(filepath.Join(root, "contrib", "*", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	// The libraries that a go.mod requires directly.
	required := func(file string) (libraries []string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, direct := range regexp.MustCompile(`(?m)^(?:require |\t)(\S+) v\S+$`).FindAllStringSubmatch(string(text), -1) {
			libraries = append(libraries, direct[1])
		}
		return libraries
	}
	own := append(required(filepath.Join(root, "go.mod")), modulePath) // contrib may use these too
	ofContrib := map[string]string{}                                   // the go.mod that requires a library
	for _, file := range files {
		for _, library := range required(file) {
			if !slices.Contains(own, library) {
				ofContrib[library] = file
			}
		}
	}
	if ofContrib["modernc.org/sqlite"] == "" {
		t.Fatalf("contrib/sqlite does not require SQLite, but contrib requires %v", ofContrib)
	}
	for _, packages := range []string{"./hookkit/...", "./generated/agent", "./builtin/...", "./loop/..."} {
		t.Run(packages, func(t *testing.T) {
			cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", packages)
			cmd.Dir, cmd.Env = root, append(os.Environ(), "GOWORK=off")
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			linked := strings.Fields(string(out))
			if !slices.Contains(linked, modulePath) {
				t.Fatalf("go list found only %q", linked)
			}
			slices.Sort(linked)
			for _, path := range slices.Compact(linked) {
				if from := ofContrib[path]; from != "" {
					t.Errorf("links %s, a library of %s", path, from)
				}
			}
		})
	}
}

// link adds to linked the packages of other modules that a package of this module imports, itself or through others.
func link(module fs.FS, dir string, seen, linked map[string]bool) error {
	if seen[dir] {
		return nil
	}
	seen[dir] = true
	files, err := fs.Glob(module, dir+"/*.go")
	if err != nil {
		return err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		imports, err := importsOf(module, name)
		if err != nil {
			return err
		}
		for _, i := range imports {
			if local, ok := strings.CutPrefix(i, modulePath+"/"); ok {
				if err := link(module, local, seen, linked); err != nil {
					return err
				}
			} else if first, _, _ := strings.Cut(i, "/"); strings.Contains(first, ".") {
				linked[i] = true
			}
		}
	}
	return nil
}

// importsOf returns the import paths of a file, sorted.
func importsOf(module fs.FS, name string) ([]string, error) {
	text, err := fs.ReadFile(module, name)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var imports []string
	for _, spec := range file.Imports {
		i, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		imports = append(imports, i)
	}
	slices.Sort(imports)
	return imports, nil
}

// rowOf returns the row of a directory, or nil.
func rowOf(dir string) *row {
	var longest *row
	for i, r := range rows {
		if within(dir, r.dir) && (longest == nil || len(r.dir) > len(longest.dir)) {
			longest = &rows[i]
		}
	}
	return longest
}

// allows reports whether a file in the directory may have the import.
func (r *row) allows(path string, test bool) bool {
	isIn := func(list []string, path string) bool {
		return slices.ContainsFunc(list, func(of string) bool { return within(path, of) })
	}
	if local, ok := strings.CutPrefix(path, modulePath+"/"); ok {
		return rowOf(local) == r || isIn(r.imports, local) || test && isIn(r.tests, local)
	}
	if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") { // the standard library
		return r.dir != "spec" || test
	}
	return isIn(r.modules, path) || test && isIn(testModules, path)
}

// within reports whether a path is another one or below it.
func within(path, of string) bool {
	return path == of || strings.HasPrefix(path, of+"/")
}
