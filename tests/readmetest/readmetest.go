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

// CheckBody checks that the first program in README.md does the same as the example: the lines of their functions are
// equal but for indentation and blank lines.
func CheckBody(t *testing.T) {
	t.Helper()
	_, program, _ := strings.Cut(read(t, "README.md"), "```go\n")
	program, _, _ = strings.Cut(program, "```")
	_, program, found := strings.Cut(program, "func main() {")
	if !found {
		t.Fatal("README.md has no program")
	}
	_, tested, _ := strings.Cut(read(t, "example_test.go"), "func Example() {")
	tested, _, _ = strings.Cut(tested, "\t// Output:")
	if got, want := lines(program), append(lines(tested), "}"); !slices.Equal(got, want) {
		t.Errorf("the program is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// lines returns the lines of a text without indentation and blank lines.
func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
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

// CheckAdded checks that README.md names the modules of others that the package adds to an agent, and their number.
func CheckAdded(t *testing.T) {
	t.Helper()
	without := Linked(t, "github.com/hookgen/hookgen/loop")
	added := slices.DeleteFunc(Foreign(t, "."), func(m string) bool { return slices.Contains(without, m) })
	want := fmt.Sprintf("%d modules (%s)", len(added), strings.Join(added, ", "))
	if !strings.Contains(strings.Join(strings.Fields(read(t, "README.md")), " "), want) {
		t.Errorf("README.md does not have %q", want)
	}
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
