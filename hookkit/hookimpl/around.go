package hookimpl

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// An Act is one fire of an around point, or the part of it inside one hook that the runtime may abandon.
type Act struct {
	over  atomic.Bool // next must not be called any more
	outer *Act        // of the part inside a hook: the act around it

	// What follows is used in the outermost act.
	gone atomic.Bool // a hook or the act is ending the goroutine

	failing  atomic.Bool // failures or errs may not be empty
	mu       sync.Mutex
	failures []*hookkit.Failure // of the hooks and of the act, until it is known whether the caller receives them
	errs     []madeError        // that hooks and the act returned, the latest last
}

// A madeError is an error and the hook that made it, nil for the act.
type madeError struct {
	err error
	by  *entry
}

// maxErrs limits the errors that an Act remembers. For example, a hook that tries again for ever gets a new error each
// time, and only the latest are likely to be passed on.
const maxErrs = 32

// End makes every next of the act invalid.
func (a *Act) End() { a.over.Store(true) }

// Ended ends the act of a whole fire. If its goroutine is ending, so that the fire was not concluded, it reports the
// failures that no caller receives now.
func (a *Act) Ended(ctx context.Context, d *Dispatch) {
	a.End()
	for _, f := range a.kept() {
		d.unreported(ctx, f)
	}
}

// Over reports whether End was called, for this act or for one around it.
func (a *Act) Over() bool {
	for ; a != nil; a = a.outer {
		if a.over.Load() {
			return true
		}
	}
	return false
}

// Within makes the act a part of the outer one.
func (a *Act) Within(outer *Act) { a.outer = outer }

// whole returns the act that this one is a part of.
func (a *Act) whole() *Act {
	for a.outer != nil {
		a = a.outer
	}
	return a
}

// Acted makes the answer the result of the wrapped act.
func Acted[R any](a *hookkit.Answer[R], r R) { (*opaque.Answer[R])(a).Acted(r) }

// Missing reports whether there is no answer.
func Missing[R any](a *hookkit.Answer[R]) bool { return !(*opaque.Answer[R])(a).Given() }

// Pass records that the answer leaves hook i, counted from 0, on its way out.
func Pass[R any](a *hookkit.Answer[R], d *Dispatch, i int) {
	if answer := (*opaque.Answer[R])(a); answer.Replaced() && i < len(d.entries) {
		answer.Pass(d.entries[i])
	}
}

// Reply returns the answer of an around hook as the reply of a hook for any point.
func Reply[R any](a hookkit.Answer[R]) hookkit.AnyReply {
	return hookkit.AnyReply{Result: boxed[R]{opaque.Answer[R](a)}}
}

// AnswerOf returns the answer of such a reply. Where it has another type, or there is a decision or a contribution, the
// error is ErrIllegal.
func AnswerOf[R any](reply hookkit.AnyReply, err error) (answer hookkit.Answer[R], _ error) {
	illegal := cmp.Or(reply.Outcome, reply.Collected)
	switch r := reply.Result.(type) {
	case boxed[R]:
		answer = hookkit.Answer[R](r.answer)
	case R:
		answer = hookkit.Answered(r)
	default:
		illegal = cmp.Or(illegal, reply.Result)
	}
	if illegal != nil && err == nil {
		err = Illegal(illegal)
	}
	return answer, err
}

// boxed is an answer in a reply.
type boxed[R any] struct{ answer opaque.Answer[R] }

func (b boxed[R]) missing() bool { return !b.answer.Given() }

func (b boxed[R]) decision() (string, string) {
	if b.answer.Replaced() {
		return "Answered", ""
	}
	return "", ""
}

// Crashed records that hook i, counted from 0, or the wrapped act after the last hook, did not return. It takes the
// result of recover and returns the failure.
func (a *Act) Crashed(ctx context.Context, d *Dispatch, i int, recovered any) error {
	a = a.whole()
	if recovered == nil && a.gone.Swap(true) {
		return hookkit.ErrGoexit // recorded further in
	}
	var f *hookkit.Failure
	if i < len(d.entries) {
		f = d.failed(ctx, d.entries[i], crashed(recovered), recovered == nil, nil)
	} else {
		f = d.unreturned(ctx, recovered)
	}
	if recovered != nil {
		a.keep(ctx, d, f)
	}
	var by *entry
	if i < len(d.entries) {
		by = d.entries[i]
	}
	a.made(f, by)
	return f
}

// unreturned records that the wrapped act did not return.
func (d *Dispatch) unreturned(ctx context.Context, recovered any) *hookkit.Failure {
	f := (&entry{}).failure(d.point.Name, crashed(recovered))
	if d.recording != nil {
		d.recording.failed(f, true, recovered == nil)
	}
	if recovered == nil {
		d.unreported(ctx, f)
	}
	return f
}

