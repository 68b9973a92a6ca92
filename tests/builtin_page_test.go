package tests

import (
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/usermodule"
)

// TestPageOfBuiltInHooksIsComplete compares docs/agents/built-in-hooks.md with the hooks of builtin.
func TestPageOfBuiltInHooksIsComplete(t *testing.T) {
	root := usermodule.Root(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "agents", "built-in-hooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := regexp.MustCompile("`[^`]*`").ReplaceAllString(fencedBlock.ReplaceAllString(string(text), ""), "")
	named := regexp.MustCompile(`\b[a-z]+\.[A-Z]\w+`).FindAllString(page, -1)
	var types, hooks []string
	module := os.DirFS(root)
	files, err := fs.Glob(module, "builtin/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	index, err := fs.Glob(module, "builtin/*.go")
	if err != nil {
		t.Fatal(err)
	}
	formats, err := fs.Glob(module, "builtin/declared/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(files, index, formats) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		room := path.Base(path.Dir(name))
		for _, declared := range declarationsOf(t, name) {
			if hook, ok := strings.CutSuffix(declared, ".Bind"); ok && ast.IsExported(hook) {
				hooks = append(hooks, room+"."+hook)
			}
			types = append(types, room+"."+declared)
		}
	}
	if len(hooks) < 40 {
		t.Fatalf("builtin has %d hooks", len(hooks))
	}
	for _, hook := range hooks {
		if !slices.Contains(named, hook) {
			t.Errorf("the page does not name %s", hook)
		}
	}
	for _, name := range named {
		if !slices.Contains(types, name) {
			t.Errorf("the page names %s, which does not exist", name)
		}
	}
}
