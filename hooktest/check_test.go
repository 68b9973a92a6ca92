package hooktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/testdata/mail"
	"github.com/hookgen/hookgen/tests/fixture"
)

// reports collects the reports of a rule.
type reports struct {
	testing.TB
	mu    sync.Mutex
	texts []string
}

func (r *reports) Helper() {}

func (r *reports) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, fmt.Sprintf(format, args...))
}

func (r *reports) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }

func (r *reports) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *reports) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// broken returns the reports of each rule that a hook breaks.
func broken(t *testing.T, build func() []hookkit.AnyPoint, opts ...Option) map[string]string {
	t.Helper()
	c := &checker{build: build, patience: time.Minute, effort: time.Hour}
	for _, o := range opts {
		o(c)
	}
	found := map[string]string{}
	c.checkAll(func(rule rule) bool {
		r := &reports{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			rule.check(c, r)
		}()
		<-done
		if len(r.texts) > 0 {
			found[rule.name] = strings.Join(r.texts, "\n")
		}
		return len(r.texts) == 0
	})
	return found
}

// added returns a build for Hooks that add registers a new hook on.
func added(add func(*fixture.Hooks)) func() []hookkit.AnyPoint {
	return func() []hookkit.AnyPoint {
		h := new(fixture.Hooks)
		add(h)
		return h.Points()
	}
}

// flow makes hooks of a point where hooks decide; each call of each returns the function of one instance.
func flow(
	each func() func(context.Context, *fixture.Run, fixture.Item) (fixture.RewriteLeaveOpenOutcome, error),
) func() []hookkit.AnyPoint {
	return added(func(h *fixture.Hooks) { h.RewriteLeaveOpen.AddFunc(each(), hookkit.Named("planted")) })
}

// simple makes hooks of a function without state.
func simple(
	f func(ctx context.Context, run *fixture.Run, item fixture.Item) (fixture.RewriteLeaveOpenOutcome, error),
) func() []hookkit.AnyPoint {
	return flow(func() func(context.Context, *fixture.Run, fixture.Item) (fixture.RewriteLeaveOpenOutcome, error) {
		return f
	})
}

type outcome = fixture.RewriteLeaveOpenOutcome

const (
	isRegistered = "is registered"
	hostile      = "survives hostile payloads"
	inPlace      = "changes no payload in place"
	isolated     = "keeps state for one run and one instance"
	cancelled    = "returns under a cancelled context"
	goroutines   = "leaves no goroutine behind"
	parallel     = "survives parallel fires"
)

