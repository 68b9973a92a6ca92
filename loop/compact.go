package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// vote applies the rewrites that hooks have requested, fires ShouldCompact before the prompt of a step, and compacts
// the conversation if the hooks vote for it.
func (r *run) vote(at agent.Step) {
	for _, w := range r.rewrites.take() {
		r.compactNow(at.Number, agent.CompactRewrite, w.reason, "", w)
	}
	stored := r.conversation.Messages()
	use := agent.ContextUse{
		Step: at.Number, Window: r.limits.Window, Messages: stored,
	}
	prompt, _ := r.conversation.request()
	use.Tokens = plus(plus(r.conversation.CountTokens(prompt), r.tools.tokens()), r.briefingTokens)
	exit, by, err := r.hooks.ShouldCompact.FireBy(r.ctx, r.hookRun, use)
	if err != nil {
		r.warn("ShouldCompact: %v", err)
	}
	if reason := r.compact.take(); reason != nil {
		r.compactNow(at.Number, agent.CompactRequested, *reason, "", r.compactor.get())
		return
	}
	if compact, ok := exit.(agent.Compact); ok {
		r.compactNow(at.Number, agent.CompactProactive, compact.Reason, by.Hook, r.compactor.get())
	}
}

// A rewrite is a change of the conversation by a hook. It works as the compactor of a compaction.
type rewrite struct {
	reason string
	f      func([]agent.Message) []agent.Message
}

// Compact changes the conversation.
func (w rewrite) Compact(_ context.Context, _ *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	return agent.Compacted{Messages: w.f(agentspec.CloneMessages(c.Messages))}, nil
}

// wantRewrite requests a rewrite before the next prompt, for Env.
func (r *run) wantRewrite(reason string, f func([]agent.Message) []agent.Message) {
	if f != nil {
		r.rewrites.change(func(all []rewrite) []rewrite { return append(all, rewrite{reason, f}) })
	}
}

// compactNow compacts the stored conversation unless a hook skips it. It reports whether the conversation was replaced.
func (r *run) compactNow(step int, why agent.CompactionReason, detail, by string, compactor agent.Compactor) bool {
	before := r.conversation.Messages()
	size := r.size(before)
	c := agent.Compaction{Step: step, Reason: why, Detail: detail, By: by, Messages: before, Tokens: size.Tokens}
	exit, err := r.hooks.BeforeCompact.Fire(r.ctx, r.hookRun, c)
	if err != nil {
		r.warn("BeforeCompact: %v", err)
		return false
	}
	if _, ok := exit.(agent.SkipCompaction); ok {
		return false
	}

	var done agent.Compacted
	if r.stream.read() {
		begun := c
		begun.Messages = nil
		r.stream.event(Event{Kind: EventCompacting, Step: step, Compaction: &begun})
		defer func() {
			done.Messages = nil
			r.stream.event(Event{Kind: EventCompacted, Step: step, Compacted: &done})
		}()
	}
	c.Messages = r.conversation.recorded()
	done, err = r.runCompactor(compactor, c)
	done.Step, done.Reason, done.Before = step, why, size
	if err == nil {
		done.After = r.size(done.Messages)
		err = usable(done)
	}
	if err != nil {
		done.Err, done.Messages, done.After = err.Error(), before, size
		r.warn("a compaction was undone: %v", err)
	}
	fired := done
	fired.Messages = agentspec.CloneMessages(done.Messages)
	replacedBy, failed := r.hooks.AfterCompact.FireBy(r.cleanupCtx, r.hookRun, &fired)
	if failed != nil {
		r.warn("AfterCompact: %v; the compaction was undone", failed)
		done.Err, done.After = failed.Error(), size
		return false
	}
	r.warnOwned("AfterCompact", replacedBy, ownedField("Step", fired.Step, step), ownedField("Reason", fired.Reason, why),
		ownedField("Before", fired.Before, size), ownedField("Err", fired.Err, done.Err),
		owned{"Messages of a compaction that was undone", err != nil && !sameMessages(fired.Messages, before)})
	if err != nil {
		return false
	}
	if err := agentspec.CheckPairs(fired.Messages, false); err != nil {
		r.warn("AfterCompact: the messages of a hook were ignored: %v", err)
		fired = done
	}
	r.conversation.replace(fired.Messages)
	return true
}

func sameMessages(a, b []agent.Message) bool {
	return slices.EqualFunc(a, b, func(x, y agent.Message) bool { return sameMessage(&x, &y) })
}

// runCompactor runs a compactor. A panic becomes an error.
func (r *run) runCompactor(compactor agent.Compactor, c agent.Compaction) (done agent.Compacted, err error) {
	if isNil(compactor) {
		return done, errors.New("the agent has no compactor; set Compactor")
	}
	return await(r.ctx, r.waiting("the compactor", r.clock.Now(), 0), func(ctx context.Context) (agent.Compacted, error) {
		return compactor.Compact(ctx, r.env, c)
	})
}

// usable returns an error if a compaction cannot replace the conversation.
func usable(done agent.Compacted) error {
	if len(done.Messages) == 0 {
		return errors.New("the compactor returned no message")
	}
	if err := agentspec.CheckPairs(done.Messages, false); err != nil {
		return fmt.Errorf("the compactor returned an invalid conversation: %w", err)
	}
	if done.Reason != agent.CompactRewrite && !done.Effective() {
		return fmt.Errorf("the compactor did not shrink the conversation of %d messages and %d tokens", done.Before.Messages,
			done.Before.Tokens)
	}
	return nil
}

func (r *run) size(messages []agent.Message) agent.Size {
	return agent.Size{Messages: len(messages), Tokens: r.conversation.CountTokens(messages)}
}
