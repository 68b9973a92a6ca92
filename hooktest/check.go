package hooktest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// Check is the conformance suite for hooks: rules that every good hook keeps, whatever its purpose. Run it in the test
// of the hook, preferably under the race detector. build returns the points of new Hooks on which a new instance of the
// hook was used; it is called many times and must configure the hook in the same way each time:
//
//	hooktest.Check(t, func() []hookkit.AnyPoint {
//		h := new(mail.Hooks)
//		h.Use(limit.Limit{Max: 20})
//		return h.Points()
//	})
//
// Check fires each point that has a hook or an observer, with ordinary payloads and with hostile ones. The hook must
//
//   - be registered at a point,
//   - decide in a second run, and in a second instance, as in the first, up to 100 times in a row: state belongs to one
//     run of one instance,
//   - not panic, end its goroutine, or return an illegal outcome or a nil pointer as its error; an error is allowed,
//   - not change the payload in place; the test names the field. A hook that appends to a slice of the payload appends
//     to slices.Clip of it, because several payloads may share the memory after its end,
//   - return, also when the context is cancelled; Check ends at the first hook that does not return within 20 seconds,
//   - end every goroutine that it starts,
//   - be safe for calls from several goroutines, of one run and of several.
//
// # Payloads
//
// The payloads are made by reflection from the payload's type: zero and ordinary values, empty, long, malformed and
// many texts, invalid UTF-8, invalid JSON, negative and extreme numbers, nil elements, unsorted and long lists.
// Unexported fields, interfaces, functions and channels keep their zero value, because Check cannot make them. If a
// payload has invariants that such values break, or needs one of those fields, pass payloads of your own with
// [Payloads].
//
// Runs have a zero environment, and the same identities each time; if the hook uses run.Env, set it with [Env].
// At an around point the wrapped act returns a zero result.
func Check(t *testing.T, build func() []hookkit.AnyPoint, opts ...Option) {
	t.Helper()
	c := &checker{build: build, patience: 20 * time.Second, effort: 50 * time.Millisecond}
	for _, o := range opts {
		o(c)
	}
	c.checkAll(func(r rule) bool { return t.Run(r.name, func(t *testing.T) { r.check(c, t) }) })
}

// checkAll calls check with each rule; check reports whether the hook keeps it. It ends after a fire that does not
// return, because the fires of the next rule would wait as long again.
func (c *checker) checkAll(check func(rule) bool) {
	for n, r := range rules {
		if ok := check(r); !ok && n == 0 || c.blocked.Load() {
			return
		}
	}
}

// A rule is one subtest of Check.
type rule struct {
	name  string
	check func(*checker, testing.TB)
}

// The other rules need the first one.
var rules = []rule{
	{"is registered", (*checker).registered},
	// Early, because state that the fires of other rules have changed can hide.
	{"keeps state for one run and one instance", (*checker).isolated},
	{"survives hostile payloads", (*checker).hostile},
	{"changes no payload in place", (*checker).inPlace},
	{"returns under a cancelled context", (*checker).cancelled},
	{"leaves no goroutine behind", (*checker).goroutines},
	{"survives parallel fires", (*checker).parallel},
}

// An Option changes what [Check] passes to the hook.
type Option func(*checker)

// Payloads replaces the payloads that Check makes. Each value is used at every point whose payload has its type; the
// other points keep the made payloads. A value whose type no point has fails the test. Check copies the values, but for
// unexported fields, functions and channels.
func Payloads(values ...any) Option {
	return func(c *checker) { c.given = append(c.given, values...) }
}

// Env sets the environment of each run, for hooks that use run.Env. The function returns an environment of the spec's
// type, equal to the others that it returned. Check chooses the identity of the run.
func Env[E any](env func() E) Option {
	return func(c *checker) {
		c.newRun = func(id string) hookkit.AnyRun { return hookkit.NewRunWithID(id, env()) }
	}
}

