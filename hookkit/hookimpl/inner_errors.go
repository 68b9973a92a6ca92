package hookimpl

import (
	"context"
	"reflect"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/hookkit"
)

// innerErrors holds what next returned as an error in one fire of an around point: the errors of the act, which pass on
// as they are, and the failures of hooks. A hook whose error contains one of them only passes it on.
type innerErrors struct {
	mu   sync.Mutex   // of the fields below
	errs []innerError // the latest last
	ends map[int]int  // by level, the calls that a runtime.Goexit is leaving

	passed any // the value of a panic of the act that Finish raises again; only the goroutine of the fire uses it
}

// An innerError is one error that next returned first.
type innerError struct {
	err     error
	failure *hookkit.Failure // err, as the failure of a hook or of an act that crashed; nil for an error of the act
	crash   bool             // a panic or a Goexit, which is reported unless the caller receives it
}

// maxErrs limits the errors that an AroundInvocation remembers. A hook that tries again for ever gets a new error each
// time, and passes on the first or the latest of them. So half of those remembered are the first, and half the latest.
const maxErrs = 32

// inner returns the errors of the fire, to add one. It makes the list on first use.
func (inv *AroundInvocation) inner() *innerErrors {
	if inv.errors.Load() == nil {
		inv.errors.CompareAndSwap(nil, new(innerErrors))
	}
	return inv.errors.Load()
}

// remember adds an error that next is about to return. A crash that Concluded will not report any more is reported at
// once: the fire is over, as for a hook that runs in a goroutine of another, or there are too many errors.
func (inv *AroundInvocation) remember(ctx context.Context, s *Snapshot, made innerError) {
	var unheard innerError
	inner := inv.inner()
	inner.mu.Lock()
	inner.errs = append(inner.errs, made)
	if inv.isOver() {
		unheard = made
	} else if len(inner.errs) > maxErrs {
		unheard = inner.errs[maxErrs/2]
		inner.errs = slices.Delete(inner.errs, maxErrs/2, maxErrs/2+1)
	}
	inner.mu.Unlock()
	if unheard.crash {
		s.report(ctx, unheard.failure)
	}
}

// leave records that a Goexit leaves the call of the level, and reports whether the hook of the level, or the act, has
// called Goexit: it did not leave the call inside that one before. A hook may call next in goroutines that end there,
// and then call Goexit itself. Its own is taken for one of theirs.
func (inner *innerErrors) leave(level int) (isNew bool) {
	inner.mu.Lock()
	defer inner.mu.Unlock()
	if inner.ends == nil {
		inner.ends = map[int]int{}
	}
	inner.ends[level]++
	if inner.ends[level+1] == 0 {
		return true
	}
	inner.ends[level+1]--
	return false
}

// all returns the errors so far.
func (inner *innerErrors) all() []innerError {
	if inner == nil {
		return nil
	}
	inner.mu.Lock()
	defer inner.mu.Unlock()
	return slices.Clone(inner.errs)
}

// report reports, when the fire is over, the crashes that are not in err, the error of the whole fire. An error that a
// hook returned and another dropped is not reported: to drop it was that hook's decision.
func (inv *AroundInvocation) report(ctx context.Context, s *Snapshot, err error) {
	errs := inv.errors.Load().all()
	slices.Reverse(errs)
	for _, made := range errs {
		if made.crash && !contains(err, made.err) {
			defer s.report(ctx, made.failure) // in order, and all of them if the handler ends the goroutine
		}
	}
}

// find returns the latest error of this fire that err is or wraps.
func (inv *AroundInvocation) find(err error) (made innerError, found bool) {
	for _, made := range slices.Backward(inv.errors.Load().all()) {
		if contains(err, made.err) {
			return made, true
		}
	}
	return innerError{}, false
}

// contains reports whether err is the other error, or wraps it. It does not call Is methods, as errors.Is does: that of
// ErrTimeout also matches a context.DeadlineExceeded that somebody else made. It recovers, because Unwrap of a typed
// nil pointer may panic.
func contains(err, other error) bool {
	defer func() { _ = recover() }()
	left := maxWrapped
	return containsIn(err, other, &left)
}

// maxWrapped bounds the errors that contains compares. An error of a hook may wrap itself.
const maxWrapped = 1000

func containsIn(err, other error, left *int) bool {
	for err != nil && *left > 0 {
		*left--
		if same(err, other) {
			return true
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			return slices.ContainsFunc(e.Unwrap(), func(err error) bool { return containsIn(err, other, left) })
		default:
			return false
		}
	}
	return false
}

// same reports whether two errors are one. Those that cannot be compared, as the ErrorList of go/scanner, are one if
// they are deeply equal.
func same(a, b error) bool {
	if reflect.ValueOf(a).Comparable() {
		return a == b
	}
	return reflect.DeepEqual(a, b)
}
