package hooktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
)

// Check is the conformance suite for hooks of the reference spec: what holds of every good hook, whatever it is for. Run
// it in a test of the hook, best under the race detector. newHook returns a new instance, configured the same each time.
//
// Each point that the hook is bound to is fired with ordinary and with hostile payloads: empty, very long, no UTF-8, no
// JSON, negative. The hook must
//
//   - not panic, end its goroutine, or return an outcome that no constructor makes; an error is its right,
//   - not change the payload in place: the test names the field,
//   - decide the same in a second run, and in a second instance, as in the first: state belongs to one run of one instance,
//   - return when the context is cancelled,
//   - leave no goroutine behind,
//   - stand calls from several goroutines, of one run and of several,
//   - let a run of a real loop come to its end.
func Check(t *testing.T, newHook func() agent.Hook) {
	t.Helper()
	c := checker{newHook}
	t.Run("binds", c.binds)
	t.Run("hostile payloads", c.hostile)
	t.Run("payloads are not changed in place", c.inPlace)
	t.Run("state belongs to one run and one instance", c.isolated)
	t.Run("a cancelled context", c.cancelled)
	t.Run("goroutines", c.goroutines)
	t.Run("parallel fires", c.parallel)
	t.Run("a run of a loop", c.loop)
}

type checker struct{ newHook func() agent.Hook }

// bound returns new Hooks that the hook is bound to, and what listens to its failures.
func (c checker) bound() (*agent.Hooks, *hookkit.Recorder) {
	hooks, failures := new(agent.Hooks), new(hookkit.Recorder)
	hooks.Use(c.newHook())
	hooks.Trace(failures)
	return hooks, failures
}

// binds reports a hook that is bound to nothing, which tests nothing.
func (c checker) binds(t *testing.T) {
	hooks, _ := c.bound()
	if len(boundTo(hooks)) == 0 {
		t.Error("the hook binds to no point; check it with a configuration that does something")
	}
}

// boundTo returns the firings of the points that have hooks or observers.
func boundTo(hooks *agent.Hooks) []firing {
	has := map[string]bool{}
	for _, p := range hooks.Points() {
		has[p.Name] = len(p.Hooks())+len(p.Observers()) > 0
	}
	var bound []firing
	for _, f := range firings {
		if has[f.point] {
			bound = append(bound, f)
		}
	}
	return bound
}

// hostile reports panics and illegal outcomes.
func (c checker) hostile(t *testing.T) {
	hooks, failures := c.bound()
	for variant := range variants {
		run := agent.NewRun(newEnv())
		for _, f := range boundTo(hooks) {
			failures.Reset()
			f.fire(t.Context(), hooks, run, variant)
			for _, e := range failures.Events() {
				if why := misbehaved(e.Failure); why != "" {
					t.Errorf("%s with payload %d: %s", f.point, variant, why)
				}
			}
		}
	}
}

// misbehaved says what is wrong with a failure that is more than an error that the hook returned.
func misbehaved(failure error) string {
	var f *hookkit.Failure
	if !errors.As(failure, &f) {
		return ""
	}
	var panicked *hookkit.PanicError
	switch {
	case errors.As(f.Cause, &panicked):
		return fmt.Sprintf("%s panicked: %v\n%s", f.Hook, panicked.Value, f.Stack)
	case errors.Is(f.Cause, hookkit.ErrGoexit), errors.Is(f.Cause, hookkit.ErrNoAnswer), errors.Is(f.Cause, hookkit.ErrIllegal):
		return f.Error()
	}
	return ""
}

// inPlace reports a payload that the hook changed through a slice, a map or a pointer.
func (c checker) inPlace(t *testing.T) {
	hooks, _ := c.bound()
	for variant := range variants {
		run := agent.NewRun(newEnv())
		for _, f := range boundTo(hooks) {
			fired := f.fire(t.Context(), hooks, run, variant)
			if where := difference("payload", reflect.ValueOf(fired.before), reflect.ValueOf(fired.shared)); where != "" {
				t.Errorf("%s: a hook of %v changed %s in place; let it return a replacement", f.point, names(hooks, f.point), where)
			}
		}
	}
}

// names are the hooks and observers of a point.
func names(hooks *agent.Hooks, point string) []string {
	var all []string
	for _, p := range hooks.Points() {
		if p.Name == point {
			for _, i := range append(p.Hooks(), p.Observers()...) {
				all = append(all, i.Name)
			}
		}
	}
	return all
}

