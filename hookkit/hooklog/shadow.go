package hooklog

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/callsite"
	"github.com/hookgen/hookgen/hookkit/internal/encodable"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// A ShadowOption changes how [Shadow] fires.
type ShadowOption interface{ applyShadow(*Shadowing) }

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

func (d timeLimit) applyShadow(s *Shadowing) { s.limit = time.Duration(d) }

const (
	shadowQueue   = 256 // events that wait for the candidate
	shadowHanging = 16  // fires of the candidate that have not returned after the limit
)

// A Shadowing is a comparison of live traffic that is under way. Make one with [Shadow].
type Shadowing struct {
	*comparer
	report func(Comparison)
	limit  time.Duration

	observers []*hookkit.Registration
	queue     chan shadowed
	compared  atomic.Uint64
	dropped   atomic.Uint64
	hanging   atomic.Int64

	mu     sync.RWMutex
	closed bool          // and the queue with it
	ended  chan struct{} // closed when the goroutine has ended
	ctx    context.Context
	cancel context.CancelFunc
}

// A shadowed is a fire that the candidate is going to see.
type shadowed struct {
	ctx   context.Context
	event Event
}

// Shadow shows every payload that the program fires to candidate hooks, which decide nothing. For example, a new guard
// runs next to the old one for a week, and somebody reads where they disagree before the new one replaces it:
//
//	candidate := new(agent.Hooks)
//	candidate.Use(newGuard)
//	shadow := hooklog.Shadow(hooks.Points(), candidate.Points(), func(c hooklog.Comparison) {
//		slog.Info("shadow", "run", c.Was.Run.ID, "point", c.Was.Point, "status", c.Status.String())
//	})
//	defer shadow.Close(ctx)
//
// The example does not log c.Why, which contains payloads. The function report gets each comparison that is not [Same],
// one after the other. It runs in the background, as the candidate does. A fire of the program only waits until its
// payload and decision are encoded. The candidate gets a copy of the payload, made from JSON, in a run with the
// identity of the live one; [Runs] gives it an environment. Points that wrap an act, or whose payloads JSON cannot
// hold, are left out.
//
// If the candidate does not decide within the [Limit], its context is cancelled, the comparison has failed, and the
// next payload is fired. While 16 fires of the candidate hang, or 256 payloads wait for it, payloads are dropped; see
// [Shadowing.Dropped].
//
// The candidate decides nothing, but its hooks run: nothing keeps one from sending a mail. Shadow panics if the
// candidate is the live Hooks.
func Shadow(live, candidate []hookkit.AnyPoint, report func(Comparison), opts ...ShadowOption) *Shadowing {
	if report == nil {
		panic("hooklog: the function of Shadow is nil")
	}
	s := &Shadowing{
		comparer: newComparer(candidate, nil), report: report, limit: time.Second,
		queue: make(chan shadowed, shadowQueue), ended: make(chan struct{}),
	}
	for _, o := range opts {
		o.applyShadow(s)
	}
	for _, p := range live {
		if other, ok := s.points[p.Spec+" "+p.Name]; ok && other.Same(p) {
			panic("hooklog: the candidate of Shadow is the live Hooks; register the candidate's hooks on Hooks of their own")
		}
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	site := hookkit.Site(callsite.Of(1))
	for _, p := range live {
		if _, why := s.point(Event{Spec: p.Spec, Point: p.Name}); why != "" || encodable.Problem(p) != "" {
			continue
		}
		s.observers = append(s.observers, p.ObserveAny(s.observer(p.Spec), hookkit.Named("shadow"), site))
	}
	go s.work()
	return s
}

// shadowKey marks the context of fires of a candidate. If the candidate is a layer of the live Hooks, the live
// observers see its fires and must not show them to it again.
type shadowKey struct{}

// observer returns the observer of the points of a spec.
func (s *Shadowing) observer(spec string) hookkit.AnyObserverFunc {
	return func(ctx context.Context, run hookkit.AnyRun, fired hookkit.AnyFired) {
		if ctx.Value(shadowKey{}) != nil {
			return
		}
		e, err := newEvent(&fired)
		if err != nil {
			panic(fmt.Errorf("hooklog: a fire of %s is not shown to the candidate: %w", fired.Point, err))
		}
		e.Spec, e.Run = spec, wire.InfoOf(run)
		s.mu.RLock()
		defer s.mu.RUnlock()
		if s.closed {
			return
		}
		select {
		case s.queue <- shadowed{context.WithoutCancel(ctx), e}:
		default:
			s.dropped.Add(1)
		}
	}
}

// work fires the payloads in order.
func (s *Shadowing) work() {
	defer close(s.ended)
	for next := range s.queue {
		s.show(next)
	}
}

// show fires one payload at the candidate and reports a difference.
func (s *Shadowing) show(next shadowed) {
	if s.ctx.Err() != nil || s.hanging.Load() >= shadowHanging {
		s.dropped.Add(1)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithValue(next.ctx, shadowKey{}, true), s.limit)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	decided := s.start(ctx, next.event)
	var c Comparison
	select {
	case c = <-decided:
	case <-ctx.Done():
		s.hanging.Add(1) // until the fire returns
		go func() {
			<-decided
			s.hanging.Add(-1)
		}()
		if s.ctx.Err() != nil {
			s.dropped.Add(1)
			return
		}
		c = Comparison{Status: Failed, Was: next.event, Why: fmt.Sprintf("no decision within %v", s.limit)}
	}
	s.compared.Add(1)
	if c.Status == Same {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			slog.Error("hooklog: the function of Shadow panicked",
				"point", c.Was.Point, "panic", v, "stack", string(debug.Stack()))
		}
	}()
	s.report(c)
}

// Compared returns the number of fires that were compared, the same decisions included.
func (s *Shadowing) Compared() uint64 { return s.compared.Load() }

// Dropped returns the number of fires that the candidate did not see or whose decision was not waited for, because the
// candidate was too slow or Close ended.
func (s *Shadowing) Dropped() uint64 { return s.dropped.Load() }

// Close removes the observers and waits until the fires so far are compared. If ctx ends first, Close returns its error
// and the remaining fires are dropped. Close can be called twice. The function report must not call it.
func (s *Shadowing) Close(ctx context.Context) error {
	for _, o := range s.observers {
		o.Remove()
	}
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.queue)
	}
	s.mu.Unlock()
	defer s.cancel()
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
