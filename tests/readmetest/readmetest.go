// Package readmetest checks the README.md of a package: that it has the program that the tests compile, and which
// modules a program links. All functions read the package in the current directory. Import it in tests only. Start with
// [CheckProgram].
package readmetest

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func has(t *testing.T, block string) {
	t.Helper()
	if !strings.Contains(read(t, "README.md"), block) {
		t.Errorf("README.md does not have\n%s", block)
	}
}

// CheckProgram checks that README.md has the program of example/main.go.
func CheckProgram(t *testing.T) {
	t.Helper()
	has(t, "```go\n"+read(t, "example/main.go")+"```\n")
}

// CheckExample checks that README.md has the example of a package as a program, and its output.
func CheckExample(t *testing.T, pkg string) {
	t.Helper()
	before, rest, _ := strings.Cut(read(t, "example_test.go"), "\t// Output:\n")
	output, after, _ := strings.Cut(rest, "}\n")
	program := strings.NewReplacer("package "+pkg+"_test", "package main", "Example()", "main()").Replace(before)
	output = strings.NewReplacer("\t// ", "", pkg+"_test.", "main.").Replace(output)
	has(t, "```go\n"+program+"}\n"+after+"```")
	has(t, "```text\n"+output+"```")
}

// Linked returns the modules that a package links on Linux, sorted.
func Linked(t *testing.T, pkg string) []string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", pkg)
	list.Env = append(os.Environ(), "GOWORK=off", "GOOS=linux", "GOARCH=amd64")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out)))))
}

// Foreign returns the modules of others that a package links on Linux, sorted.
func Foreign(t *testing.T, pkg string) []string {
	t.Helper()
	return slices.DeleteFunc(Linked(t, pkg), func(m string) bool { return strings.HasPrefix(m, "github.com/hookgen/") })
}

// CheckLinked checks that README.md names the modules of others that a program with the package links, and their
// number.
func CheckLinked(t *testing.T) {
	t.Helper()
	linked, text := Foreign(t, "."), read(t, "README.md")
	if want := fmt.Sprintf("links %d modules", len(linked)); !strings.Contains(text, want) {
		t.Errorf("README.md does not say that a program %s", want)
	}
	for _, m := range linked {
		if !strings.Contains(text, "`"+m+"`") {
			t.Errorf("README.md does not name %s", m)
		}
	}
}
