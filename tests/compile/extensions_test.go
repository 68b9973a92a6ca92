package compile_test

import (
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/usermodule"
)

// A program joins two packages, and later one of them begins to extend the other's parent. hookgen does not run again
// for the program, but its code no longer compiles: the registries of the parent would exist twice.
func TestSiblingExtensionsDoNotCompile(t *testing.T) {
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
	out, err := m.Try("go", "build", "./program")
	if err == nil || !strings.Contains(out, "duplicate method hookgenLineage") {
		t.Errorf("go build returned %v:\n%s", err, out)
	}
}
