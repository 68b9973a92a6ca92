package window

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Auto compacts the stored conversation when the context window fills up, and warns the model before that.
//
// For example, with the zero values and a model that does not report its window, the window counts as 128,000 tokens.
// From 76,800 tokens on, each prompt has a line that says how full the window is. From 102,400 tokens on, Auto also
// votes for a compaction.
//
// The estimate is the loop's: system prompt, tools, briefing and conversation. Auto votes at ShouldCompact and
// contributes to Briefing, both with the priority Mutation. At OnRunStart it replaces the agent's compactor by
// Compactor. After a compaction, whatever its effect, Auto votes again when the estimate has grown by a tenth. For
// example, a compaction that leaves the conversation over CompactAt is not repeated in each step.
//
// Bind panics if Compactor is nil or invalid, and unless WarnAt < CompactAt < Window - Reserve. Auto keeps separate
// state for each run and is safe for concurrent use.
type Auto struct {
	Compactor agent.Compactor
	Window    int // tokens; 0: the window of the model, or 128,000 if it reports none
	WarnAt    int // tokens at which PressureWarning begins; 0: three fifths of the window
	CompactAt int // tokens at which PressureCompact begins; 0: four fifths of the window
	Reserve   int // tokens kept free for the reply; 0: 13,000, but at most a tenth of the window
	// FireAt is the level from which Auto votes: PressureCompact or PressureWarning; empty: PressureCompact.
	FireAt PressureLevel

	OnlyAtStart bool // vote only before the first prompt of a run, so that no chain of calls is cut

	runs hookkit.PerRun[contextRecord]
}

// A Sample is the estimate that was made before one prompt.
type Sample struct {
	Step   int           `json:"step"`
	Level  PressureLevel `json:"level"`
	Tokens int           `json:"tokens"`
}

// Telemetry reports how full the context window was during one run.
type Telemetry struct {
	Samples []Sample      `json:"samples"` // the last 1000
	Peak    PressureLevel `json:"peak"`    // the highest level of all samples
	Fired   []int         `json:"fired"`   // the steps in which Auto voted for a compaction; at most the last 1000
}

// maxSamples bounds the samples of one run.
const maxSamples = 1000

// contextRecord is the state of one run.
type contextRecord struct {
	Telemetry
	seen   bool // at least one sample was taken
	now    Sample
	window int
	votes  growth
}

// Bind adds the hook to its points.
func (c *Auto) Bind(h *agent.Hooks) {
	kit.MustConfig("window.Auto", c.check())
	h.OnRunStart.Add(c, hookkit.Priority(hookkit.Mutation))
	h.ShouldCompact.Add(c, hookkit.Priority(hookkit.Mutation))
	h.AfterCompact.Observe(c)
	h.Briefing.Add(c, hookkit.Priority(hookkit.Mutation))
}

func (c *Auto) check() error {
	t := c.thresholds(0)
	switch {
	case c.Compactor == nil:
		return errors.New("Compactor is nil, so nothing could be compacted; give it one, such as a window.Default")
	case c.Window < 0 || c.WarnAt < 0 || c.CompactAt < 0 || c.Reserve < 0:
		return errors.New("a number is negative; give Window, WarnAt, CompactAt and Reserve no negative one")
	case t.warn >= t.compact || t.compact >= t.block:
		return fmt.Errorf("WarnAt is %d, CompactAt %d and Window - Reserve %d; let each be less than the next", t.warn,
			t.compact, t.block)
	case c.FireAt != "" && c.FireAt != PressureCompact && c.FireAt != PressureWarning:
		return fmt.Errorf("FireAt is %q; make it PressureCompact or PressureWarning", c.FireAt)
	}
	if err := check(c.Compactor); err != nil {
		return fmt.Errorf("Compactor: %w", err)
	}
	return nil
}

// thresholds returns the thresholds for a model with this window, or with an unknown one if window is 0.
func (c *Auto) thresholds(window int) thresholds {
	whole := cmp.Or(c.Window, max(window, 0), unknownWindow)
	reserve := cmp.Or(c.Reserve, min(replyTokens, whole/10))
	return thresholds{whole, cmp.Or(c.WarnAt, whole/5*3), cmp.Or(c.CompactAt, whole/5*4), whole - reserve}
}

// OnRunStart makes the run use the compactor.
func (c *Auto) OnRunStart(_ context.Context, run *agent.Run, _ agent.RunStart) (agent.OnRunStartOutcome, error) {
	if env := kit.Env(run); env != nil && env.UseCompactor != nil {
		env.UseCompactor(c.Compactor)
	}
	return nil, nil
}

// ShouldCompact takes a sample and votes.
func (c *Auto) ShouldCompact(
	_ context.Context, run *agent.Run, use agent.ContextUse,
) (agent.ShouldCompactOutcome, error) {
	t := c.thresholds(use.Window)
	level, _ := t.level(use.Tokens)
	sample := Sample{use.Step, level, use.Tokens}
	var vote bool
	c.runs.Do(run, func(r *contextRecord) {
		first := !r.seen
		r.take(sample, t.window)
		vote = r.votes.Allows(sample.Tokens,
			level.rank() >= cmp.Or(c.FireAt, PressureCompact).rank() && (first || !c.OnlyAtStart))
		if vote {
			r.Fired = lastOf(append(r.Fired, use.Step), maxSamples)
		}
	})
	if !vote {
		return nil, nil
	}
	return agent.Compact{Reason: fmt.Sprintf("context %s: %d of %d tokens", level, use.Tokens, t.window)}, nil
}

func (r *contextRecord) take(s Sample, window int) {
	r.now, r.window, r.seen = s, window, true
	r.Samples = lastOf(append(r.Samples, s), maxSamples)
	if s.Level.rank() > r.Peak.rank() {
		r.Peak = s.Level
	}
}

// lastOf returns the last n elements of a list.
func lastOf[T any](list []T, n int) []T {
	if over := len(list) - n; over > 0 {
		return slices.Delete(list, 0, over)
	}
	return list
}

// ObserveAfterCompact updates the estimate after a compaction and postpones the next vote.
func (c *Auto) ObserveAfterCompact(_ context.Context, run *agent.Run, fired agent.AfterCompactFired[agent.Compacted]) {
	done := fired.Final
	c.runs.Do(run, func(r *contextRecord) {
		r.votes.Compacted(done)
		if done.Err != "" || !done.Effective() {
			return
		}
		r.now.Tokens = max(r.now.Tokens-done.Before.Tokens+done.After.Tokens, 0)
		r.now.Level, _ = c.thresholds(r.window).level(r.now.Tokens)
	})
}

// Briefing warns the model from PressureWarning on.
func (c *Auto) Briefing(_ context.Context, run *agent.Run, _ agent.Step) ([]string, error) {
	var now Sample
	var window int
	c.runs.Do(run, func(r *contextRecord) { now, window = r.now, r.window })
	if now.Level.rank() < PressureWarning.rank() {
		return nil, nil
	}
	return []string{fmt.Sprintf(
		"[context %s] About %d%% of the context window is used (%d of %d tokens). Be brief, and finish what is open.",
		now.Level, int64(now.Tokens)*100/int64(max(window, 1)), now.Tokens, window)}, nil
}

// Telemetry returns a copy of the telemetry of a run.
func (c *Auto) Telemetry(run *agent.Run) Telemetry {
	var t Telemetry
	c.runs.Do(run, func(r *contextRecord) {
		t = Telemetry{slices.Clone(r.Samples), cmp.Or(r.Peak, PressureOK), slices.Clone(r.Fired)}
	})
	return t
}
