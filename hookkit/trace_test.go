package hookkit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

var errBad = errors.New("bad")

// decide is a hook that does one thing.
func decide(out any, err error) gateFunc {
	return func(ctx, *run, int) (any, error) { return out, err }
}

func TestATracerIsToldOfEachHookAndThenOfTheFire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		var r hookkit.Recorder
		h.Trace(&r)
		h.First.Add(gateFunc(func(ctx, *run, int) (any, error) {
			time.Sleep(time.Second)
			return nil, nil
		}), hookkit.Named("slow"), hookkit.Priority(3))
		h.First.Add(decide(nil, errBad), hookkit.Named("failing"))
		h.First.Add(decide(stop{"enough"}, nil), hookkit.Named("stopping"))
		h.First.Add(continues, hookkit.Named("unreached"))
		begin := time.Now()
		host := hookkit.NewRun("")
		if exit, err := h.First.Fire(t.Context(), host, 0); exit != (stop{"enough"}) || err != nil {
			t.Fatalf("the fire returned %v, %v", exit, err)
		}
		var got []string
		for _, e := range r.Events() {
			if e.Run != host.ID() || e.Point != "First" || !strings.HasPrefix(e.Site, "hookkit/trace_test.go:") {
				t.Errorf("an event is about run %s, point %s, site %s", e.Run, e.Point, e.Site)
			}
			got = append(got, fmt.Sprintf("%s %s p%d l%d +%s %s %q %q %v", e.Kind, e.Hook, e.Priority, e.Layer, e.Start.Sub(begin), e.Duration, e.Decision, e.Reason, e.Failure != nil))
		}
		want := []string{
			`hook slow p3 l0 +0s 1s "" "" false`,
			`hook failing p0 l0 +1s 0s "Error" "bad" true`,
			`hook stopping p0 l0 +1s 0s "stop" "enough" false`,
			`fire stopping p0 l0 +0s 1s "stop" "enough" true`,
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

func TestTraceReplacesTheTracerAndNilDetaches(t *testing.T) {
	var h hooks
	var d diary
	var one, other hookkit.Recorder
	d.add(&h, "a")
	h.Trace(&one)
	d.want(t, &h, "a")
	h.Trace(&other)
	d.want(t, &h, "a")
	h.Trace(nil)
	d.want(t, &h, "a")
	if len(one.Events()) != 2 || len(other.Events()) != 2 {
		t.Errorf("the first was told %d events, the second %d, want two each", len(one.Events()), len(other.Events()))
	}
}

func TestATracerIsToldOfAFireWithoutHooks(t *testing.T) {
	var h hooks
	var r hookkit.Recorder
	h.Trace(&r)
	if _, err := h.First.Fire(t.Context(), nil, 0); err != nil {
		t.Fatal(err)
	}
	if es := r.Events(); len(es) != 1 || es[0].Kind != hookkit.Fired || es[0].Run != "" || es[0].Decision != "" {
		t.Errorf("told %+v", es)
	}
}

func TestATracerThatPanicsHarmsNobodyAndIsLogged(t *testing.T) {
	logged := captureLog(t)
	var h hooks
	var d diary
	d.add(&h, "a")
	h.Trace(tracerFunc(func(context.Context, hookkit.Event) { panic("no space left") }))
	d.want(t, &h, "a")
	if n := strings.Count(logged.String(), "a tracer panicked"); n != 2 || !strings.Contains(logged.String(), "no space left") {
		t.Errorf("logged %d times: %s", n, logged)
	}
}

type tracerFunc func(context.Context, hookkit.Event)

func (f tracerFunc) Trace(ctx context.Context, e hookkit.Event) { f(ctx, e) }

func TestATracerIsToldOfAFailingObserver(t *testing.T) {
	var h hooks
	var r hookkit.Recorder
	h.Trace(&r)
	h.First.Observe(func(ctx, *run, fired) { panic(errBad) }, hookkit.Named("faulty"))
	if _, err := h.First.Fire(t.Context(), hookkit.NewRun(""), 0); err != nil {
		t.Fatal(err)
	}
	es := r.Events()
	if len(es) != 2 || es[1].Kind != hookkit.ObserverFailed || es[1].Hook != "faulty" || !errors.Is(es[1].Failure, errBad) || es[1].Reason == "" {
		t.Errorf("told %+v", es)
	}
}

// captureLog makes the default logger write into the buffer until the test ends.
func captureLog(t *testing.T) *bytes.Buffer {
	old := slog.Default()
	t.Cleanup(func() { slog.SetDefault(old) })
	var b bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug})))
	return &b
}

func TestSlogTracerLogsFailuresDecisionsAndTheRestByLevel(t *testing.T) {
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
	h.Second.Add(continues, hookkit.Named("quiet"), hookkit.Priority(2))
	h.Second.Add(decide(nil, errBad), hookkit.Named("failing"))
	h.First.Add(decide(stop{"why"}, nil), hookkit.Named("stopping"))
	host := hookkit.NewRun("")
	if _, err := h.Second.Fire(t.Context(), host, 0); err == nil {
		t.Fatal("no error")
	}
	if _, err := h.First.Fire(t.Context(), host, 0); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	want := []string{
		`level=DEBUG msg=hook point=Second hook=quiet layer=0 priority=2`,
		`level=ERROR msg=hook point=Second hook=failing layer=0 priority=0 decision=Error reason=bad failure="Second: hook failing (`,
		`level=ERROR msg=fire point=Second hook=failing decision=Error reason=bad failure="Second: hook failing (`,
		`level=INFO msg=hook point=First hook=stopping layer=0 priority=0 decision=stop reason=why`,
		`level=INFO msg=fire point=First hook=stopping decision=stop reason=why`,
	}
	if len(lines) != len(want) {
		t.Fatalf("logged\n%s", b.String())
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("line %d is\n%s\nwant\n%s", i, lines[i], want[i])
		}
	}
}

func TestSlogTracerOfNilLogsToTheDefaultLogger(t *testing.T) {
	logged := captureLog(t)
	hookkit.SlogTracer(nil).Trace(t.Context(), hookkit.Event{Kind: hookkit.Fired, Point: "P", Decision: "stop"})
	if !strings.Contains(logged.String(), "msg=fire") {
		t.Errorf("logged %q", logged)
	}
}

func TestSlogTracerDoesNotFormatWhatTheLoggerDrops(t *testing.T) {
	log := slog.New(slog.NewTextHandler(new(bytes.Buffer), &slog.HandlerOptions{Level: slog.LevelInfo}))
	tr, e := hookkit.SlogTracer(log), hookkit.Event{Kind: hookkit.HookRan, Point: "P", Hook: "h"}
	if n := testing.AllocsPerRun(100, func() { tr.Trace(t.Context(), e) }); n > 0 {
		t.Errorf("%v allocations for an event that nobody logs", n)
	}
}

func TestTheRecorderGivesCopiesAndForgets(t *testing.T) {
	var r hookkit.Recorder
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
		t.Errorf("after Reset it has %d events, and what it gave has %d", n, len(es))
	}
}

func TestTheKindsOfEventsHaveNames(t *testing.T) {
	for k, want := range map[hookkit.EventKind]string{
		hookkit.HookRan: "hook", hookkit.Fired: "fire", hookkit.ObserverFailed: "observer failed", 0: "EventKind(0)",
	} {
		if k.String() != want {
			t.Errorf("%d is %q, want %q", int(k), k, want)
		}
	}
}
