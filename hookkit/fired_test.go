package hookkit_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
)

// A law is one point of the test spec, as the tests of all laws use it.
type law struct {
	name        string
	failsClosed bool // a failure ends the fire
	point       func(h *hooks) hookkit.AnyPoint
	fireBy      func(h *hooks, c ctx, r *run) (by hookkit.By, bys []hookkit.By, err error)
	fire        func(h *hooks, c ctx, r *run) error
}

func acts(ctx, int) (string, error) { return "acted", nil }

// laws are the points where hooks decide or contribute.
var laws = []law{
	{"First", false, at(0),
		func(h *hooks, c ctx, r *run) (by hookkit.By, bys []hookkit.By, err error) {
			_, by, err = h.First.FireBy(c, r, 0)
			return
		},
		func(h *hooks, c ctx, r *run) error { _, err := h.First.Fire(c, r, 0); return err }},
	{"Second", true, at(1),
		func(h *hooks, c ctx, r *run) (by hookkit.By, bys []hookkit.By, err error) {
			_, by, err = h.Second.FireBy(c, r, 0)
			return
		},
		func(h *hooks, c ctx, r *run) error { _, err := h.Second.Fire(c, r, 0); return err }},
	{"Last", false, at(2),
		func(h *hooks, c ctx, r *run) (by hookkit.By, bys []hookkit.By, err error) {
			_, by, err = h.Last.FireBy(c, r, 0)
			return
		},
		func(h *hooks, c ctx, r *run) error { _, err := h.Last.Fire(c, r, 0); return err }},
	{"Shape", false, at(3),
		func(h *hooks, c ctx, r *run) (by hookkit.By, bys []hookkit.By, err error) {
			by, err = h.Shape.FireBy(c, r, new(testpoints.Letter))
			return
		},
		func(h *hooks, c ctx, r *run) error { return h.Shape.Fire(c, r, new(testpoints.Letter)) }},
	{"Poll", true, at(4),
		func(h *hooks, c ctx, r *run) (by hookkit.By, bys []hookkit.By, err error) {
			_, by, err = h.Poll.FireBy(c, r, 0)
			return
		},
		func(h *hooks, c ctx, r *run) error { _, err := h.Poll.Fire(c, r, 0); return err }},
	{"PollOpen", false, at(5),
		func(h *hooks, c ctx, r *run) (by hookkit.By, bys []hookkit.By, err error) {
			_, by, err = h.PollOpen.FireBy(c, r, 0)
			return
		},
		func(h *hooks, c ctx, r *run) error { _, err := h.PollOpen.Fire(c, r, 0); return err }},
	{"Gather", false, at(6),
		func(h *hooks, c ctx, r *run) (by hookkit.By, bys []hookkit.By, err error) {
			_, bys = h.Gather.FireBy(c, r, 0)
			return
		},
		func(h *hooks, c ctx, r *run) error { h.Gather.Fire(c, r, 0); return nil }},
	{"GatherClosed", true, at(7),
		func(h *hooks, c ctx, r *run) (by hookkit.By, bys []hookkit.By, err error) {
			_, bys, err = h.GatherClosed.FireBy(c, r, 0)
			return
		},
		func(h *hooks, c ctx, r *run) error { _, err := h.GatherClosed.Fire(c, r, 0); return err }},
	{"Review", false, at(8),
		func(h *hooks, c ctx, r *run) (by hookkit.By, bys []hookkit.By, err error) {
			_, by, _, bys, err = h.Review.FireBy(c, r, new(testpoints.Letter))
			return
		},
		func(h *hooks, c ctx, r *run) error {
			_, _, err := h.Review.Fire(c, r, new(testpoints.Letter))
			return err
		}},
	{"Verify", true, at(9),
		func(h *hooks, c ctx, r *run) (by hookkit.By, bys []hookkit.By, err error) {
			by, err = h.Verify.FireBy(c, r, 0)
			return
		},
		func(h *hooks, c ctx, r *run) error { return h.Verify.Fire(c, r, 0) }},
	{"Wrap", true, at(10),
		func(h *hooks, c ctx, r *run) (by hookkit.By, bys []hookkit.By, err error) {
			_, by, err = h.Wrap.FireBy(c, r, 0, acts)
			return
		},
		func(h *hooks, c ctx, r *run) error { _, err := h.Wrap.Fire(c, r, 0, acts); return err }},
}

