package window

import (
	"math"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestVotesNeedGrowth(t *testing.T) {
	size := func(tokens int) agent.Size { return agent.Size{Messages: 9, Tokens: tokens} }
	for _, c := range []struct {
		name   string
		voted  int // tokens at the first vote
		done   *agent.Compacted
		before int // tokens of a step in between; 0: none
		tokens int
		allows bool
	}{
		{"skipped compaction", 1000, nil, 0, 1099, false},
		{"skipped and grown", 1000, nil, 0, 1100, true},
		{"failed", 1000, &agent.Compacted{Err: "no", Before: size(900), After: size(100)}, 0, 1099, false},
		{"without effect", 1000, &agent.Compacted{Before: size(900), After: size(900)}, 0, 1000, false},
		{"a little smaller", 1000, &agent.Compacted{Before: size(900), After: size(800)}, 0, 989, false},
		{"and grown again", 1000, &agent.Compacted{Before: size(900), After: size(800)}, 0, 990, true},
		{"smaller for another reason", 1000, nil, 500, 600, true},
		{"but not grown", 1000, nil, 980, 1000, false},
		{"empty", 0, &agent.Compacted{}, 0, 0, false},
		{"huge", math.MaxInt, nil, 0, math.MaxInt, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var g growth
			if g.Allows(c.voted, false) || !g.Allows(c.voted, true) {
				t.Fatal("the first vote is wrong")
			}
			if c.done != nil {
				g.Compacted(*c.done)
			}
			if c.before > 0 && g.Allows(c.before, false) {
				t.Error("a short conversation is compacted")
			}
			if got := g.Allows(c.tokens, true); got != c.allows {
				t.Errorf("with %d tokens: %t", c.tokens, got)
			}
		})
	}
}
