package compact

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/conversation"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
)

// Incremental is a compactor that summarises rarely and in large pieces.
//
// The newest turns, up to Recent tokens, stay as they are. What is older is a buffer, which stays too until it has
// more than Buffer tokens; then it is summarised together with the last summary, by one call to the model as
// [Summarize] makes it, with the same fallback. So a conversation has at most Recent, Buffer and SummaryMax tokens,
// and a request that follows another one mostly begins as that did. The newest user message stays, and at least
// the last turn. Of a conversation that the model has found too long no more than half stays as it is, whatever is in
// the buffer.
//
// It is used by pointer and is safe for concurrent use. Negative fields are errors.
type Incremental struct {
	Recent     limit.Bound[int] // tokens; default 4096
	Buffer     limit.Bound[int] // tokens; default 8192
	SummaryMax int              // tokens; 0: 512

	OnError func(error) // is told why the model could not be asked; nil: the error is logged

	failed kit.Reporter
}

// Compact implements agent.Compactor.
func (i *Incremental) Compact(ctx context.Context, env *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	if err := i.check(); err != nil {
		return agent.Compacted{}, fmt.Errorf("Incremental: %w", err)
	}
	if ctx.Err() != nil {
		return agent.Compacted{}, context.Cause(ctx)
	}
	recent, buffer := i.Recent.Or(4096), i.Buffer.Or(8192)
	if c.Reason == agent.CompactTooLong {
		recent = min(recent, env.CountTokens(c.Messages)/2)
	}
	p := planFor(c.Messages, func(t conversation.Thread) int {
		first := max(len(t.Turns)-1, 0)
		for first > 0 && env.CountTokens(t.Messages[t.Turns[first-1].From:]) <= recent {
			first--
		}
		return first
	})
	if c.Reason != agent.CompactTooLong && env.CountTokens(p.middle) <= buffer {
		return unchanged(c), nil
	}
	return summarizer{
		max: cmp.Or(i.SummaryMax, 512), input: max(8*min(buffer, 1<<27), 100_000), temperature: 0.3,
		report: func(err error) { i.failed.Report("compact.Incremental", i.OnError, err) },
	}.compact(ctx, env, c, p)
}

func (i *Incremental) check() error {
	if i.SummaryMax < 0 {
		return fmt.Errorf("SummaryMax is %d; give a number of tokens, or 0 for 512", i.SummaryMax)
	}
	if err := errors.Join(i.Recent.Check("Recent"), i.Buffer.Check("Buffer")); err != nil {
		return err
	}
	return nil
}
