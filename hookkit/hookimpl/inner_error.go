package hookimpl

import (
	"context"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/hookkit"
)

// An innerError is an error that next returns: one of the act, or the failure of a hook or of an act that crashed. It
// is made once, where the error is. So a hook that returns it, perhaps inside an error of its own, only passes it on.
type innerError struct {
	err     error
	failure *hookkit.Failure // err, as the failure of a hook or of an act that crashed; nil for an error of the act
	fire    uint64
}

func (e *innerError) Error() string { return e.err.Error() }

func (e *innerError) Unwrap() error { return e.err }

// outermost returns the error as it was made, if the hooks passed it on as it is.
func outermost(err error) error {
	if inner, ok := err.(*innerError); ok {
		return inner.err
	}
	return err
}

// A troubledFire is the part of an AroundInvocation that only a fire with an error needs.
type troubledFire struct {
	mu      sync.Mutex
	crashes []*innerError // the panics of which nobody has received a report
	ends    map[int]int   // by level, the calls that a runtime.Goexit is leaving

	passed any // the value of a panic of the act that Finish raises again; only the goroutine of the fire uses it
}

// maxCrashes limits the panics that a fire remembers. A hook that tries again for ever gets a new one each time, and
// passes on the first or the latest of them. So half of those remembered are the first, and half the latest.
const maxCrashes = 32

// trouble returns the troubledFire, which it makes on first use.
func (inv *AroundInvocation) trouble() *troubledFire {
	inv.troubled.CompareAndSwap(nil, new(troubledFire))
	return inv.troubled.Load()
}

// inner returns the error that next is about to return. A panic that Concluded will not report any more is reported at
// once: the fire is over, as for a hook that runs in a goroutine of another, or there are too many.
func (inv *AroundInvocation) inner(ctx context.Context, s *Snapshot, err error, f *hookkit.Failure, panics bool) error {
	t := inv.trouble()
	t.mu.Lock()
	made := &innerError{err, f, inv.id()}
	var unheard *innerError
	switch {
	case !panics:
	case inv.isOver():
		unheard = made
	default:
		if t.crashes = append(t.crashes, made); len(t.crashes) > maxCrashes {
			unheard = t.crashes[maxCrashes/2]
			t.crashes = slices.Delete(t.crashes, maxCrashes/2, maxCrashes/2+1)
		}
	}
	t.mu.Unlock()
	if unheard != nil {
		s.report(ctx, unheard.failure)
	}
	return made
}

// leave records that a Goexit leaves the call of the level, and reports whether the hook of the level, or the act, has
// called Goexit: it did not leave the call inside that one before. A hook may call next in goroutines that end there,
// and then call Goexit itself. Its own is taken for one of theirs.
func (t *troubledFire) leave(level int) (isNew bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ends == nil {
		t.ends = map[int]int{}
	}
	t.ends[level]++
	if t.ends[level+1] == 0 {
		return true
	}
	t.ends[level+1]--
	return false
}

// report reports, when the fire is over, the panics that are not in err, the error of the whole fire. An error that a
// hook returned and another dropped is not reported: to drop it was that hook's decision.
func (inv *AroundInvocation) report(ctx context.Context, s *Snapshot, err error) {
	t := inv.trouble()
	t.mu.Lock()
	crashes := t.crashes
	t.mu.Unlock()
	heard := inv.passedIn(err)
	for _, made := range slices.Backward(crashes) {
		if !slices.Contains(heard, made) {
			defer s.report(ctx, made.failure) // in order, and all of them if the handler ends the goroutine
		}
	}
}

// maxWrapped bounds the errors that passedIn looks at. An error of a hook may wrap itself.
const maxWrapped = 1000

// passedIn returns the errors of this fire that err is or wraps; more than one if a hook joined them. It recovers,
// because Unwrap of a typed nil pointer may panic.
func (inv *AroundInvocation) passedIn(err error) (passed []*innerError) {
	defer func() { _ = recover() }()
	fire, left := inv.id(), maxWrapped
	var look func(error)
	look = func(err error) {
		if left--; left < 0 {
			return
		}
		switch e := err.(type) {
		case *innerError:
			if e.fire == fire {
				passed = append(passed, e)
			} else {
				look(e.err)
			}
		case interface{ Unwrap() error }:
			look(e.Unwrap())
		case interface{ Unwrap() []error }:
			for _, err := range e.Unwrap() {
				look(err)
			}
		}
	}
	look(err)
	return passed
}
