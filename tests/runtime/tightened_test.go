package runtime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// Where failures let the next hook run, one hook may be made to end the fire: its failure comes back, and no exit that was
// in the lead, also when a hook before it has crashed and the fire began again behind that.
func TestAHookThatIsTightenedEndsAFireThatACrashInterrupted(t *testing.T) {
	captureLog(t)
	crash := func(points.Call) points.Reply { panic("crashed") }
	fail := func(points.Call) points.Reply { return points.Reply{Err: errAct, Values: []string{"no"}} }
	tight := []hookkit.GateOption{hookkit.FailClosed()}
	for _, p := range points.Where(func(p *points.Point) bool { return p.Decides() && !p.Closed }) {
		lead := func(points.Call) points.Reply {
			if p.Kind == points.Vote {
				return points.Reply{Outcome: fixture.Ask{}, Values: []string{"a"}}
			}
			return points.Reply{Values: []string{"a"}}
		}
		for name, hooks := range map[string][]struct {
			do   func(points.Call) points.Reply
			opts []hookkit.GateOption
		}{
			"fails behind a crash":   {{lead, nil}, {crash, nil}, {fail, tight}, {lead, nil}},
			"crashes behind a crash": {{lead, nil}, {crash, nil}, {lead, nil}, {crash, tight}, {lead, nil}},
			"crashes":                {{lead, nil}, {crash, tight}, {lead, nil}},
			"fails":                  {{lead, nil}, {fail, tight}, {lead, nil}},
		} {
			for _, watched := range []bool{false, true} {
				var h fixture.Hooks
				var seen []points.Fired
				if watched {
					p.Observe(&h, func(o points.Fired) { seen = append(seen, o) })
				}
				add := func(i int) {
					p.Add(&h, hooks[i].do, append(slices.Clone(hooks[i].opts), hookkit.Named(string(rune('0'+i))))...)
				}
				at := slices.IndexFunc(hooks, func(h struct {
					do   func(points.Call) points.Reply
					opts []hookkit.GateOption
				}) bool {
					return h.opts != nil
				})
				for i := range hooks {
					if p.Reversed {
						i = len(hooks) - 1 - i
					}
					add(i)
				}
				got := p.Fire(t.Context(), &h, newRun(), fixture.Item{}, nil)
				var f *hookkit.Failure
				if !errors.As(got.Err, &f) || f.Hook != string(rune('0'+at)) || got.Exit != nil {
					t.Errorf("%s, a hook that %s: the fire returned %v, %v", p, name, got.Exit, got.Err)
				}
				if want := strings.Repeat("a", at-count(strings.Contains(name, "behind"))); p.Collects && strings.Join(got.Collected, "") != want {
					t.Errorf("%s, a hook that %s: %v was collected", p, name, got.Collected)
				}
				if watched && (len(seen) != 1 || seen[0].Verdict.By != f.Hook || seen[0].Err != got.Err) {
					t.Errorf("%s, a hook that %s: the observer was told %+v", p, name, seen)
				}
			}
		}
	}
}

// At a reversed around point too, what is within a hook that timed out cannot run the act any more.
func TestAfterATimeoutTheWayBackIsOverToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h fixture.Hooks
		var late error
		h.WrapBack.Add(fixture.WrapBackFunc(func(ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapBackNext) (hookkit.Answer[fixture.Result], error) {
			time.Sleep(time.Minute)
			answer, err := next.Call(ctx, item)
			late = err
			return answer, err
		}))
		h.WrapBack.Add(fixture.WrapBackFunc(func(ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapBackNext) (hookkit.Answer[fixture.Result], error) {
			return next.Call(ctx, item)
		}), hookkit.Timeout(time.Second))
		retried := false
		h.WrapBack.Add(fixture.WrapBackFunc(func(ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapBackNext) (hookkit.Answer[fixture.Result], error) {
			_, err := next.Call(ctx, item)
			retried = errors.Is(err, hookkit.ErrTimeout)
			time.Sleep(time.Hour) // the fire is not over when the act would run
			return hookkit.Answered(fixture.Result{By: "outermost"}), nil
		}))
		var a acting
		if r, err := h.WrapBack.Fire(t.Context(), newRun(), fixture.Item{}, a.act); r.By != "outermost" || err != nil || !retried {
			t.Errorf("the fire returned %v, %v", r, err)
		}
		synctest.Wait()
		if a.n != 0 || !errors.Is(late, hookkit.ErrNextOver) {
			t.Errorf("the act ran %d times; the late next returned %v", a.n, late)
		}
	})
}