func at(i int) func(h *hooks) hookkit.AnyPoint {
	return func(h *hooks) hookkit.AnyPoint { return h.Points()[i] }
}

// passes continues at every point.
func passes(c ctx, _ hookkit.AnyRun, call hookkit.AnyCall) (hookkit.AnyReply, error) {
	if call.Next != nil {
		return call.Next(c, call.Payload)
	}
	return hookkit.AnyReply{}, nil
}

// replies returns a hook with these results.
func replies(reply hookkit.AnyReply, err error) hookkit.AnyHook {
	return func(ctx, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) { return reply, err }
}

// TestFireByNamesTheHookThatDecided compares FireBy with the expected By, without observers and with one, which must
// receive the same.
func TestFireByNamesTheHookThatDecided(t *testing.T) {
	panics := func(ctx, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) { panic("boom") }
	outcome := func(o any) hookkit.AnyHook { return replies(hookkit.AnyReply{Outcome: o}, nil) }
	type row struct {
		does string
		hook hookkit.AnyHook
		want hookkit.By
	}
	by := func(decision, reason string) hookkit.By {
		return hookkit.By{Hook: "decides", Decision: decision, Reason: reason}
	}
	decisions := map[string][]row{
		"First":  {{"exits", outcome(stop{Reason: "why"}), by("Stop", "why")}},
		"Second": {{"exits", outcome(stop{Reason: "why"}), by("Stop", "why")}},
		"Last":   {{"exits", outcome(stop{Reason: "why"}), by("Stop", "why")}},
		"Shape": {
			{"replaces", outcome(testpoints.ReplaceShape(testpoints.Letter{}, "why")), by("Replace", "why")},
			{"edits", outcome(testpoints.EditShape("", "why")), by("Edit", "why")},
		},
		"Poll":     {{"votes", outcome(testpoints.Allow{Reason: "why"}), by("Allow", "why")}},
		"PollOpen": {{"votes", outcome(testpoints.Deny{Reason: "why"}), by("Deny", "why")}},
		"Review": {
			{"replaces", outcome(testpoints.ReplaceReview(testpoints.Letter{}, "why")), by("Replace", "why")},
			{"exits", outcome(stop{}), by("Stop", "")},
			{"exits without a reason", outcome(testpoints.Coded{Code: "x"}), by("Coded", "")},
			{"exits with a number as reason", outcome(testpoints.Numbered{Reason: 7}), by("Numbered", "")},
			{"contributes only", replies(hookkit.AnyReply{Collected: []string{"x"}}, nil), hookkit.By{}},
		},
		"Wrap": {{"answers", replies(hookkit.AnyReply{Result: "x"}, nil), by("Answered", "")}},
	}
	for _, l := range laws {
		if l.name == "Gather" || l.name == "GatherClosed" {
			continue // FireBy returns one By for each contribution
		}
		rows := append(decisions[l.name], row{"continues", passes, hookkit.By{}})
		failed, crashed, closed := hookkit.By{}, hookkit.By{}, []hookkit.GateOption(nil)
		if l.failsClosed {
			failed, crashed = by("Error", "bad"), by("Error", "panic: boom")
		}
		rows = append(rows, row{"fails", replies(hookkit.AnyReply{}, errBad), failed}, row{"panics", panics, crashed})
		for _, r := range rows {
			t.Run(l.name+" "+r.does, func(t *testing.T) {
				var h hooks
				handled(&h)
				p := l.point(&h)
				p.AddAny(passes)
				reg := p.AddAny(r.hook, append(closed, hookkit.Named("decides"))...)
				p.AddAny(passes)
				want := r.want
				if want.Hook != "" {
					want.Site = reg.Site()
				}
				got, _, err := l.fireBy(&h, t.Context(), nil)
				if got != want || (err != nil) != (want.Decision == "Error") {
					t.Errorf("FireBy returned %+v, %v, want %+v", got, err, want)
				}
				var seen hookkit.Verdict
				h.ObserveAny(watcher(func(_ ctx, _ *run, f hookkit.AnyFired) { seen = f.Verdict }))
				if got, _, _ := l.fireBy(&h, t.Context(), nil); got != want || seen.By != want {
					t.Errorf("with an observer FireBy returned %+v and the observer received %+v, want %+v", got, seen.By, want)
				}
			})
		}
	}
}

