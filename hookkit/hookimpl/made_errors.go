package hookimpl

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/hookkit"
)

// madeErrors holds the errors that the hooks and the act of one fire of an around point made.
type madeErrors struct {
	mu   sync.Mutex     // of the fields below
	errs []madeError    // the latest last
	ends map[ending]int // how many there are of each
}

// An ending is a call of runtime.Goexit by a hook or the act, on its way out through the calls of next.
type ending struct {
	level int         // of the outermost call that it has reached
	stack [32]uintptr // where Goexit was called; the same in each call, because Goexit does not unwind the stack
}

// A madeError is an error that a hook or the act made.
type madeError struct {
	err     error
	by      int              // the hook, counted from 0; the number of hooks for the act
	failure *hookkit.Failure // reported if the caller does not receive the error; nil for an error of the act
}

// maxErrs limits the errors that an AroundInvocation remembers. For example, a hook that tries again for ever gets a
// new error each time, and passes on the first or the latest of them. So half of those remembered are the first, and
// half the latest.
const maxErrs = 32

// made returns the errors of the fire, to add one. It makes the list on first use.
func (inv *AroundInvocation) made() *madeErrors {
	if inv.errors.Load() == nil {
		inv.errors.CompareAndSwap(nil, new(madeErrors))
	}
	return inv.errors.Load()
}

// remember keeps an error for Concluded. If there are too many, or if the fire is over, as for a hook that runs in a
// goroutine of another, it reports a failure at once.
func (inv *AroundInvocation) remember(ctx context.Context, s *Snapshot, m madeError) {
	if unheard := inv.keep(m); unheard != nil {
		s.report(ctx, unheard)
	}
}

// keep adds an error to those of the fire. It returns the failure that Concluded will not report: the new one if the
// fire is over, or an older one if there are too many, or else nil. Hooks may still pass the error on when the fire is
// over. There are not many then, because next is not called any more.
func (inv *AroundInvocation) keep(m madeError) (unheard *hookkit.Failure) {
	made := inv.made()
	made.mu.Lock()
	defer made.mu.Unlock()
	if inv.isOver() {
		unheard, m.failure = m.failure, nil
		made.errs = append(made.errs, m)
		return unheard
	}
	made.errs = append(made.errs, m)
	if len(made.errs) > maxErrs {
		unheard = made.errs[maxErrs/2].failure
		made.errs = slices.Delete(made.errs, maxErrs/2, maxErrs/2+1)
	}
	return unheard
}

// markEnding records that a Goexit has reached the call of hook i or of the act, and reports whether that is new. For
// example, the innermost hook calls runtime.Goexit: every level around it notices that in its deferred function, and
// only the first reports it. Hooks may end several goroutines, so the stacks are compared.
func (made *madeErrors) markEnding(i int) (isNew bool) {
	at := ending{level: i}
	runtime.Callers(0, at.stack[:])
	inner := at
	inner.level++
	made.mu.Lock()
	defer made.mu.Unlock()
	if made.ends == nil {
		made.ends = map[ending]int{}
	}
	made.ends[at]++
	known := made.ends[inner] > 0
	if known {
		made.ends[inner]--
	}
	return !known
}

// all returns the errors so far.
func (made *madeErrors) all() []madeError {
	if made == nil {
		return nil
	}
	made.mu.Lock()
	defer made.mu.Unlock()
	return slices.Clone(made.errs)
}

// report reports, when the fire is over, the failures that are not in err, the error of the whole fire.
func (inv *AroundInvocation) report(ctx context.Context, s *Snapshot, err error) {
	errs := inv.errors.Load().all()
	slices.Reverse(errs)
	for _, m := range errs {
		if m.failure != nil && !m.in(err) {
			defer s.report(ctx, m.failure) // in order, and all of them if the handler ends the goroutine
		}
	}
}

// find returns the latest error of this fire that is in the error of hook i, or of the whole fire if i is -1. The hook
// only passes on an error of an inner hook or of the act, wrapped or not. There may be none.
func (inv *AroundInvocation) find(err error, i int) (m madeError, found bool) {
	for _, m := range slices.Backward(inv.errors.Load().all()) {
		if m.by > i && m.in(err) {
			return m, true
		}
	}
	return madeError{}, false
}

// in reports whether err is the error m, or wraps it.
func (m madeError) in(err error) bool {
	return inChain(err, func(inner error) bool { return sameError(inner, m.err) })
}
