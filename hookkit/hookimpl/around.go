package hookimpl

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// An AroundInvocation is the state of one fire of an around point while its hooks and the act run. A hook that the
// runtime may abandon, for example because of its Timeout, has one of its own for everything inside it.
type AroundInvocation struct {
	over     atomic.Bool       // next must not be called any more
	reported bool              // a field of the outermost invocation, here because there is room for it; see errs
	outer    *AroundInvocation // of the part inside a hook: the invocation around it

	// These fields are used in the outermost invocation.
	fireID atomic.Uint64
	gone   atomic.Bool // a hook or the act is ending the goroutine
	failed atomic.Bool // errs may not be empty

	mu   sync.Mutex  // of errs and reported
	errs []madeError // that hooks and the act returned, the latest last; reported at once if reported is set
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

// End makes every next of the invocation invalid.
func (inv *AroundInvocation) End() { inv.over.Store(true) }

// Finish ends the invocation of a whole fire. If its goroutine is ending, so that Concluded was not called, it reports
// the failures that no caller receives now.
func (inv *AroundInvocation) Finish(ctx context.Context, s *Snapshot) {
	inv.End()
	inv.report(ctx, s, nil)
}

// Over reports whether End was called, for this invocation or for one around it.
func (inv *AroundInvocation) Over() bool {
	for ; inv != nil; inv = inv.outer {
		if inv.over.Load() {
			return true
		}
	}
	return false
}

// Within makes the invocation a part of the outer one.
func (inv *AroundInvocation) Within(outer *AroundInvocation) { inv.outer = outer }

// id returns a random number of the whole fire, by which an answer of another fire is recognized. An answer may
// outlive its fire, for example in a cache, and must not keep the fire in memory.
func (inv *AroundInvocation) id() uint64 {
	inv = inv.whole()
	for inv.fireID.Load() == 0 {
		inv.fireID.CompareAndSwap(0, rand.Uint64())
	}
	return inv.fireID.Load()
}

// whole returns the invocation of the whole fire.
func (inv *AroundInvocation) whole() *AroundInvocation {
	for inv.outer != nil {
		inv = inv.outer
	}
	return inv
}

// Crashed records that hook i, counted from 0, or the wrapped act after the last hook, did not return. It takes the
// result of recover, and returns the failure, or nil if an inner call has recorded that the goroutine is ending.
func (inv *AroundInvocation) Crashed(ctx context.Context, s *Snapshot, i int, recovered any) error {
	inv = inv.whole()
	if recovered == nil && inv.gone.Swap(true) {
		return nil // which no caller receives
	}
	var f *hookkit.Failure
	if i < len(s.entries) {
		f = s.failed(ctx, s.entries[i], crashed(recovered), recovered == nil, nil)
	} else {
		f = s.unreturned(ctx, recovered)
	}
	made := madeError{err: f, by: i}
	if recovered != nil { // else it is reported already
		made.failure = f
	}
	inv.remember(ctx, s, made)
	return f
}

// Failed handles an error on its way out of hook i, counted from 0, or out of the act if i is the number of hooks. A
// nil err means that the hook returned no answer. An error that the hook returned passes on as it is. A timeout, a
// panic inside a timeout and a missing answer become a failure of the hook.
func (inv *AroundInvocation) Failed(ctx context.Context, s *Snapshot, i int, err error) error {
	inv = inv.whole()
	if i == len(s.entries) {
		inv.remember(ctx, s, madeError{err: err, by: i})
		return err
	}
	if inv.whoMade(err, i) >= 0 {
		return err
	}
	crash, isCrash := err.(*crash)
	switch {
	case err == nil:
		err = hookkit.ErrNoAnswer
	case isCrash && crash.cause == hookkit.ErrGoexit:
		inv.gone.Store(false) // it was the goroutine of the hook's timeout that ended
	case isCrash, err == hookkit.ErrTimeout, isIllegal(err):
	default:
		inv.remember(ctx, s, madeError{err, i, s.entries[i].failure(s.point.Name, err)})
		return err
	}
	f := s.failed(ctx, s.entries[i], err, false, nil)
	inv.remember(ctx, s, madeError{f, i, f})
	return f
}

// remember keeps an error for Concluded. If the fire is over, because a timeout has abandoned the hook that called
// next, or if there are too many errors to remember, it reports the failure at once.
func (inv *AroundInvocation) remember(ctx context.Context, s *Snapshot, m madeError) {
	inv.failed.Store(true)
	if dropped := inv.keep(m); dropped.failure != nil {
		s.unreported(ctx, dropped.failure)
	}
}

// keep adds an error to errs. It returns the error that is dropped: the new one if the fire is over, an older one if
// there are too many, or else a zero madeError.
func (inv *AroundInvocation) keep(m madeError) (dropped madeError) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if inv.reported {
		return m
	}
	inv.errs = append(inv.errs, m)
	if len(inv.errs) > maxErrs {
		dropped = inv.errs[maxErrs/2]
		inv.errs = slices.Delete(inv.errs, maxErrs/2, maxErrs/2+1)
	}
	return dropped
}

