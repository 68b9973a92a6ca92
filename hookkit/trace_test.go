package hookkit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
)

func TestTracersReceiveEachHookAndTheFire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		var r hookkit.TraceRecorder
		handled(&h)
		h.Trace(&r)
		h.First.AddFunc(func(ctx, *run, int) (testpoints.FirstOutcome, error) {
			time.Sleep(time.Second)
			return nil, nil
		}, hookkit.Named("slow"), hookkit.Priority(3))
		h.First.Add(first(nil, errBad), hookkit.Named("failing"))
		inner := h.Layer("inner")
		inner.First.Add(first(stop{Reason: "enough"}, nil), hookkit.Named("stopping"))
		inner.First.Add(continues, hookkit.Named("unreached"))
		begin := time.Now()
		program := testpoints.NewRun("")
		if exit, err := inner.First.Fire(t.Context(), program, 0); exit != (stop{Reason: "enough"}) || err != nil {
			t.Fatalf("the fire returned %v, %v", exit, err)
		}
		var got []string
		for _, e := range r.Events() {
			if e.Run != program.ID() || e.Point != "First" || !strings.HasPrefix(e.Site, "hookkit/trace_test.go:") {
				t.Errorf("an event has run %s, point %s, site %s", e.Run, e.Point, e.Site)
			}
			got = append(got, fmt.Sprintf("%s %s p%d l%d +%s %s %q %q %v",
				e.Kind, e.Hook, e.Priority, e.Layer, e.Start.Sub(begin), e.Duration, e.Decision, e.Reason, e.Failure != nil))
		}
		want := []string{
			`hook slow p3 l0 +0s 1s "" "" false`,
			`hook failing p0 l0 +1s 0s "Error" "bad" true`,
			`hook stopping p0 l1 +1s 0s "Stop" "enough" false`,
			`fire stopping p0 l0 +0s 1s "Stop" "enough" true`,
		}
		if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
			t.Errorf("got\n%s\nwant\n%s", g, w)
		}
		var f *hookkit.Failure
		if !errors.As(r.Events()[1].Failure, &f) || f.Hook != "failing" || !errors.Is(f, errBad) {
			t.Errorf("the failure is %v", r.Events()[1].Failure)
		}
	})
}

func TestTracersReceiveTheDecisionsOfEachLaw(t *testing.T) {
	for name, c := range map[string]struct {
		point int
		reply hookkit.AnyReply
		want  string // of the hook
		fired string // of the fire
	}{
		"Shape":    {3, hookkit.AnyReply{Outcome: testpoints.EditShape("", "why")}, "Edit why", "Edit why"},
		"Poll":     {4, hookkit.AnyReply{Outcome: testpoints.Deny{Reason: "why"}}, "Deny why", "Deny why"},
		"Gather":   {6, hookkit.AnyReply{Collected: []string{"x"}}, "Collect ", " "},
		"Coded":    {8, hookkit.AnyReply{Outcome: testpoints.Coded{Code: "x"}}, "Coded ", "Coded "},
		"Numbered": {8, hookkit.AnyReply{Outcome: testpoints.Numbered{Reason: 7}}, "Numbered ", "Numbered "},
		"Review":   {8, hookkit.AnyReply{Collected: []string{"x"}}, "Collect ", " "},
		"Wrap":     {10, hookkit.AnyReply{Result: "x"}, "Answered ", "Answered "},
		"Watch":    {11, hookkit.AnyReply{}, " ", " "},
	} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			var r hookkit.TraceRecorder
			h.Trace(&r)
			at(c.point)(&h).AddAny(replies(c.reply, nil))
			if _, err := at(c.point)(&h).Fire(t.Context(), nil, at(c.point)(&h).New()); err != nil {
				t.Fatal(err)
			}
			es := r.Events()
			if len(es) != 2 || es[0].Decision+" "+es[0].Reason != c.want || es[1].Decision+" "+es[1].Reason != c.fired {
				t.Errorf("received %+v", es)
			}
		})
	}
}

func TestTracersAddUpUntilRemoved(t *testing.T) {
	var h hooks
	var d diary
	var one, other hookkit.TraceRecorder
	d.add(&h, "a")
	wants := func(n, m int) {
		t.Helper()
		d.want(t, &h, "a")
		if len(one.Events()) != n || len(other.Events()) != m {
			t.Errorf("the tracers received %d and %d events, want %d and %d", len(one.Events()), len(other.Events()), n, m)
		}
	}
	first := h.Trace(&one)
	wants(2, 0)
	second := h.Trace(&other)
	wants(4, 2)
	again := h.Trace(&other)
	wants(6, 6)
	if !first.Remove() || first.Remove() {
		t.Error("Remove does not report what it did")
	}
	wants(6, 10)
	again.Remove()
	wants(6, 12)
	second.Remove()
	wants(6, 12)
}

