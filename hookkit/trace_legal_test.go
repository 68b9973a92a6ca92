package hookkit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

// TestATraceShowsAnIllegalOutcomeAsAFailure keeps a hook that returned what is not legal from looking like one that
// decided.
func TestATraceShowsAnIllegalOutcomeAsAFailure(t *testing.T) {
	var h hooks
	var recorder hookkit.Recorder
	h.Trace(&recorder)
	h.Second.Add(gateFunc(func(context.Context, *run, int) (any, error) { return &stop{}, nil }))
	if _, err := h.Second.Fire(t.Context(), hookkit.NewRun(""), 1); !errors.Is(err, hookkit.ErrIllegal) {
		t.Fatalf("the fire returned %v", err)
	}
	e := recorder.Events()[0]
	if e.Kind != hookkit.HookRan || e.Decision != "Error" || !errors.Is(e.Failure, hookkit.ErrIllegal) {
		t.Errorf("the event is %+v", e)
	}
}