// StateAcrossRuns declares that the hook keeps state across runs on purpose, as rate limiters, circuit breakers and
// caches do. Check then only compares the first decisions of two instances, which still must not share state.
func StateAcrossRuns() Option {
	return func(c *checker) { c.lasting = true }
}

type checker struct {
	build    func() []hookkit.AnyPoint
	given    []any
	newRun   func(id string) hookkit.AnyRun // nil for runs with a zero environment
	lasting  bool                           // an instance keeps state across runs
	patience time.Duration                  // how long a call may take that should return at once
	effort   time.Duration                  // how long an instance is fired to find late changes of its decisions
	blocked  atomic.Bool                    // a fire has not returned
}

// registered reports a hook that is registered at no point, which would check nothing, and a build that returns the
// same Hooks again.
func (c *checker) registered(t testing.TB) {
	first, second := c.subject(t), c.subject(t)
	if len(first.points) == 0 {
		t.Fatal("the hook is registered at no point; check it in a configuration that does something")
	}
	points := c.build()
	for _, value := range c.given {
		if !slices.ContainsFunc(points, func(p hookkit.AnyPoint) bool { return fits(value, payloadType(p)) }) {
			t.Errorf("Payloads: no point has a payload of type %T", value)
		}
	}
	for i, p := range first.points {
		if i < len(second.points) && p.Same(second.points[i]) {
			t.Fatal("build returned the points of the same Hooks again; make new Hooks, and a new hook, in each call")
		}
	}
}

// hostile reports panics and illegal outcomes.
func (c *checker) hostile(t testing.TB) {
	s := c.subject(t)
	var reported sync.Map                              // the names of the points with a fault
	quiesce(t, c.patience, func(ctx context.Context) { // so that asynchronous observers have received every fire
		for _, p := range s.points {
			run := s.run()
			for _, payload := range c.payloads(p, fillings...) {
				if sh := s.fire(ctx, p, run, payload); sh.failure != "" {
					reported.Store(p.Name, true)
					t.Errorf("%s with %s: %s", p.Name, payload.name, sh.failure)
					break
				}
			}
		}
	})
	s.late(&reported)
}

// inPlace reports a payload that the hook changed through a slice, a map or a pointer.
func (c *checker) inPlace(t testing.TB) {
	s := c.subject(t)
	for _, p := range s.points {
		run := s.run()
		for _, payload := range c.payloads(p, fillings...) {
			sh := s.fire(t.Context(), p, run, payload)
			if where := difference("payload", sh.before, sh.shared, true); where != "" {
				t.Errorf("%s: a hook of %s changed %s in place; let it change a copy", p.Name, names(p), where)
				break
			}
		}
	}
}

// An instance is fired until this many rounds are over, or at least the fewest and then until the effort is spent.
const (
	mostRounds   = 100
	fewestRounds = 3
)

// isolated compares the decisions of an instance with those of other instances and of another run. It reports one
// difference: state that all instances share also differs in another run of one instance.
func (c *checker) isolated(t testing.TB) {
	first := c.subject(t)
	run := first.run()
	var want []hookkit.AnyFired
	rounds := 0
	for begun := time.Now(); rounds < fewestRounds || rounds < mostRounds && time.Since(begun) < c.effort; rounds++ {
		want = append(want, first.round(run)...)
	}
	second, third := c.subject(t), c.subject(t)
	if c.lasting {
		rounds = 1 // later decisions may depend on the time
	}
	found := second.deviation(want, second.run(), rounds, "a second instance in a run of its own")
	if found == "" && !c.lasting {
		found = third.deviation(want, run, rounds, "a second instance in the run of the first")
	}
	if found == "" && !c.lasting {
		// A hook may sample runs by their identity, or keep a map of it: then either a run of the same identity differs,
		// or one of another identity.
		const name = "a second run of the instance"
		if first.deviation(want, first.runWith(1), rounds, name) != "" {
			found = first.deviation(want, first.runWith(2), rounds, name)
		}
	}
	if found != "" {
		t.Error(found)
	}
}