func TestCheckFindsPlantedFaults(t *testing.T) {
	var leak, block chan struct{}
	same := new(fixture.Hooks)
	same.Watch.AddFunc(func(context.Context, *fixture.Run, fixture.Item) error { return nil })
	for _, test := range []struct {
		name  string
		build func() []hookkit.AnyPoint
		rule  string
		text  string
	}{
		{"registers nothing", added(func(*fixture.Hooks) {}), isRegistered, "registered at no point"},
		{"same Hooks again", same.Points, isRegistered, "same Hooks again"},
		{"panic", simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
			_ = item.Trail[1]
			return nil, nil
		}), hostile, "RewriteLeaveOpen with zero values: planted panicked: runtime error: index out of range"},
		{"panic with many elements", simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
			_ = [100]int{}[len(item.Marks)]
			return nil, nil
		}), hostile, "with long lists: planted panicked"},
		{"panic with a negative number", simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
			_ = make([]int, min(item.ID, 10))
			return nil, nil
		}), hostile, "with negative numbers: planted panicked"},
		{"ends its goroutine", simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
			if item.Tool == "" {
				runtime.Goexit()
			}
			return nil, nil
		}), hostile, "with zero values: planted: the hook ended its goroutine"},
		{"exit by pointer", simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
			if len(item.Tool) > 1000 {
				//hookvet:ignore exitvalue a planted fault
				return &fixture.Stop{}, nil
			}
			return nil, nil
		}), hostile, "with long texts: planted: outcome *fixture.Stop is not legal here"},
		{"no answer", added(func(h *fixture.Hooks) {
			h.Wrap.AddFunc(func(ctx context.Context, _ *fixture.Run, item fixture.Item,
				next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
				if item.ID < 0 {
					//hookvet:ignore noanswer a planted fault
					return hookkit.Answer[fixture.Result]{}, nil
				}
				return next.Call(ctx, item)
			}, hookkit.Named("planted"))
		}), hostile, "Wrap with negative numbers: planted: the hook neither called next nor answered"},
		{"observer panics", added(func(h *fixture.Hooks) {
			h.Watch.ObserveFunc(func(_ context.Context, _ *fixture.Run, fired fixture.WatchFired[fixture.Item]) {
				_ = fired.Payload.Trail[0]
			}, hookkit.Named("planted"))
		}), hostile, "Watch: planted panicked"},
		{"asynchronous observer panics", added(func(h *fixture.Hooks) {
			h.Watch.ObserveFunc(func(_ context.Context, _ *fixture.Run, fired fixture.WatchFired[fixture.Item]) {
				_ = fired.Payload.Trail[0]
			}, hookkit.Named("planted"), hookkit.Async(1000))
		}), hostile, "Watch: planted panicked"},
		{"slice changed in place", simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
			if len(item.Trail) > 0 {
				//hookvet:ignore sharedpayload a planted fault
				item.Trail[0] += "!"
			}
			return nil, nil
		}), inPlace, "RewriteLeaveOpen: a hook of planted changed payload.Trail[0] in place"},
		{"map changed in place", simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
			//hookvet:ignore sharedpayload a planted fault
			delete(item.Marks, "look")
			return nil, nil
		}), inPlace, "payload.Marks in place"},
		{"pointer changed in place", added(func(h *fixture.Hooks) {
			h.OnPointer.AddFunc(func(_ context.Context, _ *fixture.Run, item *fixture.Item) (fixture.OnPointerOutcome, error) {
				if item != nil {
					//hookvet:ignore sharedpayload a planted fault
					item.Note = "changed"
				}
				return nil, nil
			})
		}), inPlace, "payload.Note in place"},
		{"observer changes in place", added(func(h *fixture.Hooks) {
			h.OnSlice.ObserveFunc(func(_ context.Context, _ *fixture.Run, fired fixture.OnSliceFired[[]fixture.Item]) {
				for i := range fired.Payload {
					//hookvet:ignore sharedpayload a planted fault
					fired.Payload[i].ID++
				}
			})
		}), inPlace, "payload[0].ID in place"},
		{"sorts in place", simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
			//hookvet:ignore sharedpayload a planted fault
			slices.Sort(item.Trail)
			return nil, nil
		}), inPlace, "RewriteLeaveOpen: a hook of planted changed payload.Trail[0] in place"},
		{"sorts downwards in place", added(func(h *fixture.Hooks) {
			h.OnSlice.ObserveFunc(func(_ context.Context, _ *fixture.Run, fired fixture.OnSliceFired[[]fixture.Item]) {
				//hookvet:ignore sharedpayload a planted fault
				slices.SortFunc(fired.Payload, func(a, b fixture.Item) int { return cmp.Compare(b.ID, a.ID) })
			})
		}), inPlace, "payload[0].ID in place"},
		{"reverses a slice in a list", added(func(h *fixture.Hooks) {
			h.OnSlice.ObserveFunc(func(_ context.Context, _ *fixture.Run, fired fixture.OnSliceFired[[]fixture.Item]) {
				for _, item := range fired.Payload {
					//hookvet:ignore sharedpayload a planted fault
					slices.Reverse(item.Trail)
				}
			})
		}), inPlace, "payload[0].Trail[0] in place"},
		{"appends to a shared slice", simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
			item.Trail = append(item.Trail, "seen")
			return fixture.ReplaceRewriteLeaveOpen(item, "seen"), nil
		}), inPlace, "a hook of planted changed payload.Trail[2] (after its end, as append does) in place"},
		{"appends to a slice in a list", added(func(h *fixture.Hooks) {
			h.OnSlice.ObserveFunc(func(_ context.Context, _ *fixture.Run, fired fixture.OnSliceFired[[]fixture.Item]) {
				for _, item := range fired.Payload {
					_ = append(item.Trail, "seen")
				}
			})
		}), inPlace, "payload[0].Trail[2] (after its end, as append does) in place"},
		{"nil pointer as error", simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
			var none *itemError
			if item.Trail == nil {
				return nil, none
			}
			return nil, nil
		}), hostile, "RewriteLeaveOpen with zero values: planted returned a nil *hooktest.itemError as its error"},
		{"nil list as error", simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
			var none itemErrors
			if item.Trail == nil {
				return nil, none
			}
			return nil, nil
		}), hostile, "planted returned a nil hooktest.itemErrors as its error"},
		{"state shared by runs", limited(3), isolated,
			"a second run of the instance decides differently, so state is shared: Decision differs"},
		{"state shared by runs, that shows late", limited(100), isolated,
			"a second run of the instance decides differently, so state is shared: Decision differs"},
		{"map of an instance that runs share", flow(func() func(
			context.Context, *fixture.Run, fixture.Item) (outcome, error) {
			var mu sync.Mutex
			seen := map[string]int{}
			return func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
				mu.Lock()
				defer mu.Unlock()
				item.Trail = []string{fmt.Sprint(seen[item.Tool])}
				seen[item.Tool]++
				return fixture.ReplaceRewriteLeaveOpen(item, "counted"), nil
			}
		}), isolated, "a second run of the instance decides differently, so state is shared: Final.Trail[0] differs"},
		{"one instance in all Hooks", func() func() []hookkit.AnyPoint {
			one := limiter(3)
			return simple(one)
		}(), isolated, "a second instance in a run of its own decides differently"},
		{"state of a run that instances share", func() func() []hookkit.AnyPoint {
			var mu sync.Mutex
			seen := map[string]int{}
			return simple(func(_ context.Context, run *fixture.Run, item fixture.Item) (outcome, error) {
				mu.Lock()
				defer mu.Unlock()
				item.Trail = []string{fmt.Sprint(seen[run.ID()])}
				seen[run.ID()]++
				return fixture.ReplaceRewriteLeaveOpen(item, "counted"), nil
			})
		}(), isolated, "a second instance in a run of its own decides differently"},
		{"state shared by instances", func() func() []hookkit.AnyPoint {
			var mu sync.Mutex
			n := 0
			return simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
				mu.Lock()
				defer mu.Unlock()
				n++
				item.Trail = []string{fmt.Sprint(n)}
				return fixture.ReplaceRewriteLeaveOpen(item, "numbered"), nil
			})
		}(), isolated, "a second instance in a run of its own decides differently, so state is shared: Final.Trail[0] " +
			"differs"},
		{"does not return", added(func(h *fixture.Hooks) {
			wait := func(context.Context, *fixture.Run, fixture.Item) error { <-block; return nil }
			h.Watch.AddFunc(wait, hookkit.Named("planted"))
			h.WatchBack.AddFunc(func(context.Context, *fixture.Run, fixture.Item) error { <-block; return nil })
		}), isolated, "with ordinary values: planted does not return within 200ms"},
		{"does not return for a long text", simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (
			outcome, error) {
			if len(item.Tool) > 1000 {
				<-block
			}
			return nil, nil
		}), hostile, "RewriteLeaveOpen with long texts: planted does not return within 200ms"},
		{"ignores its context", simple(func(ctx context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
			if ctx.Err() != nil {
				<-block
			}
			return nil, nil
		}), cancelled, "planted does not return within 200ms though its context is cancelled"},
		{"goroutine left behind", simple(func(context.Context, *fixture.Run, fixture.Item) (outcome, error) {
			go func() { <-leak }()
			return nil, nil
		}), goroutines, "TestCheckFindsPlantedFaults"},
		{"panic in parallel", flow(func() func(context.Context, *fixture.Run, fixture.Item) (outcome, error) {
			var mu sync.Mutex
			runs := map[string]bool{}
			return func(_ context.Context, run *fixture.Run, item fixture.Item) (outcome, error) {
				mu.Lock()
				defer mu.Unlock()
				if runs[run.ID()] = true; len(runs) > 2 {
					panic("a third run")
				}
				return nil, nil
			}
		}), parallel, "RewriteLeaveOpen: planted panicked: a third run"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the patience of the check ends only when a hook waits for ever
				leak, block = make(chan struct{}), make(chan struct{})
				defer close(leak)
				defer close(block)
				found := broken(t, test.build, func(c *checker) { c.patience = 200 * time.Millisecond })
				text := found[test.rule]
				if !strings.Contains(text, test.text) || len(found) != 1 || strings.Count(text, "decides differently") > 1 {
					t.Errorf("want only the rule %q, with %q; found %q", test.rule, test.text, found)
				}
			})
		})
	}
}

