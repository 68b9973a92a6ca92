package limit

import (
	"context"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Warning tells the model that its steps run out.
//
// It contributes to Briefing, in the tier Observability. A threshold is a fraction of the step budget that remains, or
// a number of steps that remain; each is told once per run, the largest first, at most one per step. A run
// without a limit of steps hears nothing. State: per run, the thresholds told.
type Warning struct {
	Fractions []float64 // each above 0 and below 1; nil: 0.5 and 0.2, unless StepsLeft is given
	StepsLeft []int     // each 1 or more
	// Message makes the text; nil: "[low budget] 20% of step budget remaining (2 steps). Start consolidating."
	Message func(fraction float64, stepsLeft int) string

	told hookkit.PerRun[warned]
}

// warned is what one run was told.
type warned struct {
	thresholds map[float64]bool // by steps left
	step       int              // the last one with a text
	text       string
}

// Bind adds the hook. A threshold outside its range panics.
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

// Briefing contributes the text of the largest threshold that was reached and not told.
func (b *Warning) Briefing(_ context.Context, run *agent.Run, step agent.Step) ([]string, error) {
	if step.Max <= 0 {
		return nil, nil
	}
	left := step.Max - step.Number + 1 // this step is still to be made
	var text string
	b.told.Do(run, func(w *warned) {
		if w.step == step.Number && w.text != "" { // the same prompt, built again
			text = w.text
			return
		}
		for _, at := range b.thresholds(step.Max) {
			if float64(left) <= at && !w.thresholds[at] {
				if w.thresholds == nil {
					w.thresholds = make(map[float64]bool)
				}
				w.thresholds[at] = true
				text = b.text(float64(left)/float64(step.Max), left)
				break
			}
		}
		w.step, w.text = step.Number, text
	})
	if text == "" {
		return nil, nil
	}
	return []string{text}, nil
}

// thresholds returns the thresholds as steps left, the largest first.
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
	return fmt.Sprintf("[low budget] %.0f%% of step budget remaining (%d %s). Start consolidating.", fraction*100, left, steps)
}
