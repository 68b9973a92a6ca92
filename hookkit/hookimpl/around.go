package hookimpl

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"sync/atomic"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// An AroundInvocation is the state of one fire of an around point while its hooks and the act run. A hook that the
// runtime may abandon, for example because of its Timeout, has one of its own for everything inside it. Each fire
// allocates one, so it is small.
type AroundInvocation struct {
	state    uint64                       // the number of the fire, and whether the invocation is over; atomic after Begin
	outer    *AroundInvocation            // of the part inside a hook: the invocation around it
	troubled atomic.Pointer[troubledFire] // in the outermost one: nil until a hook or the act fails
}

// over is the bit of a state that is set when next must not be called any more. The other bits are the number.
const over = 1

// Begin begins the invocation of a whole fire, before anybody else knows of it. The number of a fire is random. By it
// an answer of another fire is recognized, which may outlive its fire, for example in a cache, and must not keep the
// fire in memory.
func (inv *AroundInvocation) Begin() { inv.state = rand.Uint64() &^ over }

// BeginInside is Begin for the part inside a hook of the outer invocation.
func (inv *AroundInvocation) BeginInside(outer *AroundInvocation) {
	inv.outer, inv.state = outer, outer.id()
}

// id returns the number of the fire.
func (inv *AroundInvocation) id() uint64 { return atomic.LoadUint64(&inv.state) &^ over }

func (inv *AroundInvocation) isOver() bool { return atomic.LoadUint64(&inv.state)&over != 0 }

// End makes every next of the invocation invalid.
func (inv *AroundInvocation) End() { atomic.OrUint64(&inv.state, over) }

// Finish ends the invocation of a whole fire, after the observers were notified. It panics as the act did if the
// program wants that. If Concluded was not called, because the goroutine is ending, it reports the failures, which no
// caller receives now.
func (inv *AroundInvocation) Finish(ctx context.Context, s *Snapshot) {
	if !inv.isOver() {
		inv.End()
		inv.report(ctx, s, nil)
	} else if t := inv.troubled.Load(); t != nil && t.passed != nil {
		panic(t.passed)
	}
}

// Over reports whether End was called, for this invocation or for one around it.
func (inv *AroundInvocation) Over() bool {
	for ; inv != nil; inv = inv.outer {
		if inv.isOver() {
			return true
		}
	}
	return false
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
	if recovered == nil && !inv.trouble().leave(i) {
		return nil // which no caller receives
	}
	e := new(entry) // the act
	if i < len(s.entries) {
		e = s.entries[i]
	}
	f, _ := s.failed(ctx, e, crashed(recovered), recovered == nil, nil)
	return inv.inner(ctx, s, f, f, recovered != nil) // a Goexit is reported already
}

// ActCrashed returns the failure of an act that panicked, or ended its goroutine, while no hook was registered. It is
// reported as an act inside hooks is.
func ActCrashed(ctx context.Context, p RegistryHolder, recovered any) error {
	if passes(recovered) {
		panic(recovered)
	}
	f, _ := p.ownRegistry().state.latest().failed(ctx, new(entry), crashed(recovered), recovered == nil, nil)
	return f
}

// Failed handles an error on its way out of hook i, counted from 0, or out of the act if i is the number of hooks. A
// nil err means that the hook returned no answer. An error of the act passes on as it is, and so does one that a hook
// passes on from its next. An error that the hook made becomes a failure of the hook.
func (inv *AroundInvocation) Failed(ctx context.Context, s *Snapshot, i int, err error) error {
	if inv.Over() && errors.Is(err, hookkit.ErrNextOver) {
		return err // which nobody receives: a hook around this one has returned, or timed out, before it called next
	}
	inv = inv.whole()
	if i == len(s.entries) {
		return inv.inner(ctx, s, err, nil, false)
	}
	if len(inv.passedIn(err)) > 0 {
		return err
	}
	if err == nil {
		err = hookkit.ErrNoAnswer
	}
	f, _ := s.failed(ctx, s.entries[i], err, false, nil)
	_, isCrash := err.(*crash)
	return inv.inner(ctx, s, f, f, isCrash)
}

// ErrorBy returns the By of an error, without the hook that made it. The reason is the same when lines move, because
// replays compare it.
func ErrorBy(err error) hookkit.By {
	if f, ok := err.(*hookkit.Failure); ok && f != nil {
		placeless := *f
		placeless.Place = ""
		err = &placeless
	}
	return hookkit.By{Decision: hookkit.DecisionError, Reason: textOf(err)}
}

// Concluded records the end of the fire and, unless by is nil, stores who decided: the hook that gave the answer, or
// the one that made the error. Only the end of the fire shows that, because an outer hook may have called next again.
// It reports the panics that an outer hook did not pass on, and returns the error of the fire.
func Concluded[R any](
	ctx context.Context, inv *AroundInvocation, s *Snapshot, answer *hookkit.Answer[R], err error, by *hookkit.By,
) error {
	inv.End()
	if by != nil || err != nil || s.recording != nil {
		inv.decided(s, (*opaque.Answer[R])(answer).By(), err, by)
	}
	if inv.troubled.Load() != nil { // at last, because a failure handler may end the goroutine
		inv.report(ctx, s, err)
	}
	return outermost(err)
}

// passes reports whether PassPanic declared the value of a panic of the act.
func passes(recovered any) bool {
	err, ok := recovered.(error)
	if !ok || !reflect.ValueOf(err).Comparable() {
		return false
	}
	_, passes := opaque.PassedPanics.Load(err)
	return passes
}

// decided records and stores the hook that decided. giver is the By of the hook that gave the answer, or nil.
func (inv *AroundInvocation) decided(s *Snapshot, giver any, err error, by *hookkit.By) {
	decided, _ := giver.(hookkit.By)
	if err != nil {
		decided = ErrorBy(outermost(err))
		if passed := inv.passedIn(err); len(passed) > 0 && passed[len(passed)-1].failure != nil {
			made := passed[len(passed)-1]
			if made.failure.Hook != "" {
				decided = failedBy(made.failure)
			} else if p, isPanic := made.failure.Cause.(*hookkit.PanicError); isPanic && passes(p.Value) {
				inv.trouble().passed = p.Value
			}
		}
	}
	if by != nil {
		*by = decided
	}
	if r := s.recording; r != nil {
		r.concluded(decided, outermost(err))
	}
}
