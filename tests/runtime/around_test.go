package runtime_test

import (
	"errors"
	"testing"

	"github.com/hookgen/hookgen/tests/model"
	"github.com/hookgen/hookgen/tests/points"
)

// TestInvariant07_Around: nesting is the firing order; next called zero times without an answer is a failure; the
// inner act runs exactly as often as next was called; the answer that the outermost hook returns counts.
func TestInvariant07_Around(t *testing.T) {
	around := points.Of(points.Around)
	shape := model.Shape{
		Steps: []model.Step{model.Add{}, model.Add{}, model.Add{}, model.Observe{}, model.Trace{}, model.Fire{}, model.Fire{}},
		Deeds: []model.Deed{model.Continues, model.Continues, model.Replaces, model.CallsTwice, model.KeepsFirst, model.Answers, model.AnswersAfter,
			model.Rescues, model.Fails, model.FailsAfter, model.Panics, model.PanicsAfter, model.Forgets, model.Hangs},
		Acts: []model.Deed{model.Continues, model.Fails, model.Panics},
	}
	for range 5 { // of which there are few points
		holdsAt(t, around, shape)
	}
}

// The errors of hooks and acts.
var errAct = errors.New("the act's error")