// Of two decisions that both count, the later one is the last word about the payload.
func TestFireByNamesTheLastReplacement(t *testing.T) {
	var h hooks
	h.Shape.AddFunc(func(ctx, *run, testpoints.Letter) (testpoints.ShapeOutcome, error) {
		return testpoints.EditShape("a", "1"), nil
	})
	reg := h.Shape.AddFunc(func(_ ctx, _ *run, l testpoints.Letter) (testpoints.ShapeOutcome, error) {
		return testpoints.EditShape(l.Text+"b", "2"), nil
	})
	var l testpoints.Letter
	by, err := h.Shape.FireBy(t.Context(), nil, &l)
	if want := (hookkit.By{Hook: reg.Name(), Site: reg.Site(), Decision: "Edit", Reason: "2"}); by != want || err != nil ||
		l.Text != "ab" {
		t.Errorf("FireBy returned %+v, %v with %q, want %+v", by, err, l.Text, want)
	}
}

func TestFireByNamesTheFirstStrongestVote(t *testing.T) {
	for name, c := range map[string]struct {
		votes []any // nil panics
		want  string
		deny  bool
	}{
		"the stronger exit leads":     {[]any{testpoints.Allow{}, testpoints.Deny{}, testpoints.Allow{}}, "1", true},
		"among equal exits the first": {[]any{testpoints.Allow{}, testpoints.Allow{}}, "0", false},
		"after a crash": {
			[]any{nil, testpoints.Allow{}, nil, testpoints.Deny{}, testpoints.Deny{}},
			"3",
			true,
		},
		"before a crash":               {[]any{testpoints.Deny{}, nil, testpoints.Allow{}, nil}, "0", true},
		"crashes of all":               {[]any{nil, nil}, "", false},
		"the last of several crashing": {[]any{nil, nil, testpoints.Allow{}}, "2", false},
	} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			handled(&h)
			for i, vote := range c.votes {
				h.PollOpen.AddFunc(func(ctx, *run, int) (testpoints.PollOpenOutcome, error) {
					if vote == nil {
						panic("boom")
					}
					return vote.(testpoints.PollOpenOutcome), nil
				}, hookkit.Named(fmt.Sprint(i)))
			}
			exit, by, err := h.PollOpen.FireBy(t.Context(), nil, 0)
			if _, deny := exit.(testpoints.Deny); by.Hook != c.want || deny != c.deny || err != nil {
				t.Errorf("FireBy returned %v, %+v, %v", exit, by, err)
			}
		})
	}
}

// The hooks contribute 1, 0, 2 and 1 texts; those that fail contribute none.
func TestFireByHasOneByPerContribution(t *testing.T) {
	const panicking, failing = -1, -2
	contribute := func(n int) ([]string, error) {
		switch n {
		case panicking:
			panic("boom")
		case failing:
			return []string{"dropped"}, errBad
		}
		return make([]string, n), nil
	}
	open, closed := []int{1, panicking, 0, 2, failing, 1}, []int{1, 0, 2, 1, panicking}
	add := map[string]func(h *hooks, i, n int) *hookkit.Registration{
		"Gather": func(h *hooks, i, n int) *hookkit.Registration {
			return h.Gather.AddFunc(
				func(ctx, *run, int) ([]string, error) { return contribute(n) },
				hookkit.Named(fmt.Sprint(i)),
			)
		},
		"GatherClosed": func(h *hooks, i, n int) *hookkit.Registration {
			return h.GatherClosed.AddFunc(
				func(ctx, *run, int) ([]string, error) { return contribute(n) },
				hookkit.Named(fmt.Sprint(i)),
			)
		},
		"Review": func(h *hooks, i, n int) *hookkit.Registration {
			return h.Review.AddFunc(func(ctx, *run, testpoints.Letter) (testpoints.ReviewOutcome, []string, error) {
				texts, err := contribute(n)
				return nil, texts, err
			}, hookkit.Named(fmt.Sprint(i)))
		},
	}
	for _, l := range laws {
		if add[l.name] == nil {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			var h hooks
			handled(&h)
			numbers := open
			if l.failsClosed {
				numbers = closed
			}
			var want []hookkit.By
			for i, n := range numbers {
				reg := add[l.name](&h, i, n)
				for range max(n, 0) {
					want = append(want, hookkit.By{Hook: reg.Name(), Site: reg.Site(), Decision: "Collect"})
				}
			}
			_, bys, err := l.fireBy(&h, t.Context(), nil)
			if !slices.Equal(bys, want) || (err != nil) != l.failsClosed {
				t.Errorf("FireBy returned %+v, %v, want %+v", bys, err, want)
			}
		})
	}
}