// limiter returns a function that stops every fire after the first n, whatever the run.
func limiter(n int) func(context.Context, *fixture.Run, fixture.Item) (outcome, error) {
	var mu sync.Mutex
	return func(context.Context, *fixture.Run, fixture.Item) (outcome, error) {
		mu.Lock()
		defer mu.Unlock()
		if n--; n < 0 {
			return fixture.Stop{Reason: "enough"}, nil
		}
		return nil, nil
	}
}

// limited makes hooks that have a limiter each.
func limited(n int) func() []hookkit.AnyPoint {
	return flow(func() func(context.Context, *fixture.Run, fixture.Item) (outcome, error) { return limiter(n) })
}

// An itemError cannot be asked for anything if it is nil.
type itemError struct {
	text  string
	cause error
}

func (e *itemError) Error() string { return e.text }
func (e *itemError) Unwrap() error { return e.cause }

type itemErrors []error

func (e itemErrors) Error() string { return fmt.Sprint([]error(e)) }

// counter keeps its state per run, replaces the payload by a copy, observes, and starts goroutines that end.
type counter struct{ seen hookkit.PerRun[int] }

func (c *counter) Bind(h *fixture.Hooks) {
	h.RewriteLeaveGatherClosed.Add(c, hookkit.Priority(hookkit.Safety))
	h.PollOpen.Add(c, hookkit.Timeout(time.Minute))
	h.WrapBack.Add(c)
	h.OnAnything.ObserveFunc(func(context.Context, *fixture.Run, fixture.OnAnythingFired[any]) {}, hookkit.Async(1))
}

