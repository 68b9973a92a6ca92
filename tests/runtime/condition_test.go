package runtime_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// A hook with a condition runs if the condition holds, and is otherwise skipped, for every law.
func TestConditionalHooksRunWhereTheConditionHolds(t *testing.T) {
	const stopped = "stopped by a hook"
	stop := fixture.Stop{Reason: stopped}
	type (
		run  = *fixture.Run
		item = fixture.Item
	)
	ran := 0
	holds := func(r run, i item) bool { return r.Env.Name == "test" && i.ID == 1 }
	laws := map[string]struct {
		add  func(h *fixture.Hooks)
		list func(h *fixture.Hooks) []hookkit.Info
		fire func(h *fixture.Hooks, i item) string
		done string // the result of the fire if the hook ran
	}{
		"observe": {
			func(h *fixture.Hooks) {
				h.Watch.Add(fixture.WatchWhen("one", holds, fixture.WatchFunc(func(context.Context, run, item) error {
					ran++
					return nil
				})))
			},
			func(h *fixture.Hooks) []hookkit.Info { return h.Watch.List() },
			func(h *fixture.Hooks, i item) string { h.Watch.Fire(t.Context(), newRun(), i); return "" },
			"",
		},
		"check": {
			func(h *fixture.Hooks) {
				h.Verify.Add(fixture.VerifyWhen("one", holds, fixture.VerifyFunc(func(context.Context, run, item) error {
					ran++
					return errAct
				})))
			},
			func(h *fixture.Hooks) []hookkit.Info { return h.Verify.List() },
			func(h *fixture.Hooks, i item) string {
				if err := h.Verify.Fire(t.Context(), newRun(), i); err != nil {
					return "error"
				}
				return ""
			},
			"error",
		},
		"flow": {
			func(h *fixture.Hooks) {
				h.LeaveClosed.Add(fixture.LeaveClosedWhen("one", holds, fixture.LeaveClosedFunc(func(
					context.Context, run, item,
				) (fixture.LeaveClosedOutcome, error) {
					ran++
					return stop, nil
				})))
			},
			func(h *fixture.Hooks) []hookkit.Info { return h.LeaveClosed.List() },
			func(h *fixture.Hooks, i item) string {
				exit, err := h.LeaveClosed.Fire(t.Context(), newRun(), i)
				return reads(exit, err)
			},
			fmt.Sprint(stop),
		},
		"flow that contributes": {
			func(h *fixture.Hooks) {
				h.LeaveGatherClosed.Add(fixture.LeaveGatherClosedWhen("one", holds, fixture.LeaveGatherClosedFunc(func(
					context.Context, run, item,
				) (fixture.LeaveGatherClosedOutcome, []string, error) {
					ran++
					return stop, []string{"a"}, nil
				})))
			},
			func(h *fixture.Hooks) []hookkit.Info { return h.LeaveGatherClosed.List() },
			func(h *fixture.Hooks, i item) string {
				exit, got, err := h.LeaveGatherClosed.Fire(t.Context(), newRun(), i)
				return reads(exit, err) + reads(got, nil)
			},
			fmt.Sprint(stop) + "[a]",
		},
		"collect": {
			func(h *fixture.Hooks) {
				h.Gather.Add(fixture.GatherWhen("one", holds,
					fixture.GatherFunc(func(context.Context, run, item) ([]string, error) { ran++; return []string{"a"}, nil })))
			},
			func(h *fixture.Hooks) []hookkit.Info { return h.Gather.List() },
			func(h *fixture.Hooks, i item) string { return reads(h.Gather.Fire(t.Context(), newRun(), i), nil) },
			"[a]",
		},
		"around": {
			func(h *fixture.Hooks) {
				h.Wrap.Add(fixture.WrapWhen("one", holds, fixture.WrapFunc(func(
					context.Context, run, item, fixture.WrapNext,
				) (hookkit.Answer[fixture.Result], error) {
					ran++
					return hookkit.Answered(fixture.Result{By: "hook"}), nil
				})))
			},
			func(h *fixture.Hooks) []hookkit.Info { return h.Wrap.List() },
			func(h *fixture.Hooks, i item) string {
				r, err := h.Wrap.Fire(t.Context(), newRun(), i, new(countingAct).act)
				if r.By == "act" && err == nil {
					return ""
				}
				return reads(r, err)
			},
			"{hook 0}",
		},
	}
	for name, law := range laws {
		t.Run(name, func(t *testing.T) {
			var h fixture.Hooks
			law.add(&h)
			if infos := law.list(&h); len(infos) != 1 || infos[0].When != "one" {
				t.Errorf("%s: listed as %+v", name, infos)
			}
			ran = 0
			if got := law.fire(&h, item{ID: 2}); got != "" || ran != 0 {
				t.Errorf("%s: where the condition does not hold, the fire came back with %s, and %d hooks ran", name, got, ran)
			}
			if got := law.fire(&h, item{ID: 1}); got != law.done || ran != 1 {
				t.Errorf("%s: where the condition holds, the fire came back with %s, and %d hooks ran", name, got, ran)
			}
		})
	}
}

// reads formats the result of a fire, "" for no result.
func reads(v any, err error) string {
	if err != nil {
		return err.Error()
	}
	if s := fmt.Sprint(v); s != "<nil>" && s != "[]" {
		return s
	}
	return ""
}

// A function binds itself only to its own point.
func TestFunctionsBindThemselves(t *testing.T) {
	var h fixture.Hooks
	h.Use(fixture.WatchFunc(func(context.Context, *fixture.Run, fixture.Item) error {
		return nil
	}), hookkit.Named("watch"))
	h.Use(fixture.VerifyFunc(func(context.Context, *fixture.Run, fixture.Item) error {
		return nil
	}), hookkit.Named("verify"))
	h.Use(fixture.WrapFunc(func(
		ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapNext,
	) (hookkit.Answer[fixture.Result], error) {
		return next.Call(ctx, item)
	}), hookkit.Named("wrap"))
	for _, p := range h.Points() {
		want := map[string]string{"Watch": "[watch]", "Verify": "[verify]", "Wrap": "[wrap]"}[p.Name]
		if got := reads(names(p.Hooks()), nil); got != want {
			t.Errorf("%s has %s, want %s", p.Name, got, want)
		}
	}
}
