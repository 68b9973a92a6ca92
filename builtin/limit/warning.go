package limit

import (
	"context"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Warning notifies the model when few steps remain, so that it can finish its work before the step limit ends the run.
//
// Points: Briefing. Tier: default. State: the warnings given, per run.
//
// A threshold is a fraction of the step limit or a number of steps. For example, with a limit of 10 steps the fraction
// 0.2 adds a text to the prompt of step 9, when 2 steps remain. Each threshold is used once per run, the largest
// first, and at most one per step. In a run without a step limit the hook does nothing.
type Warning struct {
	Fractions []float64 // of the step limit, each above 0 and below 1; nil: 0.5 and 0.2, unless StepsLeft is set
	StepsLeft []int     // each 1 or more
	// Message returns the text for the prompt. Nil: "[low budget] 20% of step budget remaining (2 steps). Start
	// consolidating."
	Message func(fraction float64, stepsLeft int) string

	runs hookkit.PerRun[warnings]
}

// warnings holds the thresholds that a run has reached, and its last text.
type warnings struct {
	passed int // the thresholds that have had their warning
	step   int // the step of text
	text   string
}

// Bind adds the hook. It panics if a threshold is outside its range.
func (b *Warning) Bind(h *agent.Hooks) {
	kit.MustConfig("limit.Warning", b.check())
	h.Briefing.Add(b)
}

func (b *Warning) check() error {
	for i, f := range b.Fractions {
		if !(f > 0 && f < 1) {
			return fmt.Errorf("Fractions[%d] is %v; give a fraction above 0 and below 1", i, f)
		}
	}
	for i, n := range b.StepsLeft {
		if n < 1 {
			return fmt.Errorf("StepsLeft[%d] is %d; give 1 or more", i, n)
		}
	}
	return nil
}

// Briefing contributes the text of the largest threshold that the run has newly reached.
func (b *Warning) Briefing(_ context.Context, run *agent.Run, step agent.Step) ([]string, error) {
	if step.Max <= 0 {
		return nil, nil
	}
	left := step.Max - step.Number + 1 // includes the current step
	var text string
	b.runs.Do(run, func(w *warnings) {
		if w.step == step.Number && w.text != "" { // the loop builds the prompt of this step again
			text = w.text
			return
		}
		if all := b.thresholds(step.Max); w.passed < len(all) && float64(left) <= all[w.passed] {
			w.passed++
			text = b.text(float64(left)/float64(step.Max), left)
		}
		w.step, w.text = step.Number, text
	})
	if text == "" {
		return nil, nil
	}
	return []string{text}, nil
}

// thresholds returns the thresholds in steps left, in descending order.
func (b *Warning) thresholds(total int) []float64 {
	fractions := b.Fractions
	if fractions == nil && len(b.StepsLeft) == 0 {
		fractions = []float64{0.5, 0.2}
	}
	var at []float64
	for _, f := range fractions {
		at = append(at, f*float64(total))
	}
	for _, n := range b.StepsLeft {
		at = append(at, float64(n))
	}
	slices.Sort(at)
	slices.Reverse(at)
	return slices.Compact(at)
}

func (b *Warning) text(fraction float64, left int) string {
	if b.Message != nil {
		return b.Message(fraction, left)
	}
	steps := "steps"
	if left == 1 {
		steps = "step"
	}
	return fmt.Sprintf("[low budget] %.0f%% of step budget remaining (%d %s). Start consolidating.",
		fraction*100, left, steps)
}