func (c *counter) RewriteLeaveGatherClosed(
	_ context.Context,
	run *fixture.Run,
	item fixture.Item,
) (fixture.RewriteLeaveGatherClosedOutcome, []string, error) {
	n := 0
	c.seen.Do(run, func(seen *int) { *seen++; n = *seen })
	if n > 2 {
		return fixture.Stop{Code: n}, nil, nil
	}
	item.Trail = append(slices.Clip(item.Trail), "seen")
	return fixture.ReplaceRewriteLeaveGatherClosed(item, "seen"), []string{fmt.Sprint(n)}, nil
}

func (c *counter) PollOpen(ctx context.Context, _ *fixture.Run, item fixture.Item) (fixture.PollOpenOutcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if item.ID < 0 {
		return nil, errors.New("no such item")
	}
	return fixture.Ask{Prompt: string(item.Note)}, nil
}

func (c *counter) WrapBack(
	ctx context.Context,
	_ *fixture.Run,
	item fixture.Item,
	next fixture.WrapBackNext,
) (hookkit.Answer[fixture.Result], error) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { _ = item.ID })
	return next.Call(ctx, item)
}

func TestCheckPassesGoodHooks(t *testing.T) {
	t.Run("several points", func(t *testing.T) {
		Check(t, added(func(h *fixture.Hooks) { h.Use(new(counter)) }))
	})
	t.Run("a hook of another spec", func(t *testing.T) {
		Check(t, func() []hookkit.AnyPoint {
			h := new(mail.Hooks)
			h.Use(mail.Retry{})
			return h.Points()
		})
	})
	t.Run("a hook at every point", func(t *testing.T) {
		Check(t, added(func(h *fixture.Hooks) {
			for _, p := range h.Points() {
				p.AddAny(func(ctx context.Context, _ hookkit.AnyRun, call hookkit.AnyCall) (hookkit.AnyReply, error) {
					if call.Next != nil {
						return call.Next(ctx, call.Payload)
					}
					return hookkit.AnyReply{}, nil
				})
			}
		}))
	})
}

