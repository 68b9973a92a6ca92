package anthropic

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestTheReadmeHasTheProgram(t *testing.T) {
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

// The README says that importing this package adds no module but this one.
func TestThePackageNeedsNoOtherModule(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	list.Env = append(os.Environ(), "GOWORK=off")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	got := strings.Join(slices.Compact(modules), " ")
	if want := "github.com/hookgen/hookgen github.com/hookgen/hookgen/contrib/anthropic"; got != want {
		t.Errorf("the modules are %s, want %s", got, want)
	}
}
