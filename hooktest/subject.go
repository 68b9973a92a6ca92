package hooktest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// A subject is one instance of the checked hook, on Hooks of its own.
type subject struct {
	*checker
	t      testing.TB
	points []hookkit.AnyPoint // those that have hooks or observers
	runs   atomic.Int64       // made by run

	mu       sync.Mutex
	failures []*hookkit.Failure // that no fire returned
}

// subject returns a new one.
func (c *checker) subject(t testing.TB) *subject {
	s := &subject{checker: c, t: t}
	for _, p := range c.build() {
		if len(p.Hooks())+len(p.Observers()) == 0 {
			continue
		}
		s.points = append(s.points, p)
		p.HandleFailures(func(_ context.Context, f *hookkit.Failure) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.failures = append(s.failures, f)
		})
	}
	return s
}

// run returns a new run for the fires of the subject. Its identity is the number of the run, so that a hook that
// decides by the identity decides alike in every instance.
func (s *subject) run() hookkit.AnyRun { return s.runWith(s.runs.Add(1)) }

// runWith returns a new run with the number as its identity.
func (s *subject) runWith(number int64) hookkit.AnyRun {
	id := fmt.Sprintf("%016x", number)
	if s.newRun != nil {
		return s.newRun(id)
	}
	return s.points[0].ResumeRun(id, "", id)
}

// names are the hooks and observers of a point.
func names(p hookkit.AnyPoint) string {
	var all []string
	for _, i := range slices.Concat(p.Hooks(), p.Observers()) {
		all = append(all, i.Name)
	}
	return strings.Join(all, ", ")
}

// A shot is one fire of one point.
type shot struct {
	before  reflect.Value // a deep copy of the payload from before
	shared  reflect.Value // the payload itself, which shares memory with the one that the hooks received
	fired   hookkit.AnyFired
	failure string // what the hook did wrong; "" for nothing
	blocked bool   // the fire has not returned
}

// round fires every point in a run, with ordinary payloads.
func (s *subject) round(run hookkit.AnyRun) []hookkit.AnyFired {
	var all []hookkit.AnyFired
	for _, p := range s.points {
		for _, payload := range s.payloads(p, ordinary) {
			all = append(all, s.fire(s.t.Context(), p, run, payload).fired)
		}
	}
	return all
}

// fire fires a point with a copy of the payload. It ends the test if the fire does not return, because each further one
// would wait as long.
func (s *subject) fire(ctx context.Context, p hookkit.AnyPoint, run hookkit.AnyRun, with payload) shot {
	sh := s.try(ctx, p, run, with)
	if sh.blocked {
		s.t.Fatalf("%s with %s: %s", p.Name, with.name, sh.failure)
	}
	return sh
}

// try is fire for any goroutine: it returns a shot for a fire that does not return.
func (s *subject) try(ctx context.Context, p hookkit.AnyPoint, run hookkit.AnyRun, with payload) shot {
	at := reflect.New(with.value.Type())
	at.Elem().Set(deepCopy(with.value))
	sh := shot{before: deepCopy(with.value), shared: reflect.New(with.value.Type()).Elem()}
	sh.shared.Set(at.Elem())
	var err error
	returned := false
	done := make(chan struct{})
	go func() { // a goroutine of its own, because the hook may end it
		defer close(done)
		sh.fired, err = p.Fire(ctx, run, at.Interface())
		returned = true
	}()
	select {
	case <-done:
	case <-time.After(s.patience):
		s.blocked.Store(true)
		return shot{blocked: true, failure: fmt.Sprintf("%s does not return within %v", names(p), s.patience)}
	}
	switch {
	case !returned:
		sh.failure = fmt.Sprintf("%s: %v", names(p), hookkit.ErrGoexit)
	case err != nil && sh.fired.Point == "":
		sh.failure = err.Error() // the point does not take the run
	default:
		sh.failure = s.misconduct(sh.fired.Failures)
	}
	return sh
}

// misconduct describes the first failure that is more than an error which the hook returned; "" without one.
func (s *subject) misconduct(failures []*hookkit.Failure) string {
	for _, f := range failures {
		var panicked *hookkit.PanicError
		switch {
		case isNil(f.Cause): // first, because its methods may panic
			return fmt.Sprintf("%s returned a nil %T as its error, so every fire counts as failed; return nil itself",
				f.Hook, f.Cause)
		case errors.As(f.Cause, &panicked):
			return fmt.Sprintf("%s panicked: %v\n%s%s", f.Hook, panicked.Value, s.hint(), f.Stack)
		case errors.Is(f.Cause, hookkit.ErrGoexit),
			errors.Is(f.Cause, hookkit.ErrNoAnswer),
			errors.Is(f.Cause, hookkit.ErrIllegal):
			return fmt.Sprintf("%s: %v", f.Hook, f.Cause)
		}
	}
	return ""
}

// isNil reports whether an error is a nil pointer, map or slice in an error that is not nil.
func isNil(err error) bool {
	switch v := reflect.ValueOf(err); v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return v.IsNil()
	}
	return false
}

// hint explains a panic that the environment of the runs may have caused: for example, Env is a nil pointer.
func (s *subject) hint() string {
	run := reflect.ValueOf(s.points[0].NewRun()).Elem()
	if s.newRun != nil || run.FieldByName("Env").Type().Size() == 0 {
		return ""
	}
	return "(run.Env is a zero value here: if the hook uses it, set it with hooktest.Env)\n"
}

// late reports what observers, and hooks after their Timeout, did wrong. A fault at a point of which a fire reported
// one is probably the same.
func (s *subject) late(reported *sync.Map) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.failures {
		if _, again := reported.Load(f.Point); again {
			continue
		}
		if why := s.misconduct([]*hookkit.Failure{f}); why != "" {
			s.t.Errorf("%s: %s", f.Point, why)
			return
		}
	}
}