func TestHooksMayDecideByTheRun(t *testing.T) {
	for name, decide := range map[string]func(run *fixture.Run, seen map[string]int) bool{
		"names the run":          func(run *fixture.Run, _ map[string]int) bool { return strings.HasSuffix(run.ID(), "1") },
		"keeps a map of the run": func(run *fixture.Run, seen map[string]int) bool { return seen[run.ID()] > 3 },
	} {
		t.Run(name, func(t *testing.T) {
			Check(t, flow(func() func(context.Context, *fixture.Run, fixture.Item) (outcome, error) {
				var mu sync.Mutex
				seen := map[string]int{}
				return func(_ context.Context, run *fixture.Run, item fixture.Item) (outcome, error) {
					mu.Lock()
					defer mu.Unlock()
					seen[run.ID()]++
					if decide(run, seen) {
						return fixture.ReplaceRewriteLeaveOpen(item, "sampled"), nil
					}
					return nil, nil
				}
			}))
		})
	}
}

func TestStateAcrossRunsIsDeclared(t *testing.T) {
	Check(t, limited(3), StateAcrossRuns())
	one := limiter(3)
	for name, build := range map[string]func() []hookkit.AnyPoint{
		"one instance in all Hooks": simple(one),
		"state of the package": func() func() []hookkit.AnyPoint {
			var n atomic.Int64
			return simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
				item.Trail = []string{fmt.Sprint(n.Add(1))}
				return fixture.ReplaceRewriteLeaveOpen(item, "numbered"), nil
			})
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			if found := broken(t, build, StateAcrossRuns())[isolated]; !strings.Contains(found, "a second instance in a run") {
				t.Errorf("found %q", found)
			}
		})
	}
}

func TestCheckUsesTheEnvironmentOfTheUser(t *testing.T) {
	build := func() []hookkit.AnyPoint {
		h := new(mail.Hooks)
		h.BeforeSend.AddFunc(func(_ context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {
			return mail.Refuse{Reason: run.Env.Name}, nil // a nil Env panics
		}, hookkit.Named("planted"))
		return h.Points()
	}
	found := broken(t, build)
	for _, rule := range []string{hostile, parallel} {
		if got := found[rule]; strings.Count(got, "planted panicked") != 1 || !strings.Contains(got, "hooktest.Env") {
			t.Errorf("%s, without an environment: want one panic with a hint; found %q", rule, got)
		}
	}
	Check(t, build, Env(func() *mail.Account { return &mail.Account{Name: "me"} }))
	wrong := Env(func() string { return "" })
	if found := broken(t, build, wrong)[hostile]; !strings.Contains(found, "the run is a") {
		t.Errorf("with an environment of another spec: %q", found)
	}
}

func TestCheckUsesThePayloadsOfTheUser(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]bool{}
	build := func() []hookkit.AnyPoint {
		h := new(mail.Hooks)
		h.BeforeSend.AddFunc(func(_ context.Context, _ *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {
			mu.Lock()
			defer mu.Unlock()
			seen[m.To] = true
			_ = m.To[0] // an invariant of the program: there is a receiver
			return nil, nil
		}, hookkit.Named("planted"))
		h.OnSent.AddFunc(func(_ context.Context, _ *mail.Run, r mail.Receipt) error {
			mu.Lock()
			defer mu.Unlock()
			seen["way "+r.Way] = true
			return nil
		})
		return h.Points()
	}
	Check(t, build, Payloads(mail.Message{To: "you"}, mail.Message{To: "them"}))
	if !seen["you"] || !seen["them"] || seen["look"] || !seen["way look"] {
		t.Errorf("the hooks saw %v", seen)
	}
	if found := broken(t, build, Payloads(mail.Message{To: "you"}, 7))[isRegistered]; !strings.Contains(
		found,
		"no point has a payload of type int",
	) {
		t.Errorf("with a payload of no point: %q", found)
	}
}

func TestPayloadsAreCopiedForEachFire(t *testing.T) {
	item := fixture.Item{Trail: []string{"a"}}
	build := simple(func(_ context.Context, _ *fixture.Run, item fixture.Item) (outcome, error) {
		//hookvet:ignore sharedpayload a planted fault
		item.Trail[0] += "!"
		return nil, nil
	})
	if found := broken(t, build, Payloads(item))[inPlace]; !strings.Contains(found, "payload.Trail[0]") ||
		item.Trail[0] != "a" {
		t.Errorf("found %q; the value of the user is now %v", found, item)
	}
}
