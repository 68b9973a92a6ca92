package runtime_test

import (
	"testing"

	"github.com/hookgen/hookgen/tests/model"
	"github.com/hookgen/hookgen/tests/points"
)

// TestInvariant09_Failure: a panic, an error and a timeout are the same to the policy. FailClosed never continues,
// FailOpen never stops, an observer's failure never reaches the host, no failure is silent.
func TestInvariant09_Failure(t *testing.T) {
	holdsAt(t, points.All, model.Shape{
		Steps: []model.Step{model.Add{}, model.Add{}, model.Add{}, model.Observe{}, model.Trace{}, model.Handle{}, model.Layer{}, model.Fire{}, model.Fire{}},
		Deeds: []model.Deed{model.Continues, model.Contributes, model.Replaces, model.Leaves, model.Fails, model.Panics, model.PanicsNil, model.Lies,
			model.Hangs, model.Obeys, model.EndsGoroutine},
		Acts: []model.Deed{model.Fails, model.Panics, model.EndsGoroutine},
	})
}
