package gen

import (
	"go/version"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/gen/internal/emit"
)

// If generated code of a release needed a newer runtime, it would never build.
func TestGeneratedCodeNeedsNoNewerRuntime(t *testing.T) {
	numbers, ok := strings.CutPrefix(emit.RuntimeConstant, "IsAtLeastVersion")
	if !ok {
		t.Fatalf("%s is not named like the constants of the runtime", emit.RuntimeConstant)
	}
	// Versions of Go are compared like those of modules, but begin with "go".
	needs, is := "go"+strings.ReplaceAll(numbers, "_", "."), "go"+strings.TrimPrefix(Version, "v")
	if version.Compare(needs, is) > 0 {
		t.Errorf("generated code needs %s, and this is %s", needs, is)
	}
}