// An exit counts with the contributions of its hook and of those before it.
func TestFireByOfAnExitWithContributions(t *testing.T) {
	var h hooks
	says := func(out testpoints.ReviewOutcome, text string) testpoints.ReviewFunc {
		return func(ctx, *run, testpoints.Letter) (testpoints.ReviewOutcome, []string, error) {
			return out, []string{text}, nil
		}
	}
	h.Review.Add(says(nil, "a"), hookkit.Named("1"))
	h.Review.Add(says(stop{Reason: "why"}, "b"), hookkit.Named("2"))
	h.Review.Add(says(nil, "c"), hookkit.Named("3"))
	exit, by, collected, bys, err := h.Review.FireBy(t.Context(), nil, new(testpoints.Letter))
	if exit != (stop{Reason: "why"}) || by.Hook != "2" || fmt.Sprint(collected) != "[a b]" || err != nil {
		t.Errorf("FireBy returned %v, %+v, %v, %v", exit, by, collected, err)
	}
	if len(bys) != 2 || bys[0].Hook != "1" || bys[1].Hook != "2" {
		t.Errorf("the contributions are by %+v", bys)
	}
}

func TestFireByOfAnActThatFails(t *testing.T) {
	pass := func(c ctx, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
		return next.Call(c, n)
	}
	for name, c := range map[string]struct {
		act    func(ctx, int) (string, error)
		reason string
	}{
		"error": {func(ctx, int) (string, error) { return "x", errBad }, "bad"},
		"panic": {func(ctx, int) (string, error) { panic("boom") }, "Wrap: the wrapped act: panic: boom"},
	} {
		for hooked, prepare := range map[string]func(h *hooks){
			"without hooks": func(*hooks) {}, "with a hook": func(h *hooks) { h.Wrap.AddFunc(pass) },
		} {
			t.Run(name+" "+hooked, func(t *testing.T) {
				var h hooks
				prepare(&h)
				result, by, err := h.Wrap.FireBy(t.Context(), nil, 0, c.act)
				if want := (hookkit.By{Decision: "Error", Reason: c.reason}); by != want || result != "" || err == nil {
					t.Errorf("FireBy returned %q, %+v, %v, want %+v", result, by, err, want)
				}
			})
		}
	}
}

// continuing adds one hook that continues.
var continuing = map[string]func(h *hooks){
	"First":  func(h *hooks) { h.First.Add(continues) },
	"Second": func(h *hooks) { h.Second.Add(secondContinues) },
	"Last":   func(h *hooks) { h.Last.Add(lastContinues) },
	"Shape": func(h *hooks) {
		h.Shape.AddFunc(func(ctx, *run, testpoints.Letter) (testpoints.ShapeOutcome, error) { return nil, nil })
	},
	"Poll": func(h *hooks) {
		h.Poll.AddFunc(func(ctx, *run, int) (testpoints.PollOutcome, error) { return nil, nil })
	},
	"PollOpen": func(h *hooks) {
		h.PollOpen.AddFunc(func(ctx, *run, int) (testpoints.PollOpenOutcome, error) { return nil, nil })
	},
	"Gather":       func(h *hooks) { h.Gather.AddFunc(func(ctx, *run, int) ([]string, error) { return nil, nil }) },
	"GatherClosed": func(h *hooks) { h.GatherClosed.AddFunc(func(ctx, *run, int) ([]string, error) { return nil, nil }) },
	"Review": func(h *hooks) {
		h.Review.AddFunc(
			func(ctx, *run, testpoints.Letter) (testpoints.ReviewOutcome, []string, error) { return nil, nil, nil },
		)
	},
	"Verify": func(h *hooks) { h.Verify.AddFunc(func(ctx, *run, int) error { return nil }) },
	"Wrap": func(h *hooks) {
		h.Wrap.AddFunc(func(c ctx, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
			return next.Call(c, n)
		})
	},
}

