package modeltest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// CheckReadme checks that README.md has the program of example/main.go.
func CheckReadme(t *testing.T) {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("example/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```go\n"+string(program)+"```\n") {
		t.Error("the program of README.md differs from example/main.go; copy it")
	}
}

// CheckModules checks that the package in the current directory imports packages of these modules only.
func CheckModules(t *testing.T, want ...string) {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	list.Env = append(os.Environ(), "GOWORK=off")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	if got := slices.Compact(modules); !slices.Equal(got, want) {
		t.Errorf("the modules are %s, want %s", got, want)
	}
}
