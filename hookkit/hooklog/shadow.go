package hooklog

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/callsite"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
	"github.com/hookgen/hookgen/hookkit/internal/skew"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// A ShadowOption changes how [Shadow] fires.
type ShadowOption interface{ applyShadow(*shadowing) }

// A timeLimit is the option that [Limit] returns.
type timeLimit time.Duration

// Limit is how long [Shadow] waits for the decision about one payload. The default is a second. A limit that is not
// positive panics.
func Limit(d time.Duration) ShadowOption {
	if d <= 0 {
		panic(fmt.Sprintf("hooklog: Limit(%v): the limit must be positive", d))
	}
	return timeLimit(d)
}

func (d timeLimit) applyShadow(s *shadowing) { s.limit = time.Duration(d) }

const (
	shadowQueue   = 256 // fires that wait for the candidate
	shadowHanging = 16  // fires of the candidate that have not returned after the limit
)

// A shadowing is the observer of the live fires.
type shadowing struct {
	*comparer
	specs   map[string]string // by point
	report  func(Comparison)
	limit   time.Duration
	hanging atomic.Int64
}

// Shadow shows every payload that the program fires to candidate hooks, which decide nothing. For example, a new guard
// runs next to the old one for a week, and somebody reads where they disagree before the new one replaces it:
//
//	candidate := new(agent.Hooks)
//	candidate.Use(newGuard)
//	shadow := hooklog.Shadow(hooks.Points(), candidate.Points(), func(c hooklog.Comparison) {
//		if c.Status != hooklog.Same {
//			slog.Info("shadow", "run", c.Was.Run.ID, "point", c.Was.Point, "status", c.Status.String())
//		}
//	})
//	...
//	shadow.Remove()
//	err := shadow.Drain(ctx)
//
// The example does not log c.Why, which contains payloads. The function report gets each comparison, one after the
// other. It runs in the background, as the candidate does. A fire of the program only waits until its payload and
// decision are encoded. The candidate gets a copy of the payload, made from JSON, in a run with the identity of the
// live one; [Runs] gives it an environment. Points that wrap an act, or whose payloads JSON cannot hold, are left out.
//
// Shadow returns the registration of an Async observer. Remove ends the comparison, and Drain waits for the fires so
// far. While 256 fires wait for the candidate, others are dropped: Dropped counts them, and the failure handler of the
// live Hooks is notified. It is notified of a panic of report, too.
//
// If the candidate does not decide within the [Limit], its context is cancelled, the comparison has failed, and the
// next payload is fired. While 16 fires of the candidate hang, all comparisons fail without a fire.
//
// The candidate decides nothing, but its hooks run: nothing keeps one from sending a mail. Shadow panics if the
// candidate is the live Hooks.
func Shadow(
	live, candidate []hookkit.AnyPoint, report func(Comparison), opts ...ShadowOption,
) *hookkit.Registration {
	if report == nil {
		panic("hooklog: the function of Shadow is nil")
	}
	s := &shadowing{newComparer(candidate, nil), map[string]string{}, report, time.Second, atomic.Int64{}}
	for _, o := range opts {
		o.applyShadow(s)
	}
	var shown []hookkit.AnyPoint
	for _, p := range live {
		other, why := s.point(Event{Spec: p.Spec, Point: p.Name})
		if other.Same(p) {
			panic("hooklog: the candidate of Shadow is the live Hooks; register the candidate's hooks on Hooks of their own")
		}
		if why == "" && skew.Problem(p) == "" {
			s.specs[p.Name], shown = p.Spec, append(shown, p)
		}
	}
	return opaque.ObserveAny(shown, s, s.observe, []hookkit.ObserverOption{
		hookkit.Async(shadowQueue), hookkit.Named("shadow"), hookkit.Site(callsite.Of(1)),
	}).(*hookkit.Registration)
}

// shadowKey marks the context of fires of a candidate. If the candidate is a layer of the live Hooks, the live
// observers see its fires and must not show them to it again.
type shadowKey struct{}

func (s *shadowing) observe(ctx context.Context, run hookkit.AnyRun, fired hookkit.AnyFired) {
	if show := s.Capture(ctx, run, fired); show != nil {
		show()
	}
}

// Capture encodes a fire, and returns the function that shows it to the candidate. Package hookimpl calls Capture in
// the fire, and the function in the background.
func (s *shadowing) Capture(ctx context.Context, run hookkit.AnyRun, fired hookkit.AnyFired) func() {
	if ctx.Value(shadowKey{}) != nil {
		return nil
	}
	e, err := newEvent(&fired)
	if err != nil {
		panic(fmt.Errorf("hooklog: a fire of %s is not shown to the candidate: %w", fired.Point, err))
	}
	e.Spec, e.Run = s.specs[fired.Point], wire.InfoOf(run)
	return func() { s.report(s.show(ctx, e)) }
}

// show fires one payload at the candidate.
func (s *shadowing) show(ctx context.Context, e Event) Comparison {
	failed := func(format string, arg any) Comparison {
		return Comparison{Status: Failed, Was: e, Why: fmt.Sprintf(format, arg)}
	}
	if s.hanging.Load() >= shadowHanging {
		return failed("%d earlier fires of the candidate have not returned", shadowHanging)
	}
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, shadowKey{}, true), s.limit)
	defer cancel()
	decided := s.start(ctx, e)
	select {
	case c := <-decided:
		return c
	case <-ctx.Done():
		s.hanging.Add(1) // until the fire returns
		go func() {
			<-decided
			s.hanging.Add(-1)
		}()
		return failed("no decision within %v", s.limit)
	}
}
