package runtime_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/tests/fixture"
)

// takes returns a hook that takes some time.
func takes(d time.Duration) fixture.WatchFunc {
	return func(context.Context, *fixture.Run, fixture.Item) error {
		time.Sleep(d)
		return nil
	}
}

func TestRecordsHaveTheTimesOfSlowHooks(t *testing.T) {
	for name, opts := range map[string][]hookkit.ObserverOption{"at once": nil, "in the background": {hookkit.Async(10)}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []string
				h := new(fixture.Hooks)
				reg := h.ObserveAny(fixture.Record(sinkFunc(func(e hooklog.Event) {
					line := ""
					for _, s := range e.Slow {
						line += fmt.Sprint(s.By, " ", s.After, " ", s.Elapsed, ";")
					}
					got = append(got, line)
				})), opts...)
				h.Watch.Add(takes(hooklog.SlowAfter), hookkit.Named("quick"))
				slow := h.Watch.Add(takes(20*time.Millisecond), hookkit.Named("slow"))
				h.Watch.Add(takes(time.Hour), hookkit.Named("late"), hookkit.Timeout(time.Second))
				h.Watch.Fire(t.Context(), nil, fixture.Item{})
				slow.Remove()
				h.Watch.Fire(t.Context(), nil, fixture.Item{})
				if err := reg.Drain(t.Context()); err != nil {
					t.Fatal(err)
				}
				if want := "[slow 10ms 20ms;late 30ms 1s; late 10ms 1s;]"; fmt.Sprint(got) != want {
					t.Errorf("the records have %q, want %q", fmt.Sprint(got), want)
				}
				time.Sleep(time.Hour) // until the late hooks return
			})
		})
	}
}

func TestFiresWithoutARecordTimeNoHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(fixture.Hooks)
		h.Watch.Add(takes(time.Minute))
		h.Watch.ObserveFunc(func(_ context.Context, _ *fixture.Run, fired fixture.WatchFired[fixture.Item]) {
			if fired.Slow != nil || fired.Elapsed != time.Minute {
				t.Errorf("the observer received %v after %v", fired.Slow, fired.Elapsed)
			}
		})
		h.Watch.Fire(t.Context(), nil, fixture.Item{})
	})
}