// isolated compares what is decided in two runs of one instance, and in one of another.
func (c checker) isolated(t *testing.T) {
	first, _ := c.bound()
	second, _ := c.bound()
	play := func(hooks *agent.Hooks, run *agent.Run) []string {
		var said []string
		for range 3 {
			for _, f := range boundTo(hooks) {
				fired := f.fire(t.Context(), hooks, run, ordinary)
				said = append(said, fmt.Sprintf("%s: left %s, decided %s, error %v", f.point, encoded(fired.left), encoded(fired.outcome), fired.err))
			}
		}
		return said
	}
	run, other := agent.NewRun(newEnv()), agent.NewRun(newEnv())
	want := play(first, run)
	compare := func(got []string, what string) {
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s decides differently, so state leaks\nfirst  %.600s\nthen   %.600s", what, want[i], got[i])
				return
			}
		}
	}
	compare(play(first, other), "a second run of the instance")
	compare(play(second, agent.NewRun(newEnv())), "a second instance in a run of its own")
	compare(play(second, run), "a second instance in the first one's run")
}

func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	return fmt.Sprintf("%T %s", v, text)
}

// patience is how long a hook may take that is to return at once.
const patience = 20 * time.Second

// cancelled fires under a cancelled context.
func (c checker) cancelled(t *testing.T) {
	hooks, _ := c.bound()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, f := range boundTo(hooks) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.fire(ctx, hooks, agent.NewRun(newEnv()), ordinary)
		}()
		select {
		case <-done:
		case <-time.After(patience):
			t.Fatalf("%s: a hook of %v does not return though its context is cancelled", f.point, names(hooks, f.point))
		}
	}
}

// goroutines reports goroutines that a hook started and that do not end.
func (c checker) goroutines(t *testing.T) {
	const label = "hooktest"
	mark := t.Name()
	pprof.Do(t.Context(), pprof.Labels(label, mark), func(ctx context.Context) {
		hooks, _ := c.bound()
		run := agent.NewRun(newEnv())
		for _, f := range boundTo(hooks) {
			f.fire(ctx, hooks, run, ordinary)
		}
	})
	left := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if left = labelled(label, mark); left == "" {
			return
		}
	}
	t.Errorf("the hook left goroutines behind:\n%s", left)
}

// labelled returns the stacks of goroutines that have a label, which they inherit from who started them.
func labelled(label, mark string) string {
	var b strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		return err.Error()
	}
	quoted, err := json.Marshal(mark)
	if err != nil {
		return err.Error()
	}
	var found []string
	for _, stack := range strings.Split(b.String(), "\n\n") {
		if strings.Contains(stack, fmt.Sprintf("%q:%s", label, quoted)) {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}

// parallel fires from several goroutines, so that the race detector can see.
func (c checker) parallel(t *testing.T) {
	hooks, failures := c.bound()
	var wg sync.WaitGroup
	shared := agent.NewRun(newEnv())
	for i := range 8 {
		wg.Go(func() {
			run := shared
			if i%2 == 1 {
				run = agent.NewRun(newEnv())
			}
			for range 3 {
				for _, f := range boundTo(hooks) {
					f.fire(t.Context(), hooks, run, ordinary)
				}
			}
		})
	}
	wg.Wait()
	for _, e := range failures.Events() {
		if why := misbehaved(e.Failure); why != "" {
			t.Errorf("%s: %s", e.Point, why)
		}
	}
}

// loop runs a loop with the hook.
func (c checker) loop(t *testing.T) {
	failures := new(hookkit.Recorder)
	hooks := new(agent.Hooks)
	hooks.Use(c.newHook())
	hooks.Trace(failures)
	recorder := new(Recorder)
	hooks.ObserveAny(recorder)
	type place struct {
		At string `json:"at"`
	}
	look := func(context.Context, place) (string, error) { return "seen", nil }
	fail := func(context.Context, struct{}) (string, error) { return "", errors.New("down") }
	a := &loop.Agent{
		Name: "checked", Hooks: hooks, Model: &replies{all: loopReplies},
		Tools: []agent.Tool{loop.Tool("look", "Looks.", look), loop.Tool("fail", "Fails.", fail)},
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = a.Run(t.Context(), "go") // a hook may end the run with an error
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the run does not come to its end")
	}
	recorder.Times(t, "OnRunEnd", 1)
	for _, e := range failures.Events() {
		if why := misbehaved(e.Failure); why != "" {
			t.Errorf("%s: %s", e.Point, why)
		}
	}
}
