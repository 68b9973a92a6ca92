package eino_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadmeShowsTheExampleAsAProgram(t *testing.T) {
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(example), "\t// Output:\n")
	output, after, _ := strings.Cut(rest, "}\n")
	program := strings.NewReplacer("package eino_test", "package main", "Example()", "main()").Replace(before)
	output = strings.NewReplacer("\t// ", "", "eino_test.", "main.").Replace(output)
	for _, block := range []string{"```go\n" + program + "}\n" + after + "```", "```text\n" + output + "```"} {
		if !strings.Contains(string(readme), block) {
			t.Errorf("the page does not show\n%s", block)
		}
	}
}

// The adapter is an example of how little an adapter needs.
func TestAdapterHasAtMostAHundredLines(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		_, code, _ := strings.Cut(string(source), "\n)\n") // after the imports
		for line := range strings.Lines(code) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
	}
	if lines == 0 || lines > 100 {
		t.Errorf("it has %d", lines)
	}
}

func TestLinkedModulesAreCounted(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	modules = slices.DeleteFunc(slices.Compact(modules), func(m string) bool {
		return strings.HasPrefix(m, "github.com/hookgen/")
	})
	if len(modules) != 28 {
		t.Errorf("%d: %s", len(modules), modules)
	}
}