// observing adds one observer of the point.
var observing = map[string]func(h *hooks){
	"First":        func(h *hooks) { h.First.ObserveFunc(ignore) },
	"Second":       func(h *hooks) { h.Second.ObserveFunc(func(ctx, *run, testpoints.SecondFired[int]) {}) },
	"Last":         func(h *hooks) { h.Last.ObserveFunc(func(ctx, *run, testpoints.LastFired[int]) {}) },
	"Shape":        func(h *hooks) { h.Shape.ObserveFunc(func(ctx, *run, testpoints.ShapeFired[testpoints.Letter]) {}) },
	"Poll":         func(h *hooks) { h.Poll.ObserveFunc(func(ctx, *run, testpoints.PollFired[int]) {}) },
	"PollOpen":     func(h *hooks) { h.PollOpen.ObserveFunc(func(ctx, *run, testpoints.PollOpenFired[int]) {}) },
	"Gather":       func(h *hooks) { h.Gather.ObserveFunc(func(ctx, *run, testpoints.GatherFired[int]) {}) },
	"GatherClosed": func(h *hooks) { h.GatherClosed.ObserveFunc(func(ctx, *run, testpoints.GatherClosedFired[int]) {}) },
	"Review":       func(h *hooks) { h.Review.ObserveFunc(func(ctx, *run, testpoints.ReviewFired[testpoints.Letter]) {}) },
	"Verify":       func(h *hooks) { h.Verify.ObserveFunc(func(ctx, *run, testpoints.VerifyFired[int]) {}) },
	"Wrap":         func(h *hooks) { h.Wrap.ObserveFunc(func(ctx, *run, testpoints.WrapFired[int]) {}) },
}

func TestFireAllocatesLittle(t *testing.T) {
	r := testpoints.NewRun("")
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			var h hooks
			for range 8 {
				continuing[l.name](&h)
			}
			want, observed := 0.0, 2.0
			if l.name == "Wrap" {
				want, observed = 1, 3
			}
			c := context.Background()
			if n := testing.AllocsPerRun(100, func() { _ = l.fire(&h, c, r) }); n > want {
				t.Errorf("Fire makes %v allocations, want %v", n, want)
			}
			if n := testing.AllocsPerRun(100, func() { _, _, _ = l.fireBy(&h, c, r) }); n > want {
				t.Errorf("FireBy makes %v allocations, want %v", n, want)
			}
			observing[l.name](&h)
			if n := testing.AllocsPerRun(100, func() { _ = l.fire(&h, c, r) }); n > observed {
				t.Errorf("Fire with an observer makes %v allocations, want %v", n, observed)
			}
		})
	}
}

// TestObserversMayKeepWhatTheyReceive: later fires change nothing of it.
func TestObserversMayKeepWhatTheyReceive(t *testing.T) {
	var h hooks
	h.HandleFailures(func(ctx, *hookkit.Failure) {})
	var reason string
	h.Review.AddFunc(func(ctx, *run, testpoints.Letter) (testpoints.ReviewOutcome, []string, error) {
		return stop{Reason: reason}, []string{reason}, nil
	})
	h.PollOpen.AddFunc(func(ctx, *run, int) (testpoints.PollOpenOutcome, error) {
		return testpoints.Deny{Reason: reason}, nil
	})
	h.PollOpen.AddFunc(func(ctx, *run, int) (testpoints.PollOpenOutcome, error) { return nil, errors.New(reason) })
	var reviews []testpoints.ReviewFired[testpoints.Letter]
	h.Review.ObserveFunc(func(_ ctx, _ *run, f testpoints.ReviewFired[testpoints.Letter]) { reviews = append(reviews, f) })
	var polls []testpoints.PollOpenFired[int]
	h.PollOpen.ObserveFunc(func(_ ctx, _ *run, f testpoints.PollOpenFired[int]) { polls = append(polls, f) })
	for i := range 3 {
		reason = fmt.Sprint("reason ", i)
		_, _, _ = h.Review.Fire(t.Context(), nil, &testpoints.Letter{Text: testpoints.Text(reason)})
		_, _ = h.PollOpen.Fire(t.Context(), nil, i)
	}
	for i := range 3 {
		reason = fmt.Sprint("reason ", i)
		if f := reviews[i]; string(f.Payload.Text) != reason || f.Exit != (stop{Reason: reason}) || f.Reason != reason ||
			!slices.Equal(f.Collected, []string{reason}) || len(f.Failures) > 0 {
			t.Errorf("fire %d of Review is kept as %+v", i, f)
		}
		if f := polls[i]; f.Payload != i || len(f.Ballots) != 1 || f.Ballots[0].Reason != reason || len(f.Failures) != 1 ||
			f.Failures[0].Cause.Error() != reason {
			t.Errorf("fire %d of PollOpen is kept as %+v", i, f)
		}
	}
}

