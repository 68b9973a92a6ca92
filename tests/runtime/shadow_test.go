package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/remote"
)

// TestShadow: a candidate that is the same as the live hooks decides the same, and live decisions are those without it.
func TestShadow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var live, candidate, alone fixture.Hooks
		points := wirePoints(&live)
		at := rapid.IntRange(0, len(points)-1).Draw(t, "point")
		turns := []turn{{at, rapid.IntRange(1, 3).Draw(t, "every"), remote.DrawHook(t, points[at])}}
		other := append([]turn{{at, 2, remote.DrawHook(t, points[at])}}, turns...)
		bind(&live, turns)
		bind(&alone, turns)
		changed := rapid.Bool().Draw(t, "changed")
		if changed {
			bind(&candidate, other)
		} else {
			bind(&candidate, turns)
		}
		compared := 0
		shadow := hooklog.Shadow(live.Points(), candidate.Points(), func(c hooklog.Comparison) {
			if compared++; c.Status != hooklog.Same && !changed {
				t.Errorf("%v: %s", c.Status, c.Why)
			}
		})
		run, same := fixture.NewRun(nil), fixture.NewRun(nil)
		const fires = 4
		for range fires {
			payload := remote.DrawValue(t, reflect.TypeOf(points[at].New()).Elem(), "payload").Interface()
			got, _ := points[at].Fire(t.Context(), run, payload)
			want, _ := wirePoints(&alone)[at].Fire(t.Context(), same, payload)
			if got.Decision != want.Decision || got.Reason != want.Reason || !reflect.DeepEqual(got.Exit, want.Exit) ||
				!reflect.DeepEqual(got.Final, want.Final) || !reflect.DeepEqual(got.Collected, want.Collected) {
				t.Errorf("with a candidate %+v, without %+v", got, want)
			}
		}
		if err := end(t.Context(), shadow); err != nil || compared != fires || shadow.Dropped() != 0 {
			t.Errorf("%d of %d fires were compared, %d dropped, %v", compared, fires, shadow.Dropped(), err)
		}
	})
}

// end ends a comparison after the fires so far.
func end(ctx context.Context, shadow *hookkit.Registration) error {
	shadow.Remove()
	return shadow.Drain(ctx)
}

// TestCandidatesDoNotAffectFires lets a candidate misbehave in each way. Time is that of the bubble, which also sees
// that no goroutine remains.
func TestCandidatesDoNotAffectFires(t *testing.T) {
	type decide = func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error)
	for _, c := range []struct {
		name      string
		candidate decide
		status    hooklog.Status
		why       string
	}{
		{"nothing", func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
			return nil, nil
		}, hooklog.Same, ""},
		{"another decision", func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
			return fixture.Stop{Reason: "no"}, nil
		}, hooklog.Changed, "the decision was continue and is Stop"},
		{"a panic", func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
			panic("oh")
		}, hooklog.Failed, "oh"},
		{"an error", func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
			return nil, errors.New("no disk")
		}, hooklog.Failed, "no disk"},
		{"changes in place", func(_ context.Context, _ *fixture.Run, i fixture.Item) (fixture.LeaveClosedOutcome, error) {
			//hookvet:ignore sharedpayload this test is about the change
			i.Trail[0], i.Marks["a"] = "changed", 2
			return nil, nil
		}, hooklog.Changed, "the payload after the hooks was"},
		{"slow", func(ctx context.Context, _ *fixture.Run, _ fixture.Item) (fixture.LeaveClosedOutcome, error) {
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour):
			}
			return nil, nil
		}, hooklog.Failed, "no decision within 1s"},
		{"deaf", func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
			time.Sleep(time.Hour)
			return nil, nil
		}, hooklog.Failed, "no decision within 1s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var live, candidate fixture.Hooks
				live.HandleFailures(func(_ context.Context, f *hookkit.Failure) { t.Error(f) })
				candidate.HandleFailures(func(context.Context, *hookkit.Failure) {})
				candidate.LeaveClosed.AddFunc(c.candidate)
				var reports []string
				shadow := hooklog.Shadow(live.Points(), candidate.Points(), func(got hooklog.Comparison) {
					reports = append(reports, got.Why)
					if got.Status != c.status || !strings.Contains(got.Why, c.why) {
						t.Errorf("%v, %q; want %v, %q", got.Status, got.Why, c.status, c.why)
					}
				})
				item := fixture.Item{Trail: []string{"a"}, Marks: map[string]int{"a": 1}}
				begun := time.Now()
				const fires = 3
				for range fires {
					if exit, err := live.LeaveClosed.Fire(t.Context(), fixture.NewRun(nil), item); exit != nil || err != nil {
						t.Errorf("the fire returned %v, %v", exit, err)
					}
				}
				if waited := time.Since(begun); waited > 0 {
					t.Errorf("the fires waited %v", waited)
				}
				if err := end(t.Context(), shadow); err != nil {
					t.Error(err)
				}
				if !slices.Equal(item.Trail, []string{"a"}) || !maps.Equal(item.Marks, map[string]int{"a": 1}) {
					t.Errorf("the item is %+v", item)
				}
				if len(reports) != fires {
					t.Errorf("reports %q, want %d", reports, fires)
				}
				if n := len(live.LeaveClosed.List()); n != 0 {
					t.Errorf("%d live hooks", n)
				}
				time.Sleep(fires * time.Hour) // until the deaf candidate has returned
			})
		})
	}
}

