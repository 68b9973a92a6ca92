package otel_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	program, output, _ := strings.Cut(string(example), "\t// Output:\n")
	program = strings.NewReplacer("package otel_test", "package main", "func Example()", "func main()").Replace(program)
	output = strings.ReplaceAll(strings.TrimSuffix(output, "}\n"), "\t// ", "")
	for _, block := range []string{"```go\n" + program + "}\n```", "```text\n" + output + "```"} {
		if !strings.Contains(string(readme), block) {
			t.Errorf("the page does not show\n%s", block)
		}
	}
}

// A program that imports the package links these modules. The SDK is a choice of the program.
func TestPackageLinksTheAPIOnly(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	modules = slices.DeleteFunc(slices.Compact(modules), func(m string) bool {
		return strings.HasPrefix(m, "github.com/hookgen/")
	})
	want := []string{
		"github.com/cespare/xxhash/v2", "github.com/go-logr/logr", "github.com/go-logr/stdr", "go.opentelemetry.io/auto/sdk",
		"go.opentelemetry.io/otel", "go.opentelemetry.io/otel/log", "go.opentelemetry.io/otel/metric",
		"go.opentelemetry.io/otel/trace",
	}
	if diff := cmp.Diff(want, modules); diff != "" {
		t.Error(diff)
	}
}
