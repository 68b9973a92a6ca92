package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// traced fires a point with a tracer, and returns the event of its only hook.
func traced(t *testing.T, fire func(h *fixture.Hooks)) hookkit.Event {
	t.Helper()
	var h fixture.Hooks
	var recorder hookkit.TraceRecorder
	h.Trace(&recorder)
	fire(&h)
	events := recorder.Events()
	if len(events) != 2 || events[0].Kind != hookkit.EventHook {
		t.Fatalf("the tracer was notified %+v", events)
	}
	return events[0]
}

// The event of a hook shows its decision. If the hook failed, the event shows only the failure.
func TestTraceShowsTheDecisionOfAHook(t *testing.T) {
	captureLog(t)
	gather := func(out fixture.LeaveGatherOpenOutcome, values []string) func(h *fixture.Hooks) {
		return func(h *fixture.Hooks) {
			h.LeaveGatherOpen.Add(fixture.LeaveGatherOpenFunc(func(
				context.Context, *fixture.Run, fixture.Item,
			) (fixture.LeaveGatherOpenOutcome, []string, error) {
				return out, values, nil
			}))
			_, _, _ = h.LeaveGatherOpen.Fire(t.Context(), newRun(), fixture.Item{})
		}
	}
	leave := func(do func() (fixture.LeaveOpenOutcome, error)) func(h *fixture.Hooks) {
		return func(h *fixture.Hooks) {
			h.LeaveOpen.Add(fixture.LeaveOpenFunc(func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveOpenOutcome,
				error) {
				return do()
			}))
			_, _ = h.LeaveOpen.Fire(t.Context(), newRun(), fixture.Item{})
		}
	}
	around := func(do wrapHook) func(h *fixture.Hooks) {
		return func(h *fixture.Hooks) {
			wrap(h, do)
			_, _ = fireWrap(h, new(countingAct))
		}
	}
	for name, test := range map[string]struct {
		fire             func(h *fixture.Hooks)
		decision, reason string
		failure          error // nil: no failure
	}{
		"goes on":     {gather(nil, nil), "", "", nil},
		"contributes": {gather(nil, []string{"a"}), "Collect", "", nil},
		"leaves":      {gather(fixture.Stop{Reason: "enough"}, []string{"a"}), "Stop", "enough", nil},
		"leaves illegally": {
			//hookvet:ignore exitvalue this test is about the failure
			gather(&fixture.Stop{Reason: "enough"}, []string{"a"}), "Error", "outcome *fixture.Stop is not legal here",
			hookkit.ErrIllegal,
		},
		"embeds an exit": {
			//hookvet:ignore exitvalue this test is about the failure
			leave(func() (fixture.LeaveOpenOutcome, error) { return forged{}, nil }), "Error",
			"outcome runtime_test.forged is not legal here", hookkit.ErrIllegal,
		},
		"fails": {
			leave(func() (fixture.LeaveOpenOutcome, error) { return fixture.Stop{}, errAct }), "Error", errAct.Error(), errAct,
		},
		"panics": {
			leave(func() (fixture.LeaveOpenOutcome, error) { panic(errAct) }), "Error", "panic: " + errAct.Error(), errAct,
		},
		"calls next":   {around(passing), "", "", nil},
		"answers":      {around(answering), "Answered", "", nil},
		"does neither": {around(forgetting), "Error", hookkit.ErrNoAnswer.Error(), hookkit.ErrNoAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			e := traced(t, test.fire)
			if e.Decision != test.decision || !strings.HasPrefix(e.Reason, test.reason) ||
				(e.Reason == "") != (test.reason == "") {
				t.Errorf("a hook that %s: %q, %q", name, e.Decision, e.Reason)
			}
			if (e.Failure == nil) != (test.failure == nil) || !errors.Is(e.Failure, test.failure) {
				t.Errorf("a hook that %s: the failure is %v", name, e.Failure)
			}
		})
	}
}

// answering is a hook that answers itself.
func answering(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
	return hookkit.Answered(fixture.Result{By: "hook"}), nil
}

// forgetting is a hook that neither continues nor answers.
func forgetting(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
	return hookkit.Answer[fixture.Result]{}, nil
}

// If the act panics, the caller of the fire gets the failure, so nothing is logged.
func TestPanicOfTheActIsNotLogged(t *testing.T) {
	logged := captureLog(t)
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		wrap(h, passing)
		if _, err := fireWrap(h, &countingAct{
			do: func(int) (fixture.Result, error) { panic(errAct) },
		}); !errors.Is(err, errAct) {
			t.Errorf("the fire returned %v", err)
		}
	})
	if logged.Len() > 0 {
		t.Errorf("logged:\n%s", logged)
	}
}
