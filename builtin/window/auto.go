package window

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/nextprompt"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Auto compacts the stored conversation when the context window fills up, and warns the model before that.
//
// For example, with the zero values and a model that does not report its window, the window counts as 128,000 tokens.
// From 76,800 tokens on, each prompt has a line that says how full the window is. From 102,400 tokens on, Auto also
// votes for a compaction. In the last tenth of the window, PressureBlock, the line asks the model to answer now.
//
// The estimate is the loop's: system prompt, tools, briefing and conversation. Auto votes at ShouldCompact and
// contributes to Briefing, both with the priority Mutation. At OnRunStart it replaces the agent's compactor by
// Compactor. After a compaction, whatever its effect, Auto votes again when the estimate has grown by a tenth. For
// example, a compaction that leaves the conversation over CompactAt is not repeated in each step.
//
// A compaction may hide names that the model has worked with, for example paths. If it hides at least three, the next
// prompt lists up to eight of them.
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

	// OnPressure receives the first level of a run and every change of it; nil: nobody does.
	OnPressure func(ctx context.Context, run *agent.Run, p Pressure)

	runs hookkit.PerRun[contextRecord]
}

// Telemetry reports how full the context window was during one run.
type Telemetry struct {
	Samples []Pressure    `json:"samples"` // before the last 1000 prompts
	Peak    PressureLevel `json:"peak"`    // the highest level of all samples
	Fired   []int         `json:"fired"`   // the steps in which Auto voted for a compaction; at most the last 1000
}

// maxSamples bounds the samples of one run.
const maxSamples = 1000

// contextRecord is the state of one run.
type contextRecord struct {
	Telemetry
	now   Pressure // the last sample; its level is empty before the first one
	votes growth
	known []string // names in the conversation before the current compaction
	notes nextprompt.Queue
}

// Bind adds the hook to its points.
func (c *Auto) Bind(h *agent.Hooks) {
	kit.MustConfig("window.Auto", c.check())
	tier := hookkit.Priority(hookkit.Mutation)
	h.OnRunStart.Add(c, tier)
	h.ShouldCompact.Add(c, tier)
	h.BeforeCompact.Observe(c)
	h.AfterCompact.Observe(c)
	h.Briefing.Add(c, tier)
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

// ShouldCompact takes a sample, reports a changed level, and votes.
func (c *Auto) ShouldCompact(
	ctx context.Context, run *agent.Run, use agent.ContextUse,
) (agent.ShouldCompactOutcome, error) {
	now := c.thresholds(use.Window).pressure(use.Step, use.Tokens)
	var vote, changed bool
	c.runs.Do(run, func(r *contextRecord) {
		first := r.now.Level == ""
		changed = r.now.Level != now.Level
		r.now, r.Samples = now, lastOf(append(r.Samples, now), maxSamples)
		if now.Level.rank() > r.Peak.rank() {
			r.Peak = now.Level
		}
		vote = r.votes.Allows(now.EstimatedTokens,
			now.Level.rank() >= cmp.Or(c.FireAt, PressureCompact).rank() && (first || !c.OnlyAtStart))
		if vote {
			r.Fired = lastOf(append(r.Fired, use.Step), maxSamples)
		}
	})
	if changed && c.OnPressure != nil {
		c.OnPressure(ctx, run, now)
	}
	if !vote {
		return nil, nil
	}
	return agent.Compact{
		Reason: fmt.Sprintf("context %s: %d of %d tokens", now.Level, now.EstimatedTokens, now.ContextWindow),
	}, nil
}

// lastOf returns the last n elements of a list.
func lastOf[T any](list []T, n int) []T { return slices.Delete(list, 0, max(len(list)-n, 0)) }

// ObserveBeforeCompact records the names that the model knows.
func (c *Auto) ObserveBeforeCompact(
	_ context.Context, run *agent.Run, fired agent.BeforeCompactFired[agent.Compaction],
) {
	known := argumentNames(fired.Payload.Messages)
	c.runs.Do(run, func(r *contextRecord) { r.known = known })
}

// ObserveAfterCompact postpones the next vote. After an effective compaction it also updates the estimate, and records
// the names that are hidden now.
func (c *Auto) ObserveAfterCompact(_ context.Context, run *agent.Run, fired agent.AfterCompactFired[agent.Compacted]) {
	done := fired.Final
	effective := done.Err == "" && done.Effective()
	var known []string
	c.runs.Do(run, func(r *contextRecord) {
		r.votes.Compacted(done)
		known, r.known = r.known, nil
		if effective && r.now.Level != "" {
			tokens := max(r.now.EstimatedTokens-done.Before.Tokens+done.After.Tokens, 0)
			r.now = c.thresholds(r.now.ContextWindow).pressure(r.now.Step, tokens)
		}
	})
	if !effective {
		return
	}
	if note := hiddenNote(known, done.Messages); note != "" {
		c.runs.Do(run, func(r *contextRecord) { r.notes.Put(fingerprint.Of([]byte(note)), note) })
	}
}

// Briefing lists the names that a compaction has hidden, and warns the model from PressureWarning on.
func (c *Auto) Briefing(_ context.Context, run *agent.Run, step agent.Step) ([]string, error) {
	var texts []string
	var now Pressure
	c.runs.Do(run, func(r *contextRecord) { texts, now = slices.Clone(r.notes.Take(step.Number)), r.now })
	if now.Level.rank() < PressureWarning.rank() {
		return texts, nil
	}
	advice := "Be brief, and finish what is open."
	if now.Level == PressureBlock {
		advice = "Earlier results may be missing from this prompt. Answer now with what you have, and start nothing new."
	}
	return append(texts, fmt.Sprintf("[context %s] About %.0f%% of the context window is used (%d of %d tokens). %s",
		now.Level, math.Floor(now.PercentUsed), now.EstimatedTokens, now.ContextWindow, advice)), nil
}

// Telemetry returns a copy of the telemetry of a run.
func (c *Auto) Telemetry(run *agent.Run) Telemetry {
	var t Telemetry
	c.runs.Do(run, func(r *contextRecord) {
		t = Telemetry{slices.Clone(r.Samples), cmp.Or(r.Peak, PressureOK), slices.Clone(r.Fired)}
	})
	return t
}