// keep keeps a failure for Concluded. If the fire is over, because a timeout has abandoned the hook that called next,
// it reports the failure.
func (a *Act) keep(ctx context.Context, d *Dispatch, f *hookkit.Failure) {
	a.mu.Lock()
	a.failures = append(a.failures, f)
	a.mu.Unlock()
	a.failing.Store(true)
	if !a.over.Load() {
		return
	}
	a.mu.Lock()
	i := slices.Index(a.failures, f) // Concluded may have taken it in the meantime
	if i >= 0 {
		a.failures = slices.Delete(a.failures, i, i+1)
	}
	a.mu.Unlock()
	if i >= 0 {
		d.unreported(ctx, f)
	}
}

// kept returns the failures that were kept, and forgets them.
func (a *Act) kept() []*hookkit.Failure {
	if !a.failing.Load() {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := a.failures
	a.failures = nil
	return kept
}

// Failed handles the error that hook i returned, counted from 0, or the act after the last hook, or the missing answer
// if err is nil. An error of the hook passes on as it is; a timeout, a panic inside a timeout and a missing answer become
// a failure of the hook.
func (a *Act) Failed(ctx context.Context, d *Dispatch, i int, err error) error {
	a = a.whole()
	if i == len(d.entries) {
		a.made(err, nil)
		return err
	}
	crash, isCrash := err.(*crash)
	switch {
	case err == nil:
		err = hookkit.ErrNoAnswer
	case isCrash && crash.cause == hookkit.ErrGoexit:
		a.gone.Store(false) // it was the goroutine of the hook's timeout that ended
	case isCrash, err == hookkit.ErrTimeout, isIllegal(err):
	default:
		a.made(err, d.entries[i])
		return err
	}
	f := d.failed(ctx, d.entries[i], err, false, nil)
	a.keep(ctx, d, f)
	a.made(f, d.entries[i])
	return f
}

// made records who made the error. A hook that returns an error of an inner hook or of the act, wrapped or not, only
// passes it on.
func (a *Act) made(err error, by *entry) {
	if _, known := a.maker(err); known {
		return
	}
	a.mu.Lock()
	if a.errs = append(a.errs, madeError{err, by}); len(a.errs) > maxErrs {
		a.errs = slices.Delete(a.errs, 0, 1)
	}
	a.mu.Unlock()
	a.failing.Store(true)
}

// maker returns the hook that made the error, nil for the act.
func (a *Act) maker(err error) (by *entry, known bool) {
	if !a.failing.Load() {
		return nil, false
	}
	a.mu.Lock()
	errs := slices.Clone(a.errs)
	a.mu.Unlock()
	for _, made := range slices.Backward(errs) {
		if passesOn(err, made.err) {
			return made.by, true
		}
	}
	return nil, false
}

func isIllegal(err error) bool {
	_, ok := err.(illegal)
	return ok
}

// ErrorBy describes an error that no hook made.
func ErrorBy(err error) hookkit.By { return hookkit.By{Decision: "Error", Reason: textOf(err)} }

// Concluded records the end of the fire and, unless by is nil, stores who decided: the hook that gave the answer, or
// the one that made the error. Only the end of the fire shows that, because an outer hook may have called next again.
// It reports the failures that an outer hook did not pass on.
func Concluded[R any](ctx context.Context, a *Act, d *Dispatch, answer *hookkit.Answer[R], err error, by *hookkit.By) {
	a.End()
	kept := a.kept()
	for _, f := range kept {
		if !passesOn(err, f) {
			d.unreported(ctx, f)
		}
	}
	if by == nil && d.recording == nil {
		return
	}
	var decided hookkit.By
	if err != nil {
		decided = ErrorBy(err)
		if e, _ := a.maker(err); e != nil {
			decided.Hook, decided.Site = e.name, e.site
		}
		if f := failureIn(err); f != nil && f.Hook != "" && slices.Contains(kept, f) {
			decided.Reason = textOf(f.Cause)
		}
	} else if e, ok := (*opaque.Answer[R])(answer).By().(*entry); ok {
		decided = hookkit.By{Hook: e.name, Site: e.site, Decision: "Answered"}
	}
	if by != nil {
		*by = decided
	}
	if r := d.recording; r != nil {
		r.decided(decided)
		r.err, r.gone = err, nil
	}
}

// passesOn is errors.Is for an error that a hook or the act made: the methods of a typed nil may panic.
func passesOn(err, inner error) bool {
	defer func() { _ = recover() }()
	return errors.Is(err, inner)
}

// failureIn is errors.As for such an error.
func failureIn(err error) (f *hookkit.Failure) {
	defer func() { _ = recover() }()
	errors.As(err, &f)
	return f
}

// Unwrapped returns the failure of an act that panicked, or ended its goroutine, while no hook was registered. It is
// reported as an act inside hooks is.
func (r *Registry[H]) Unwrapped(ctx context.Context, point *Point, recovered any) error {
	d := Dispatch{point: point}
	if core := r.core.Load(); core != nil {
		core.tree.mu.Lock()
		d = core.dispatch()
		core.tree.mu.Unlock()
	}
	return d.unreturned(ctx, recovered)
}
