package hookkit_test

import (
	"regexp"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

func TestEveryRunHasItsOwnIdentity(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		r := hookkit.NewRun(1)
		if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(r.ID()) || seen[r.ID()] {
			t.Fatalf("ID %q", r.ID())
		}
		seen[r.ID()] = true
	}
}

func TestRunsKnowTheirParentAndRoot(t *testing.T) {
	root := hookkit.NewRun("root")
	child := root.Child("child")
	grandchild := child.Child("grandchild")
	var none *hookkit.Run[string]
	for name, c := range map[string]struct {
		r                     *hookkit.Run[string]
		env, id, parent, root string
	}{
		"root":       {root, "root", root.ID(), "", root.ID()},
		"child":      {child, "child", child.ID(), root.ID(), root.ID()},
		"grandchild": {grandchild, "grandchild", grandchild.ID(), child.ID(), root.ID()},
		"zero":       {new(hookkit.Run[string]), "", "", "", ""},
		"nil":        {none, "", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.r.ID() != c.id || c.r.Parent() != c.parent || c.r.Root() != c.root || c.r != nil && c.r.Env != c.env {
				t.Errorf("ID %q, parent %q, root %q", c.r.ID(), c.r.Parent(), c.r.Root())
			}
		})
	}
	if child.ID() == root.ID() || grandchild.ID() == child.ID() {
		t.Error("two runs have one identity")
	}
}
