package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Chain is a compactor that tries its stages in order and takes the first result that makes the conversation smaller.
//
// For example, the stages Prune, Summarize and Truncate avoid a model call whenever pruning is enough. A stage that
// fails, has no effect, or separates a call from its result is skipped; the next stage gets the original conversation.
// ModelCalls counts the model calls of all stages. If no stage has an effect, Compact returns the conversation
// unchanged, together with the errors of the stages that failed.
//
// Cleanup functions run after a stage has succeeded; their failures are reported and change nothing. Use a Chain by
// pointer. It is safe for concurrent use if its stages are. Compact returns an error if Stages is empty.
type Chain struct {
	Stages  []agent.Compactor
	Cleanup []func(ctx context.Context, done agent.Compacted) error
	OnError func(error) // receives failures of stages and cleanups; nil: they are logged

	failed kit.Reporter
}

// Compact implements agent.Compactor.
func (h *Chain) Compact(ctx context.Context, env *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	if err := h.check(); err != nil {
		return agent.Compacted{}, fmt.Errorf("Chain: %w", err)
	}
	var errs []error
	asked := 0
	for i, stage := range h.Stages {
		done, err := stage.Compact(ctx, env, c)
		if ctx.Err() != nil {
			return agent.Compacted{}, context.Cause(ctx)
		}
		asked += done.ModelCalls
		if err == nil {
			err = agentspec.CheckPairs(done.Messages, false)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("stage %d (%T): %w", i+1, stage, err))
			continue
		}
		if !smaller(env, c, done) {
			continue
		}
		h.report(errors.Join(errs...))
		done.ModelCalls = asked
		for i, f := range h.Cleanup {
			if err := f(ctx, done); err != nil {
				h.report(fmt.Errorf("cleanup %d: %w", i+1, err))
			}
		}
		return done, nil
	}
	done := unchanged(c)
	done.ModelCalls = asked
	return done, errors.Join(errs...)
}

func (h *Chain) report(err error) { h.failed.Report("window.Chain", h.OnError, err) }

func (h *Chain) check() error {
	if len(h.Stages) == 0 {
		return errors.New("there are no Stages; give it at least one")
	}
	for i, s := range h.Stages {
		if s == nil {
			return fmt.Errorf("Stages[%d] is nil; leave it out", i)
		}
		if err := check(s); err != nil {
			return fmt.Errorf("Stages[%d]: %w", i, err)
		}
	}
	for i, f := range h.Cleanup {
		if f == nil {
			return fmt.Errorf("Cleanup[%d] is nil; leave it out", i)
		}
	}
	return nil
}

// Default is a compactor that works without configuration. It first prunes old tool results. If the conversation still
// has at least Summarize.Trigger tokens, it summarizes all but the recent turns. If neither made the conversation
// smaller, it drops all but the recent turns.
//
// If the model has refused the conversation as too long, pruning alone is never enough. The summary is made from the
// conversation with its full tool results.
//
// Default is used by pointer; its zero value is ready to use. It is safe for concurrent use.
type Default struct {
	Prune     Prune
	Summarize Summarize
	Truncate  Truncate
}

// Compact implements agent.Compactor.
func (d *Default) Compact(ctx context.Context, env *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	if err := d.check(); err != nil {
		return agent.Compacted{}, fmt.Errorf("window.Default: %w", err)
	}
	enough := compactorFunc(func(ctx context.Context, env *agent.Env, c agent.Compaction) (agent.Compacted, error) {
		pruned, err := d.Prune.Compact(ctx, env, c)
		if c.Reason == agent.CompactTooLong || env.CountTokens(pruned.Messages) >= d.Summarize.trigger() {
			return unchanged(c), err
		}
		return pruned, err
	})
	return (&Chain{Stages: []agent.Compactor{enough, &d.Summarize, d.Prune, d.Truncate}}).Compact(ctx, env, c)
}

type compactorFunc func(context.Context, *agent.Env, agent.Compaction) (agent.Compacted, error)

func (f compactorFunc) Compact(ctx context.Context, env *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	return f(ctx, env, c)
}

func (d *Default) check() error {
	if err := d.Prune.check(); err != nil {
		return fmt.Errorf("Prune: %w", err)
	}
	if err := d.Truncate.check(); err != nil {
		return fmt.Errorf("Truncate: %w", err)
	}
	if err := d.Summarize.check(); err != nil {
		return fmt.Errorf("Summarize: %w", err)
	}
	return nil
}
