package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
)

// Incremental is a compactor that summarizes rarely and in large pieces, so that most requests share a long prefix with
// the request before. Providers cache such prefixes.
//
// The newest turns, up to Keep tokens, stay unchanged. Older turns stay too until they exceed Buffer tokens. Then one
// model call summarizes them together with the previous summary. If the model fails, the summary is a list of messages,
// as in [Summarize]. A conversation therefore has at most Keep + Buffer + MaxSummary tokens.
//
// The last turn and the newest user message always stay. If the model has refused the conversation as too long, at most
// half of it stays and the rest is summarized.
//
// Incremental is used by pointer and is safe for concurrent use. Compact returns an error if a bound is negative.
type Incremental struct {
	Keep       limit.Bound[int] // tokens; default 16,384
	Buffer     limit.Bound[int] // tokens; default 32,768
	MaxSummary limit.Bound[int] // tokens of the summary, 1 to 1,048,576; default 2000

	OnError func(error) // receives failures of the model; nil: they are logged

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
	recent, buffer := i.Keep.Or(16_384), i.Buffer.Or(32_768)
	if c.Reason == agent.CompactTooLong {
		recent = min(recent, env.CountTokens(c.Messages)/2)
	}
	p := planFor(c.Messages, func(t thread) int {
		first := max(len(t.Turns)-1, 0)
		for first > 0 && env.CountTokens(t.Messages[t.Turns[first-1].From:]) <= recent {
			first--
		}
		return first
	})
	if c.Reason != agent.CompactTooLong && env.CountTokens(p.middle) <= buffer {
		return unchanged(c), nil
	}
	summarize := Summarize{MaxSummary: i.MaxSummary, MaxInput: limit.AtMost(max(8*min(buffer, 1<<27), 100_000))}
	return summarize.compact(ctx, env, c, p, func(err error) { i.failed.Report("window.Incremental", i.OnError, err) })
}

func (i *Incremental) check() error {
	return errors.Join(i.Keep.Check("Keep"), i.Buffer.Check("Buffer"), checkSummary(i.MaxSummary))
}
