package window

import "github.com/hookgen/hookgen/generated/agent"

const (
	// unknownWindow is the context window in tokens that hooks assume for a model that does not report one.
	unknownWindow = 128_000
	// replyTokens are the tokens of the window that hooks keep free for the reply.
	replyTokens = 13_000
)

// A growth decides when a hook votes for a compaction again. For example, a conversation of 120,000 tokens stays over
// the limit of 100,000 even after a compaction. A vote in each step would cost a call of the model each time and gain
// nothing. A hook therefore votes again when the conversation has grown by a tenth.
//
// The zero value allows the first vote. A growth is not safe for concurrent use; keep it in a hookkit.PerRun.
type growth struct {
	tried bool
	last  int // tokens in the last step, as the loop estimates the prompt
	least int // the fewest tokens since the last vote or compaction
}

// Allows is called in each step with the estimate of the prompt, and with whether it is so long that the hook wants a
// compaction. It reports whether the hook may vote.
func (g *growth) Allows(tokens int, long bool) bool {
	g.last, g.least = tokens, min(g.least, tokens)
	if !long || g.tried && tokens-g.least < max(g.least/10, 1) {
		return false
	}
	g.tried, g.least = true, tokens
	return true
}

// Compacted records a compaction, whatever its effect.
func (g *growth) Compacted(done agent.Compacted) {
	g.tried, g.least = true, g.last
	if done.Err == "" && done.Effective() {
		g.least = max(g.last-done.Before.Tokens+done.After.Tokens, 0)
	}
}