func TestTracersOfOuterLayersSeeInnerFires(t *testing.T) {
	var outer hooks
	var d diary
	var out, in hookkit.TraceRecorder
	inner := outer.Layer("inner")
	d.add(inner, "own")
	outer.Trace(&out)
	inner.Trace(&in)
	d.want(t, inner, "own")
	if n, m := len(out.Events()), len(in.Events()); n != 2 || m != 2 {
		t.Errorf("the outer tracer received %d events, the inner %d, want 2 and 2", n, m)
	}
	d.want(t, &outer)
	if n, m := len(out.Events()), len(in.Events()); n != 3 || m != 2 {
		t.Errorf("the outer tracer received %d events, the inner %d, want 3 and 2", n, m)
	}
}

func TestTracersReceiveFiresWithoutHooks(t *testing.T) {
	var h hooks
	var r hookkit.TraceRecorder
	h.Trace(&r)
	fireFirst(t, &h, 1)
	if es := r.Events(); len(es) != 1 || es[0].Kind != hookkit.EventFire || es[0].Hook != "" || es[0].Decision != "" {
		t.Errorf("received %+v", es)
	}
}

func TestPanicsOfTracerDoNotAffectOthers(t *testing.T) {
	var h hooks
	var d diary
	var r hookkit.TraceRecorder
	failures := handled(&h)
	d.add(&h, "a")
	reg := h.Trace(tracerFunc(func(ctx, hookkit.Event) { panic("no space left") }))
	h.Trace(&r)
	d.want(t, &h, "a")
	if n := len(r.Events()); n != 2 {
		t.Errorf("the other tracer received %d events, want 2", n)
	}
	if len(failures.all()) != 2 {
		t.Fatalf("reported %v, want two failures", failures.all())
	}
	var p *hookkit.PanicError
	if f := failures.all()[0]; f.Point != "First" || f.Hook != reg.Name() || f.Site != reg.Site() || !errors.As(f, &p) ||
		p.Value != "no space left" {
		t.Errorf("reported %v", f)
	}
}

// A tracer of a test may call FailNow, which ends the goroutine of the fire. The others are notified all the same.
func TestTracerMayEndTheGoroutine(t *testing.T) {
	var h hooks
	var r hookkit.TraceRecorder
	failures := handled(&h)
	h.Trace(tracerFunc(func(_ ctx, e hookkit.Event) {
		if e.Kind == hookkit.EventFire {
			runtime.Goexit()
		}
	}))
	h.Trace(&r)
	notified := 0
	h.First.ObserveFunc(func(ctx, *run, firstFired) { notified++ })
	ended := make(chan bool)
	go func() {
		defer close(ended)
		h.First.Fire(t.Context(), nil, 0)
	}()
	<-ended
	if n := len(r.Events()); n != 1 || notified != 1 {
		t.Errorf("the other tracer received %d events, and the observer %d; want 1 each", n, notified)
	}
	if all := failures.all(); len(all) != 1 || !errors.Is(all[0], hookkit.ErrGoexit) {
		t.Errorf("reported %v", all)
	}
}

// A beginRecorder also keeps the events before each hook.
type beginRecorder struct{ hookkit.TraceRecorder }

func (r *beginRecorder) TraceBegin(ctx context.Context, e hookkit.Event) { r.Trace(ctx, e) }

// A faultyBegin panics before each hook.
type faultyBegin struct{ hookkit.TraceRecorder }

func (*faultyBegin) TraceBegin(context.Context, hookkit.Event) { panic(errBad) }

func TestTracersHearThatAHookBegins(t *testing.T) {
	var h hooks
	var r beginRecorder
	var plain hookkit.TraceRecorder
	failures := handled(&h)
	h.Trace(&faultyBegin{})
	h.Trace(&r)
	h.Trace(&plain)
	var began, ended []hookkit.Event
	reg := h.First.AddFunc(func(ctx, *run, int) (testpoints.FirstOutcome, error) {
		began = r.Events() // a hook that hangs here leaves this trace
		return nil, nil
	}, hookkit.Named("hanging"), hookkit.Priority(3))
	fireFirst(t, &h, 1)
	ended = r.Events()
	if len(began) != 1 || len(ended) != 3 || len(plain.Events()) != 2 {
		t.Fatalf("received %+v, then %+v", began, ended)
	}
	want := ended[1]
	want.Kind, want.Duration = hookkit.EventBegin, 0
	if began[0] != want || want.Hook != "hanging" || want.Site != reg.Site() || want.Priority != 3 {
		t.Errorf("before the hook it received %+v, want %+v", began[0], want)
	}
	if all := failures.all(); len(all) != 1 || !errors.Is(all[0], errBad) {
		t.Errorf("reported %v", all)
	}
}

