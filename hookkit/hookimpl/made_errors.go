package hookimpl

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hookgen/hookgen/hookkit"
)

// madeErrors holds the errors that the hooks and the act of one fire of an around point made.
type madeErrors struct {
	gone atomic.Bool // a hook or the act is ending the goroutine

	mu   sync.Mutex  // of errs
	errs []madeError // the latest last
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
// goroutine of another, it reports the failure at once.
func (inv *AroundInvocation) remember(ctx context.Context, s *Snapshot, m madeError) {
	if dropped := inv.keep(m); dropped.failure != nil {
		s.report(ctx, dropped.failure)
	}
}

// keep adds an error to those of the fire. It returns the error that is dropped: the new one if the fire is over, an
// older one if there are too many, or else a zero madeError.
func (inv *AroundInvocation) keep(m madeError) (dropped madeError) {
	made := inv.made()
	made.mu.Lock()
	defer made.mu.Unlock()
	if inv.isOver() {
		return m
	}
	made.errs = append(made.errs, m)
	if len(made.errs) > maxErrs {
		dropped = made.errs[maxErrs/2]
		made.errs = slices.Delete(made.errs, maxErrs/2, maxErrs/2+1)
	}
	return dropped
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
	for _, m := range inv.errors.Load().all() {
		if m.failure != nil && !m.in(err) {
			s.report(ctx, m.failure)
		}
	}
}

// whoMade returns who made an error that hook i returned, or the whole fire if i is -1. The hook only passes on an
// error of an inner hook or of the act, wrapped or not. The result is -1 if that error is unknown.
func (inv *AroundInvocation) whoMade(err error, i int) int {
	for _, m := range slices.Backward(inv.errors.Load().all()) {
		if m.by > i && m.in(err) {
			return m.by
		}
	}
	return -1
}

// in reports whether err is the error m, or wraps it.
func (m madeError) in(err error) bool {
	return inChain(err, func(inner error) bool { return sameError(inner, m.err) })
}

// remembers reports whether a hook of this fire, or its act, made the failure.
func (inv *AroundInvocation) remembers(f *hookkit.Failure) bool {
	return slices.ContainsFunc(inv.errors.Load().all(), func(m madeError) bool { return m.failure == f })
}
