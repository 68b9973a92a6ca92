package adaptertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// CheckReadme checks that README.md shows the example of a package as a program, and its output.
func CheckReadme(t *testing.T, pkg string) {
	t.Helper()
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
	program := strings.NewReplacer("package "+pkg+"_test", "package main", "Example()", "main()").Replace(before)
	output = strings.NewReplacer("\t// ", "", pkg+"_test.", "main.").Replace(output)
	for _, block := range []string{"```go\n" + program + "}\n" + after + "```", "```text\n" + output + "```"} {
		if !strings.Contains(string(readme), block) {
			t.Errorf("the page does not show\n%s", block)
		}
	}
}

// CheckSize checks that the package has at most a hundred lines, because it is an example of how little an adapter
// needs. Imports, comments and blank lines do not count.
func CheckSize(t *testing.T) {
	t.Helper()
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
		t.Errorf("it has %d lines", lines)
	}
}

// CheckModules checks how many modules of others the package in the current directory links.
func CheckModules(t *testing.T, want int) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	modules = slices.DeleteFunc(slices.Compact(modules), func(m string) bool {
		return strings.HasPrefix(m, "github.com/hookgen/")
	})
	if len(modules) != want {
		t.Errorf("there are %d: %s", len(modules), modules)
	}
}
