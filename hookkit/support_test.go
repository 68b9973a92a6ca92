package hookkit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	ctx        = context.Context
	run        = testpoints.Run
	hooks      = testpoints.Hooks
	stop       = testpoints.Stop
	firstFired = testpoints.FirstFired[int]
)

// A bind is a Hook with this Bind method.
type bind func(*hooks)

func (b bind) Bind(h *hooks) { b(h) }

// A watcher is an AnyObserver.
type watcher func(ctx, *run, hookkit.AnyFired)

func (w watcher) Observe(c ctx, r *run, f hookkit.AnyFired) { w(c, r, f) }

// A tracerFunc is a Tracer.
type tracerFunc func(ctx, hookkit.Event)

func (f tracerFunc) Trace(c ctx, e hookkit.Event) { f(c, e) }

var errBad = errors.New("bad")

// first returns a hook of First with these results.
func first(out testpoints.FirstOutcome, err error) testpoints.FirstFunc {
	return func(ctx, *run, int) (testpoints.FirstOutcome, error) { return out, err }
}

// second returns a hook of Second with these results.
func second(out testpoints.SecondOutcome, err error) testpoints.SecondFunc {
	return func(ctx, *run, int) (testpoints.SecondOutcome, error) { return out, err }
}

// These continue, or do nothing.
var (
	continues       = first(nil, nil)
	secondContinues = second(nil, nil)
	lastContinues   = testpoints.LastFunc(func(ctx, *run, int) (testpoints.LastOutcome, error) { return nil, nil })
	ignore          = func(ctx, *run, firstFired) {}
	ignoreAny       = watcher(func(ctx, *run, hookkit.AnyFired) {})
)

// fireFirst fires First once for each of n payloads, 0 and up.
func fireFirst(t *testing.T, h *hooks, n int) {
	t.Helper()
	for i := range n {
		if _, err := h.First.Fire(t.Context(), testpoints.NewRun(""), i); err != nil {
			t.Fatal(err)
		}
	}
}

// A diary records which hooks ran.
type diary struct{ names []string }

// hook returns a hook that records its name and continues.
func (d *diary) hook(name string) testpoints.FirstFunc {
	return func(ctx, *run, int) (testpoints.FirstOutcome, error) {
		d.names = append(d.names, name)
		return nil, nil
	}
}

// add adds such a hook to First.
func (d *diary) add(h *hooks, name string, opts ...hookkit.GateOption) *hookkit.Registration {
	return h.First.Add(d.hook(name), append(opts, hookkit.Named(name))...)
}

// want fires First and compares the hooks that ran.
func (d *diary) want(t *testing.T, h *hooks, names ...string) {
	t.Helper()
	d.names = nil
	if exit, err := h.First.Fire(t.Context(), testpoints.NewRun(""), 0); exit != nil || err != nil {
		t.Errorf("the fire returned %v, %v", exit, err)
	}
	if got, want := fmt.Sprint(d.names), fmt.Sprint(names); got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
}

// A failureLog is a failure handler that keeps the failures.
type failureLog struct {
	mu   sync.Mutex
	kept []*hookkit.Failure
}

// handled makes a failureLog the handler of h.
func handled(h *hooks) *failureLog {
	l := new(failureLog)
	h.HandleFailures(l.handle)
	return l
}

func (l *failureLog) handle(_ ctx, f *hookkit.Failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, f)
}

// all returns the failures so far.
func (l *failureLog) all() []*hookkit.Failure {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept
}

// panicText returns the text of the panic of f, or "" if it returns.
func panicText(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

var sites = regexp.MustCompile(`hookkit/\w+_test\.go:\d+`)

// withoutSites replaces the places in a text by SITE.
func withoutSites(text string) string { return sites.ReplaceAllString(text, "SITE") }

// here returns the place of the call, as a Site.
func here() string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("hookkit/%s:%d", file[strings.LastIndexByte(file, '/')+1:], line)
}

// captureLog makes the default logger write into the buffer until the test ends.
func captureLog(t *testing.T) *bytes.Buffer {
	old := slog.Default()
	t.Cleanup(func() { slog.SetDefault(old) })
	b := new(bytes.Buffer)
	slog.SetDefault(slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug})))
	return b
}
