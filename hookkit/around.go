package hookkit

import (
	"context"
	"sync/atomic"
)

// An Answer is what an around hook returns: next.Call yields one, [Answered] makes one. The zero Answer is
// none at all.
type Answer[R any] struct {
	value    R
	given    bool
	answered bool   // by a hook, in place of the act
	by       *entry // that hook, once the answer was noted
}

// Answered returns the answer r, given by a hook in place of the act or of what the act yielded.
func Answered[R any](r R) Answer[R] { return Answer[R]{value: r, given: true, answered: true} }

// Value returns the result that the answer holds, a zero R for the zero Answer.
func (a Answer[R]) Value() R { return a.value }

// Given is for generated code: it reports whether there is an answer.
func (a *Answer[R]) Given() bool { return a.given }

// none reports whether there is no answer: for tracers.
func (a Answer[R]) none() bool { return !a.given }

func (a Answer[R]) decision() (string, string) {
	if a.answered {
		return "Answered", ""
	}
	return "", ""
}

// Acted is for generated code: it makes the answer that of the wrapped act itself.
func (a *Answer[R]) Acted(r R) { a.value, a.given = r, true }

// Noted is for generated code: it makes the answer what the hook around hook i sees, with a note that hook i gave
// it, if it did.
func (a *Answer[R]) Noted(f *Firing, i int) {
	if a.answered {
		a.answered, a.by = false, f.entries[i]
	}
}

// Concluded is for generated code: the answer, or the error, is what the fire comes back with. Only now is it
// known who decided: what a hook further in did may have been tried again.
func (a Answer[R]) Concluded(f *Firing, err error) { f.watch.concluded(a.by, err) }

// An Act is for generated code: one fire of an around point, or what of it lies within a hook with a time-out.
type Act struct {
	over  atomic.Bool
	gone  atomic.Bool // a hook or the act ended its goroutine; those around it did not
	outer *Act
}

// Within makes the act void when the outer one is.
func (a *Act) Within(outer *Act) { a.outer = outer }

// End makes every next of the act void.
func (a *Act) End() { a.over.Store(true) }

// Over reports whether next is void.
func (a *Act) Over() bool {
	for ; a != nil; a = a.outer {
		if a.over.Load() {
			return true
		}
	}
	return false
}

// Crashed is for generated code: hook i, or the wrapped act behind the last hook, did not return.
func (a *Act) Crashed(ctx context.Context, f *Firing, i int, recovered any) error {
	if recovered == nil {
		if i > 0 && a.outer != nil && f.entries[i-1].timeout == 0 && f.call(f.entries[i-1]) != nil {
			a.outer.gone.Store(true) // a is the act within that hook, whose goroutine this is
		}
		if a.gone.Swap(true) {
			return ErrGoexit
		}
	}
	if i < len(f.entries) {
		return f.Crashed(ctx, i, recovered)
	}
	fail := (&entry{}).failure(f.point.Name, crashed(recovered))
	if told := f.watch != nil && f.watch.failed(fail, true); !told && recovered == nil {
		lastResort(ctx, "hookkit: a wrapped act failed", fail)
	}
	if recovered == nil && f.watch != nil {
		f.watch.gone = fail
	}
	return fail
}

// Answered is for generated code: hook i returned an error, or no answer. An error is passed on as it is; a
// time-out, a panic behind a time-out, and no answer at all are failures of the hook.
func (f *Firing) Answered(ctx context.Context, i int, err error) error {
	_, isCrash := err.(*crash)
	switch {
	case isCrash || err == ErrTimeout:
		return f.Fail(ctx, i, err)
	case err == nil:
		return f.Fail(ctx, i, ErrNoAnswer)
	}
	return err
}

// Unwrapped is for generated code: the failure of an act that no hook wraps and that did not return. It is the same
// failure as when there are hooks.
func Unwrapped(ctx context.Context, point string, recovered any) error {
	f := (&entry{}).failure(point, crashed(recovered))
	if recovered == nil {
		lastResort(ctx, "hookkit: a wrapped act failed", f)
	}
	return f
}