// report reports the failures that are not in err, the error of the whole fire.
func (inv *AroundInvocation) report(ctx context.Context, s *Snapshot, err error) {
	if !inv.failed.Load() {
		return
	}
	inv.mu.Lock()
	errs := inv.errs
	if inv.reported {
		errs = nil
	}
	inv.reported = true
	inv.mu.Unlock()
	for _, m := range errs {
		if m.failure != nil && !inChain(err, func(inner error) bool { return sameError(inner, m.err) }) {
			s.unreported(ctx, m.failure)
		}
	}
}

// whoMade returns who made an error that hook i returned, or the whole fire if i is -1. The hook only passes on an
// error of an inner hook or of the act, wrapped or not. The result is -1 if that error is unknown.
func (inv *AroundInvocation) whoMade(err error, i int) int {
	if !inv.failed.Load() {
		return -1
	}
	inv.mu.Lock()
	errs := slices.Clone(inv.errs)
	inv.mu.Unlock()
	for _, m := range slices.Backward(errs) {
		if m.by > i && inChain(err, func(inner error) bool { return sameError(inner, m.err) }) {
			return m.by
		}
	}
	return -1
}

// remembers reports whether a hook of this fire, or its act, made the failure.
func (inv *AroundInvocation) remembers(f *hookkit.Failure) bool {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return slices.ContainsFunc(inv.errs, func(m madeError) bool { return m.failure == f })
}

func isIllegal(err error) bool {
	_, ok := err.(illegal)
	return ok
}

// ErrorBy returns the By of an error, without the hook that made it.
func ErrorBy(err error) hookkit.By {
	return hookkit.By{Decision: hookkit.DecisionError, Reason: textOf(err)}
}

// Concluded records the end of the fire and, unless by is nil, stores who decided: the hook that gave the answer, or
// the one that made the error. Only the end of the fire shows that, because an outer hook may have called next again.
// It reports the failures that an outer hook did not pass on.
func Concluded[R any](
	ctx context.Context,
	inv *AroundInvocation,
	s *Snapshot,
	answer *hookkit.Answer[R],
	err error,
	by *hookkit.By,
) {
	inv.End()
	inv.report(ctx, s, err)
	if by == nil && s.recording == nil {
		return
	}
	var decided hookkit.By
	if err != nil {
		decided = ErrorBy(err)
		if i := inv.whoMade(err, -1); i >= 0 && i < len(s.entries) {
			decided.Hook, decided.Site = s.entries[i].name, s.entries[i].site
		}
		if f := failureIn(err); f != nil && f.Hook != "" && inv.remembers(f) {
			decided.Reason = textOf(f.Cause)
		}
	} else if e, ok := (*opaque.Answer[R])(answer).By().(*entry); ok {
		decided = hookkit.By{Hook: e.name, Site: e.site, Decision: hookkit.DecisionAnswered}
	}
	if by != nil {
		*by = decided
	}
	if r := s.recording; r != nil {
		r.decided(decided)
		r.err, r.gone = err, nil
	}
}
