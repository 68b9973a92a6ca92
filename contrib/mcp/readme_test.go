package mcp_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestTheReadmeHasTheExample(t *testing.T) {
	program, err := os.ReadFile("example/main.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```go\n"+string(program)+"```\n") {
		t.Error("the program in README.md is not that of example/main.go")
	}
}

// modules returns the modules that a package links.
func modules(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", pkg).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	slices.Sort(all)
	return slices.Compact(all)
}

func TestTheReadmeNamesTheModules(t *testing.T) {
	without := modules(t, "github.com/hookgen/hookgen/loop")
	added := slices.DeleteFunc(modules(t, "."), func(m string) bool {
		return slices.Contains(without, m) || strings.HasPrefix(m, "github.com/hookgen/")
	})
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%d modules (%s)", len(added), strings.Join(added, ", "))
	if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), want) {
		t.Errorf("README.md does not have %q", want)
	}
}
