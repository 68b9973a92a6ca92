package ownerpath

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/generated/agent"
)

// owners draws owners whose names imitate paths.
func owners() *rapid.Generator[agent.Identity] {
	names := rapid.OneOf(rapid.SampledFrom([]string{
		"", "-", "/", "//", "a", "A", "a/", "/a", "%2F", "%", ".", "..", "../a", "con", "a b", "\\", "\xff", "\x00", "ä",
		strings.Repeat("a", 200), strings.Repeat("a", 201),
	}), rapid.String())
	return rapid.Custom(func(t *rapid.T) agent.Identity {
		return agent.Identity{
			Tenant: names.Draw(t, "tenant"), User: names.Draw(t, "user"), Conversation: names.Draw(t, "conversation"),
		}
	})
}

func TestDifferentOwnersHaveDifferentPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := owners().Draw(t, "a"), owners().Draw(t, "b")
		pathA, pathB := Of(a), Of(b)
		if strings.EqualFold(pathA, pathB) != (a == b) || !filepath.IsLocal(pathA) ||
			strings.Count(pathA, string(filepath.Separator)) != 2 {
			t.Errorf("%q and %q have the paths %q and %q", a, b, pathA, pathB)
		}
	})
}
