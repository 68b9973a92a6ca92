package model

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// A witness is a test that fails without failing the one it is part of.
type witness struct {
	*testing.T
	failed bool
	said   []string
}

func (w *witness) Logf(format string, args ...any) {
	w.said = append(w.said, fmt.Sprintf(format, args...))
}
func (w *witness) Log(args ...any)                   { w.Logf("%s", fmt.Sprintln(args...)) }
func (w *witness) Errorf(format string, args ...any) { w.Logf(format, args...); w.Fail() }
func (w *witness) Fail()                             { w.failed = true }
func (w *witness) Failed() bool                      { return w.failed }
func (w *witness) FailNow()                          {}

// TestAProgramThatGoesWrongIsPrintedAsGo plants a mistake in the model and looks at what is printed.
func TestAProgramThatGoesWrongIsPrintedAsGo(t *testing.T) {
	set(t, "rapid.seed", "3") // the same programs each time
	set(t, "rapid.checks", "5000")
	w := &witness{T: t}
	check(t, w, func(c *came) {
		if c.Exit == "Skip" || c.Exit == "Ask" {
			c.Exit = "" // as if the second exit of a point were nothing
		}
	}, new(played))
	if !w.failed {
		t.Fatal("the mistake was not found")
	}
	const begin, end = "for _, wrong := range play(t, program{", "\n\t}\n\tTo reproduce"
	_, code, found := strings.Cut(strings.ReplaceAll(strings.Join(w.said, "\n"), "\nTo reproduce", "\n\tTo reproduce"), begin)
	code, _, ended := strings.Cut(code, end)
	if !found || !ended {
		t.Fatalf("no program was printed:\n%s", strings.Join(w.said, "\n"))
	}
	code = begin + code + "\n\t}"
	typeCheck(t, code)
	for _, says := range []string{"Does: leavesToo", "fire{"} {
		if !strings.Contains(code, says) {
			t.Errorf("the program does not say %q:\n%s", says, code)
		}
	}
	if n := strings.Count(code, "add{") + strings.Count(code, "fire{"); n > 6 {
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

// TestEveryProgramIsPrintedAsGo draws programs with all that they can have.
func TestEveryProgramIsPrintedAsGo(t *testing.T) {
	var all []string
	for seed := range 100 {
		all = append(all, goCode(programs.Example(seed)))
	}
	typeCheck(t, strings.Join(all, "\n"))
	for _, word := range []string{
		"add{", "use{", "observe{", "remove{", "drain{", "layer{", "trace{", "fire{", "hook{", "Threads:", "Inside:", "Before:", "After:", "Once:", "Timeout:",
		"FailClosed:", "Outrank:", "Async:", "Off:", "Does: hangs",
	} {
		if !strings.Contains(strings.Join(all, "\n"), word) {
			t.Errorf("no program has %q", word)
		}
	}
}

// typeCheck checks statements as part of a test of this package.
func typeCheck(t *testing.T, statements string) {
	t.Helper()
	const around = `package model

type testing interface{ Error(...any) }

func play(testing, program) []string

func pasted(t testing) {
%s
}
`
	files := token.NewFileSet()
	var parsed []*ast.File
	for name, source := range map[string]any{"program_test.go": nil, "pasted_test.go": fmt.Sprintf(around, statements)} {
		f, err := parser.ParseFile(files, name, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	if _, err := new(types.Config).Check("model", files, parsed, nil); err != nil {
		t.Errorf("%v in:\n%s", err, statements)
	}
}