// deviation fires as many rounds in a run, and describes the first decision that differs from the wanted ones. It
// returns "" if none does.
func (s *subject) deviation(want []hookkit.AnyFired, run hookkit.AnyRun, rounds int, name string) string {
	var got []hookkit.AnyFired
	for range rounds {
		got = append(got, s.round(run)...)
	}
	for i := range got {
		if where := decidedOtherwise(want[i], got[i]); where != "" {
			return fmt.Sprintf("%s: %s decides differently, so state is shared: %s\n"+
				"if it keeps state across runs on purpose, pass StateAcrossRuns", want[i].Point, name, where)
		}
	}
	return ""
}

// decidedOtherwise describes the first difference between two fires; "" without one.
func decidedOtherwise(a, b hookkit.AnyFired) string {
	for _, name := range []string{"Decision", "Reason", "Exit", "Final", "Collected", "Result"} {
		first, now := reflect.ValueOf(a).FieldByName(name), reflect.ValueOf(b).FieldByName(name)
		if where := difference(name, first, now, false); where != "" {
			return fmt.Sprintf("%s differs\nfirst %.600s\nthen  %.600s", where, text(first.Interface()), text(now.Interface()))
		}
	}
	if first, now := fmt.Sprint(a.Err), fmt.Sprint(b.Err); first != now {
		return fmt.Sprintf("Err differs\nfirst %.600s\nthen  %.600s", first, now)
	}
	return ""
}

// text returns a value for people, and follows pointers if it can.
func text(v any) string {
	if encoded, err := json.Marshal(v); err == nil {
		return fmt.Sprintf("%T %s", v, encoded)
	}
	return fmt.Sprintf("%+v", v)
}

// cancelled fires under a cancelled context.
func (c *checker) cancelled(t testing.TB) {
	s := c.subject(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, p := range s.points {
		for _, payload := range c.payloads(p, ordinary) {
			if sh := s.try(ctx, p, s.run(), payload); sh.blocked {
				t.Fatalf("%s: %s though its context is cancelled", p.Name, sh.failure)
			}
		}
	}
}

// goroutines reports goroutines that the hook started and that do not end.
func (c *checker) goroutines(t testing.TB) {
	left := quiesce(t, c.patience, func(ctx context.Context) {
		s := c.subject(t)
		run := s.run()
		for _, p := range s.points {
			for _, payload := range c.payloads(p, ordinary) {
				s.fire(ctx, p, run, payload)
			}
		}
	})
	if left != "" {
		t.Errorf("the hook left goroutines running:\n%s", left)
	}
}

// quiesce calls f and waits until every goroutine that it started has ended. It returns the stacks of those that have
// not when the patience is over.
func quiesce(t testing.TB, patience time.Duration, f func(context.Context)) string {
	const label = "hooktest"
	pprof.Do(t.Context(), pprof.Labels(label, t.Name()), f)
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if left := labelled(label, t.Name()); left == "" || time.Now().After(end) {
			return left
		}
	}
}

// labelled returns the stacks of the goroutines that have a label, which a goroutine inherits from the one that starts
// it.
func labelled(label, value string) string {
	var b strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		return err.Error()
	}
	var found []string
	for stack := range strings.SplitSeq(b.String(), "\n\n") {
		if strings.Contains(stack, fmt.Sprintf("%q:%q", label, value)) {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}

// parallel fires from several goroutines, so that the race detector can see.
func (c *checker) parallel(t testing.TB) {
	s := c.subject(t)
	shared := s.run()
	var reported sync.Map // the names of the points with a fault, which several goroutines find
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			run := shared
			if i%2 == 1 {
				run = s.run()
			}
			for range 3 {
				for _, p := range s.points {
					for _, payload := range c.payloads(p, ordinary) {
						if sh := s.try(t.Context(), p, run, payload); sh.failure != "" {
							if _, again := reported.LoadOrStore(p.Name, true); !again {
								t.Errorf("%s: %s", p.Name, sh.failure)
							}
							return
						}
					}
				}
			}
		})
	}
	wg.Wait()
	s.late(&reported)
}