// While the candidate hangs, fires are dropped, counted and told. The wait of Drain is bounded, and so is the number of
// fires that hang.
func TestHangingCandidatesDropFires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var live, candidate fixture.Hooks
		release := make(chan struct{})
		var hanging, told atomic.Int64
		reports := map[string]int{}
		candidate.LeaveClosed.AddFunc(func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
			hanging.Add(1)
			<-release
			return nil, nil
		})
		live.HandleFailures(func(_ context.Context, f *hookkit.Failure) {
			if told.Add(1); !errors.Is(f, hookkit.ErrDropped) {
				t.Error(f)
			}
		})
		shadow := hooklog.Shadow(live.Points(), candidate.Points(), func(c hooklog.Comparison) {
			reports[c.Why]++
		}, hooklog.Limit(time.Minute))
		const fires = 1000
		for range fires {
			if _, err := live.LeaveClosed.Fire(t.Context(), fixture.NewRun(nil), fixture.Item{}); err != nil {
				t.Error(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if err := end(ctx, shadow); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Drain returned %v", err)
		}
		if err := end(t.Context(), shadow); err != nil {
			t.Error(err)
		}
		late, unseen := reports["no decision within 1m0s"], reports["16 earlier fires of the candidate have not returned"]
		dropped := int(shadow.Dropped())
		if late+unseen+dropped != fires || hanging.Load() != 16 || late != 16 || told.Load() == 0 {
			t.Errorf("%d fires hang; reports %v, %d dropped, of %d; told %d times", hanging.Load(), reports, dropped, fires,
				told.Load())
		}
		close(release)
	})
}

// A layer of the live hooks can be a candidate, and is shown each fire once.
func TestALayerCanBeACandidate(t *testing.T) {
	var live fixture.Hooks
	layer := live.Layer("candidate")
	layer.LeaveClosed.AddFunc(func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
		return fixture.Skip{}, nil
	})
	var got []string
	shadow := hooklog.Shadow(live.Points(), layer.Points(), func(c hooklog.Comparison) {
		got = append(got, c.Is.Decision)
	})
	if _, err := live.LeaveClosed.Fire(t.Context(), fixture.NewRun(nil), fixture.Item{}); err != nil {
		t.Error(err)
	}
	if err := end(t.Context(), shadow); err != nil || !slices.Equal(got, []string{"Skip"}) {
		t.Errorf("%v, the decisions are %v", err, got)
	}
}

// A candidate sees the identity of the live run, and the environment that Runs gives.
func TestCandidatesSeeTheLiveRun(t *testing.T) {
	var live, candidate fixture.Hooks
	var got []string
	candidate.Watch.AddFunc(func(_ context.Context, run *fixture.Run, _ fixture.Item) error {
		got = append(got, fmt.Sprint(run.ID(), run.Parent(), run.Env.Name))
		return nil
	})
	runs := hooklog.Runs(func(info wire.RunInfo, _ func() time.Time) hookkit.AnyRun {
		return hookkit.ResumeRun(&fixture.World{Name: "world"}, info.ID, info.Parent, info.Root)
	})
	shadow := hooklog.Shadow(live.Points(), candidate.Points(), func(c hooklog.Comparison) {
		if c.Status != hooklog.Same {
			t.Errorf("%+v", c)
		}
	}, runs)
	live.Watch.Fire(t.Context(), hookkit.NewRunWithID[*fixture.World]("a", nil).ChildWithID("b", nil), fixture.Item{})
	if err := end(t.Context(), shadow); err != nil || !slices.Equal(got, []string{"baworld"}) {
		t.Errorf("%v, the candidate saw %v", err, got)
	}
}

func TestWrongShadowsPanic(t *testing.T) {
	var live, candidate fixture.Hooks
	report := func(hooklog.Comparison) {}
	for name, c := range map[string]struct {
		call func()
		want string
	}{
		"the live hooks": {func() { hooklog.Shadow(live.Points(), live.Points(), report) },
			"the candidate of Shadow is the live"},
		"no function": {func() { hooklog.Shadow(live.Points(), candidate.Points(), nil) }, "the function of Shadow is nil"},
		"no limit":    {func() { hooklog.Limit(0) }, "the limit must be positive"},
		"no runs":     {func() { hooklog.Runs(nil) }, "the function of Runs is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := panicOf(c.call); !strings.Contains(got, c.want) {
				t.Errorf("it panicked with %q, want %q", got, c.want)
			}
		})
	}
}

// A panic of the function that gets the comparisons is logged, and the next comparison is reported.
func TestShadowSurvivesItsReports(t *testing.T) {
	var live, candidate fixture.Hooks
	log := captureLog(t)
	candidate.LeaveClosed.AddFunc(func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
		return fixture.Skip{}, nil
	})
	reports := 0
	shadow := hooklog.Shadow(live.Points(), candidate.Points(), func(hooklog.Comparison) {
		reports++
		panic("no pager")
	})
	for range 2 {
		if _, err := live.LeaveClosed.Fire(t.Context(), fixture.NewRun(nil), fixture.Item{}); err != nil {
			t.Error(err)
		}
	}
	if err := end(t.Context(), shadow); err != nil || reports != 2 || !strings.Contains(log.String(), "no pager") {
		t.Errorf("%v, %d reports, logged %q", err, reports, log)
	}
}