// TestObservedFiresKeepNothingAlive: the next fire may come late and belong to another tenant.
func TestObservedFiresKeepNothingAlive(t *testing.T) {
	var h hooks
	h.HandleFailures(func(ctx, *hookkit.Failure) {})
	h.Review.AddFunc(func(ctx, *run, testpoints.Letter) (testpoints.ReviewOutcome, []string, error) {
		return nil, []string{"a secret"}, nil
	})
	h.Review.AddFunc(func(ctx, *run, testpoints.Letter) (testpoints.ReviewOutcome, []string, error) { panic("boom") })
	h.Review.ObserveFunc(func(ctx, *run, testpoints.ReviewFired[testpoints.Letter]) {})
	fire := func() (weak.Pointer[run], weak.Pointer[[]int], weak.Pointer[string]) {
		type key struct{}
		r, value := testpoints.NewRun(""), &[]int{1}
		_, collected, _ := h.Review.Fire(context.WithValue(t.Context(), key{}, value), r, new(testpoints.Letter))
		return weak.Make(r), weak.Make(value), weak.Make(&collected[0])
	}
	r, value, collected := fire()
	runtime.GC()
	if r.Value() != nil || value.Value() != nil || collected.Value() != nil {
		t.Errorf("alive: the run %t, the context %t, the contributions %t", r.Value() != nil, value.Value() != nil,
			collected.Value() != nil)
	}
}

func TestMatchCallsTheFunctionOfTheExit(t *testing.T) {
	match := func(exit testpoints.ReviewExit) string {
		return testpoints.MatchReview(exit,
			func() string { return "none" },
			func(s stop) string { return "stop " + s.Reason },
			func(c testpoints.Coded) string { return "coded " + c.Code },
			func(n testpoints.Numbered) string { return fmt.Sprint("numbered ", n.Reason) })
	}
	for want, exit := range map[string]testpoints.ReviewExit{
		"none": nil, "stop why": stop{
			Reason: "why",
		}, "coded x": testpoints.Coded{Code: "x"}, "numbered 7": testpoints.Numbered{Reason: 7},
	} {
		if got := match(exit); got != want {
			t.Errorf("%#v: got %q, want %q", exit, got, want)
		}
	}
	want := "hookkit: MatchReview: outcome *testpoints.Stop is not legal here: return nil, an exit by value, or the " +
		"result of " +
		"one of the point's constructors"
	//hookvet:ignore exitvalue this test is about the panic
	if got := panicText(func() { match(&stop{}) }); got != want {
		t.Errorf("a pointer panicked with %q, want %q", got, want)
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	var exit testpoints.SecondExit = stop{Reason: "why"}
	total := 0
	if n := testing.AllocsPerRun(100, func() {
		total += testpoints.MatchSecond(exit, func() int { return 0 }, func(s stop) int { return len(s.Reason) })
	}); n > 0 || total == 0 {
		t.Errorf("%v allocations, total %d", n, total)
	}
}

func TestGoexitAfterACrashLeavesNoExit(t *testing.T) {
	var h hooks
	h.PollOpen.AddFunc(func(ctx, *run, int) (testpoints.PollOpenOutcome, error) { return testpoints.Deny{}, nil })
	h.PollOpen.AddFunc(func(ctx, *run, int) (testpoints.PollOpenOutcome, error) { panic("reported") })
	h.PollOpen.AddFunc(func(ctx, *run, int) (testpoints.PollOpenOutcome, error) { runtime.Goexit(); return nil, nil })
	h.HandleFailures(func(ctx, *hookkit.Failure) {})
	var fired testpoints.PollOpenFired[int]
	h.PollOpen.ObserveFunc(func(_ ctx, _ *run, f testpoints.PollOpenFired[int]) { fired = f })
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = h.PollOpen.Fire(t.Context(), nil, 0)
	}()
	<-done
	if fired.Exit != nil || fired.Decision != "Error" || !errors.Is(fired.Err, hookkit.ErrGoexit) {
		t.Errorf("the observer received the exit %v, the decision %q and the error %v", fired.Exit, fired.Decision, fired.Err)
	}
}
