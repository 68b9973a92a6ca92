package prompt

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

// Another request of the run may read the blocks meanwhile.
func TestBlocksOfARunAreNotChanged(t *testing.T) {
	c, run := new(configured), agent.NewRun(nil)
	add := func(name string) map[string]string {
		_, err := c.block(t.Context(), run, Fragment{
			Name: name, Generate: func(context.Context, *agent.Run) (string, error) { return "text of " + name, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return c.blocks.Load(run)
	}
	before, after := add("a"), add("b")
	if len(before) != 1 || len(after) != 2 || after["b"] != "text of b" {
		t.Errorf("before %v, after %v", before, after)
	}
}
