package runtime_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A failureRecorder stores failures without failing the test.
type failureRecorder struct {
	*testing.T
	failed bool
	said   []string
}

func (w *failureRecorder) Logf(format string, args ...any) {
	w.said = append(w.said, fmt.Sprintf(format, args...))
}
func (w *failureRecorder) Log(args ...any)                   { w.Logf("%s", fmt.Sprintln(args...)) }
func (w *failureRecorder) Errorf(format string, args ...any) { w.Logf(format, args...); w.Fail() }
func (w *failureRecorder) Fail()                             { w.failed = true }
func (w *failureRecorder) Failed() bool                      { return w.failed }
func (w *failureRecorder) FailNow()                          {}

// TestFailingProgramsArePrintedAsGo treats the second exit of a point as a failure, and checks the printed
// program.
func TestFailingProgramsArePrintedAsGo(t *testing.T) {
	set(t, "rapid.seed", "3") // the same programs each time
	set(t, "rapid.checks", "5000")
	w := &failureRecorder{T: t}
	rapid.Check(w, func(rt *rapid.T) {
		p := Everything.Draw(rt)
		for _, f := range Check(t, rt, p).Fires {
			if f.Exit == "Skip" || f.Exit == "Ask" {
				rt.Fatalf("a mistake\n\n\t%s", strings.ReplaceAll(p.String(), "\n", "\n\t"))
			}
		}
	})
	if !w.failed {
		t.Fatal("the mistake was not found")
	}
	const begin, end = "for _, wrong := range Play(t, Program{", "\n\t}\n\tTo reproduce"
	_, code, found := strings.Cut(strings.ReplaceAll(strings.Join(w.said, "\n"), "\nTo reproduce", "\n\tTo reproduce"),
		begin)
	code, _, ended := strings.Cut(code, end)
	if !found || !ended {
		t.Fatalf("no program was printed:\n%s", strings.Join(w.said, "\n"))
	}
	code = begin + code + "\n\t}"
	typeCheck(t, code)
	for _, says := range []string{"Does: LeavesSecond", "Fire{"} {
		if !strings.Contains(code, says) {
			t.Errorf("the program does not say %q:\n%s", says, code)
		}
	}
	if n := strings.Count(code, "Add{") + strings.Count(code, "Fire{"); n > 6 {
		t.Errorf("a hook and a fire would do, not %d steps:\n%s", n, code)
	}
}

// set sets a flag while a test runs.
func set(t *testing.T, name, value string) {
	f := flag.Lookup(name)
	old := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(old) })
}

// TestEveryProgramIsPrintedAsGo draws programs with all features.
func TestEveryProgramIsPrintedAsGo(t *testing.T) {
	var all []string
	programs := rapid.Custom(Everything.Draw)
	for seed := range 100 {
		all = append(all, programs.Example(seed).String())
	}
	typeCheck(t, strings.Join(all, "\n"))
	for _, word := range []string{
		"Add{", "Use{", "Observe{", "Remove{", "Drain{", "Layer{", "Trace{",
		"Handle{", "Fire{",
		"Hook{", "Threads:", "Inside:", "Before:", "After:", "Timeout:", "FailClosed:", "Outrank:", "Async:",
		"Uses:", "Replacing:", "Off:", "Keys:", "Tool:", "Pin:", "Pin{", "Redirects", "Act:", "How:",
		"Does: Hangs",
	} {
		if !strings.Contains(strings.Join(all, "\n"), word) {
			t.Errorf("no program has %q", word)
		}
	}
}

// sources imports packages from their source, each once.
var (
	sourceFiles = token.NewFileSet()
	sources     = importer.ForCompiler(sourceFiles, "source", nil)
)

// typeCheck checks statements as part of a test beside the files of the model.
func typeCheck(t *testing.T, statements string) {
	t.Helper()
	const around = `package runtime_test

import (
	"testing"

	"github.com/hookgen/hookgen/tests/points"
)

var _ = points.Plain

func TestPasted(t *testing.T) {
%s
}
`
	paths, err := filepath.Glob("model_*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	pasted, err := parser.ParseFile(sourceFiles, "pasted_test.go", fmt.Sprintf(around, statements), 0)
	if err != nil {
		t.Fatal(err)
	}
	files := []*ast.File{pasted}
	for _, path := range paths {
		f, err := parser.ParseFile(sourceFiles, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	config := types.Config{Importer: sources}
	if _, err := config.Check("runtime_test", sourceFiles, files, nil); err != nil {
		t.Errorf("%v in:\n%s", err, statements)
	}
}
