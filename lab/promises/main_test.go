package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/internal/testrun"
)

const root = "../.."

// functions returns the functions and methods of the Go files that match pattern: "Name" or "Type.Name".
func functions(t *testing.T, pattern string, tests bool) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file matches %s: %v", pattern, err)
	}
	var names []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") != tests {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			full := f.Name.Name
			if f.Recv != nil {
				receiver := f.Recv.List[0].Type
				if p, ok := receiver.(*ast.StarExpr); ok {
					receiver = p.X
				}
				if id, ok := receiver.(*ast.Ident); ok {
					full = id.Name + "." + full
				}
			}
			names = append(names, full)
		}
	}
	return names
}

func TestEverySecurityHookHasARow(t *testing.T) {
	var named []string
	for _, h := range hooks {
		named = append(named, strings.Split(h.name, ", ")...)
	}
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"shell.CommandGlob", "permission.PathGlob", "permission.Terminal", "permission.Remember",
		"screen.RedactPersonal", "redact.Redactor", "record.Audit", "builtin.Guards"}
	for _, room := range []string{"permission", "shell", "screen", "limit"} {
		for _, f := range functions(t, "builtin/"+room+"/*.go", false) {
			if hook, ok := strings.CutSuffix(f, ".Bind"); ok && ast.IsExported(hook) {
				want = append(want, room+"."+hook)
			}
		}
	}
	for _, hook := range want {
		t.Run(hook, func(t *testing.T) {
			if !slices.Contains(named, hook) {
				t.Error("hooks.go does not name it")
			}
		})
	}
	for _, h := range hooks {
		t.Run("the rows of "+h.name, func(t *testing.T) {
			if len(h.trials) == 0 || !strings.Contains(string(text), "\n| "+h.name+" | "+h.promise+" | ") {
				t.Errorf("%s has no row; run go run ./lab/promises", page)
			}
			for _, trial := range h.trials {
				if !strings.Contains(string(text), "\n| "+h.name+" | "+trial.with+" | ") {
					t.Errorf("%s has no row for %s; run go run ./lab/promises", page, trial.with)
				}
			}
		})
	}
}

func TestEveryTrialNamesExistingTests(t *testing.T) {
	for _, h := range hooks {
		for _, trial := range h.trials {
			t.Run(h.name+" with "+trial.with, func(t *testing.T) {
				known := functions(t, trial.dir+"/*_test.go", true)
				for _, name := range trial.tests {
					if !slices.Contains(known, name) {
						t.Errorf("%s has no test %s", trial.dir, name)
					}
				}
			})
		}
	}
}

func TestCountsComeFromAttributesOrSubtests(t *testing.T) {
	outcomes := map[string]*testrun.Outcome{
		"TestA": {Action: "pass", Listed: 3, Time: time.Second},
		"TestB": {Action: "pass", Listed: 3, Attrs: map[string]string{"tried": "10", "kept": "9"}, Time: time.Second},
		"TestC": {Action: "pass"},
		"TestD": {Action: "fail", Listed: 2},
		"TestE": {Action: "pass", Attrs: map[string]string{"tried": "x", "kept": "1"}},
	}
	for name, c := range map[string]struct {
		tests []string
		want  count
	}{
		"subtests":          {[]string{"TestA"}, count{3, 3, time.Second}},
		"attributes":        {[]string{"TestB"}, count{10, 9, time.Second}},
		"one case":          {[]string{"TestC"}, count{1, 1, 0}},
		"a sum":             {[]string{"TestA", "TestB", "TestC"}, count{14, 13, 2 * time.Second}},
		"a failed test":     {[]string{"TestA", "TestD"}, count{}},
		"a missing test":    {[]string{"TestF"}, count{}},
		"a wrong attribute": {[]string{"TestE"}, count{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := trial{tests: c.tests}.count(outcomes)
			if c.want == (count{}) {
				if err == nil {
					t.Errorf("counted %+v", got)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("counted %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}
