package sqlite

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// body returns the lines of a function without indentation and blank lines.
func body(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestReadmeHasTheExample compares the program in README.md with the example that go test runs.
func TestReadmeHasTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("README.md has no program")
	}
	_, program, _ := strings.Cut(string(block[1]), "func main() {")
	_, tested, _ := strings.Cut(string(example), "func Example() {")
	tested, _, _ = strings.Cut(tested, "\t// Output:")
	if got, want := body(program), append(body(tested), "}"); !slices.Equal(got, want) {
		t.Errorf("the program is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestReadmeNamesTheLinkedModules compares the modules in README.md with those that a program links.
func TestReadmeNamesTheLinkedModules(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", ".")
	list.Env = append(os.Environ(), "GOWORK=off", "GOOS=linux", "GOARCH=amd64")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out)))))
	linked = slices.DeleteFunc(linked, func(m string) bool { return m == "github.com/hookgen/hookgen" })
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(readme)
	if want := fmt.Sprintf("links %d modules", len(linked)); !strings.Contains(text, want) {
		t.Errorf("README.md does not say that a program %s", want)
	}
	for _, m := range linked {
		if !strings.Contains(text, "`"+m+"`") {
			t.Errorf("README.md does not name %s", m)
		}
	}
}
