package compile_test

import (
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/usermodule"
)

// A program joins two packages, and later one of them begins to extend the other's parent. hookgen, which would refuse
// that, does not run again for the program. The program panics when it starts: the registries of the parent would exist
// twice.
func TestSiblingExtensionsDoNotStart(t *testing.T) {
	t.Parallel()
	hookgen := usermodule.BuildHookgen(t)
	m := usermodule.New(t)
	m.Init("example.com/downstream")
	spec := func(pkg string, parents ...string) {
		text := "package " + pkg + "\n\nimport (\n\t\"github.com/hookgen/hookgen/spec\"\n"
		for _, p := range parents {
			text += "\t\"example.com/downstream/" + p + "\"\n"
		}
		text += ")\n\n//hookgen:points\ntype Points interface {\n"
		for _, p := range parents {
			text += "\t" + p + ".Points\n"
		}
		m.Write(pkg+"/spec.go", text+"\tOn"+strings.ToUpper(pkg[:1])+pkg[1:]+"(string) spec.Check\n}\n")
		m.Run(hookgen, pkg)
	}
	spec("base")
	spec("one", "base")
	spec("two")
	spec("program", "one", "two")
	m.Run("go", "build", "./...")

	spec("two", "base")
	m.Write("program/program_test.go", "package program\n\nimport \"testing\"\n\nfunc TestNothing(*testing.T) {}\n")
	out, err := m.Try("go", "test", "./program")
	const message = "downstream/one and example.com/downstream/two both contain the points of example.com/downstream/base"
	if err == nil || !strings.Contains(out, message) {
		t.Errorf("go test returned %v:\n%s", err, out)
	}
}