func TestTracersReceiveFailuresOfObservers(t *testing.T) {
	var h hooks
	var r hookkit.TraceRecorder
	handled(&h)
	h.Trace(&r)
	reg := h.First.ObserveFunc(func(ctx, *run, firstFired) { panic(errBad) }, hookkit.Named("faulty"), hookkit.Priority(3))
	fireFirst(t, &h, 1)
	es := r.Events()
	if len(es) != 2 {
		t.Fatalf("received %+v", es)
	}
	e := es[1]
	if e.Kind != hookkit.EventObserver || e.Hook != "faulty" || e.Site != reg.Site() || e.Priority != 3 ||
		e.Reason != "panic: bad" ||
		!errors.Is(e.Failure, errBad) {
		t.Errorf("received %+v", e)
	}
}

func TestSlogTracer(t *testing.T) {
	t.Run("chooses the level by event", func(t *testing.T) {
		var b bytes.Buffer
		drop := func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "duration" || a.Key == "site" || a.Key == "run" && a.Value.String() != "" {
				return slog.Attr{}
			}
			return a
		}
		log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: drop}))
		var h hooks
		h.Trace(hookkit.SlogTracer(log))
		h.Second.Add(secondContinues, hookkit.Named("quiet"), hookkit.Priority(2))
		h.Second.Add(second(nil, errBad), hookkit.Named("failing"))
		h.First.Add(first(stop{Reason: "why"}, nil), hookkit.Named("stopping"))
		program := testpoints.NewRun("")
		if _, err := h.Second.Fire(t.Context(), program, 0); err == nil {
			t.Fatal("no error")
		}
		if _, err := h.First.Fire(t.Context(), program, 0); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		want := []string{
			`level=DEBUG msg="hook begins" point=Second hook=quiet layer=0 priority=2`,
			`level=DEBUG msg=hook point=Second hook=quiet layer=0 priority=2`,
			`level=DEBUG msg="hook begins" point=Second hook=failing layer=0 priority=0`,
			`level=ERROR msg=hook point=Second hook=failing layer=0 priority=0 decision=Error reason=bad ` +
				`failure="Second: hook failing (`,
			`level=ERROR msg=fire point=Second hook=failing decision=Error reason=bad ` +
				`failure="Second: hook failing (`,
			`level=DEBUG msg="hook begins" point=First hook=stopping layer=0 priority=0`,
			`level=INFO msg=hook point=First hook=stopping layer=0 priority=0 decision=Stop reason=why`,
			`level=INFO msg=fire point=First hook=stopping decision=Stop reason=why`,
		}
		if len(lines) != len(want) {
			t.Fatalf("logged\n%s", b.String())
		}
		for i := range want {
			if !strings.HasPrefix(lines[i], want[i]) {
				t.Errorf("line %d is\n%s\nwant\n%s", i, lines[i], want[i])
			}
		}
	})
	t.Run("of nil uses the default logger", func(t *testing.T) {
		logged := captureLog(t)
		hookkit.SlogTracer(nil).Trace(t.Context(), hookkit.Event{Kind: hookkit.EventFire, Point: "P", Decision: "stop"})
		if !strings.Contains(logged.String(), "msg=fire") {
			t.Errorf("logged %q", logged)
		}
	})
	t.Run("does not format dropped events", func(t *testing.T) {
		log := slog.New(slog.NewTextHandler(new(bytes.Buffer), &slog.HandlerOptions{Level: slog.LevelInfo}))
		tr, e := hookkit.SlogTracer(log), hookkit.Event{Kind: hookkit.EventHook, Point: "P", Hook: "h"}
		if n := testing.AllocsPerRun(100, func() { tr.Trace(context.Background(), e) }); n > 0 {
			t.Errorf("%v allocations for an event below the level", n)
		}
	})
}

func TestRecorderReturnsCopiesAndResets(t *testing.T) {
	var r hookkit.TraceRecorder
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { r.Trace(context.Background(), hookkit.Event{Point: "P"}) })
	}
	wg.Wait()
	es := r.Events()
	if len(es) != 8 {
		t.Fatalf("it kept %d events of 8", len(es))
	}
	es[0].Point = "changed"
	if r.Events()[0].Point != "P" {
		t.Error("its events can be changed from outside")
	}
	r.Reset()
	if n := len(r.Events()); n != 0 || len(es) != 8 {
		t.Errorf("after Reset it has %d events, and the copy has %d", n, len(es))
	}
}

func TestEventKindsHaveNames(t *testing.T) {
	for k, want := range map[hookkit.EventKind]string{
		hookkit.EventHook: "hook", hookkit.EventFire: "fire", hookkit.EventObserver: "observer failed",
		hookkit.EventBegin: "hook begins", 0: "EventKind(0)",
	} {
		if k.String() != want {
			t.Errorf("%d is %q, want %q", int(k), k, want)
		}
	}
}
