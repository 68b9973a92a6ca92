package wasm_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/hookgen/hookgen/contrib/wasm"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/remote"
)

func TestMain(m *testing.M) {
	draws := "10" // for each of 80 points
	flag.Parse()
	if testing.Short() {
		draws = "3"
	}
	if err := flag.Set("rapid.checks", draws); err != nil {
		panic(err)
	}
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// cache has the compiled guests of all tests.
var cache = wazero.NewCompilationCache()

var built struct {
	sync.Mutex
	dir     string
	modules map[string][]byte
}

// guestOf builds a guest in Go once.
func guestOf(t testing.TB, name string) []byte {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if testing.Short() && name != "conformance" {
		t.Skip("compiling another guest takes seconds")
	}
	if built.modules[name] != nil {
		return built.modules[name]
	}
	var err error
	if built.dir == "" {
		if built.dir, err = os.MkdirTemp("", "guests"); err != nil {
			t.Fatal(err)
		}
		built.modules = map[string][]byte{}
	}
	file := filepath.Join(built.dir, name+".wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, "./testdata/"+name)
	build.Env = append(os.Environ(), "GOWORK=off", "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if built.modules[name], err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	return built.modules[name]
}

// newCaller returns a caller that is closed after the test.
func newCaller(t testing.TB, module []byte, opts ...wasm.Option) *wasm.Caller {
	t.Helper()
	c, err := wasm.New(module, append(opts, wasm.Cache(cache))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// say calls a point of the guest hostile, and returns its text.
func say(t testing.TB, c *wasm.Caller, point, payload string) string {
	t.Helper()
	r, err := c.Call(t.Context(), wire.Request{Point: point, Payload: []byte(payload)})
	if err != nil {
		t.Fatalf("%s: %v", point, err)
	}
	return r.Reason
}

// TestHooksInAGuest: hooks in the sandbox have the effect of the same hooks in this process, for every law.
func TestHooksInAGuest(t *testing.T) {
	host := newCaller(t, guestOf(t, "conformance"), wasm.Timeout(time.Minute))
	remote.Of(fixture.Serve, fixture.Remote).In(host).Check(t, "Wrap", "WrapBack", "OnImported", "OnError", "KeyedWrap")
}

func TestMessagesTravelBothWays(t *testing.T) {
	c := newCaller(t, guestOf(t, "hostile"), wasm.Name("guard.wasm"))
	if d, err := c.Describe(t.Context()); err != nil || d.Spec != "hostile" || len(d.Points) != 1 {
		t.Errorf("Describe returned %+v, %v", d, err)
	}
	for _, payload := range []string{`"</script>\u2028"`, `"` + strings.Repeat("x", 900_000) + `"`, "1"} {
		if got := say(t, c, "echo", payload); !strings.HasSuffix(got, payload[len(payload)-1:]) || len(got) < len(payload) {
			t.Errorf("the guest received %d bytes of %d", len(got), len(payload))
		}
	}
	if c.String() != "guard.wasm" {
		t.Errorf("the name is %q", c)
	}
}

// TestOneInstanceKeepsItsState: parallel calls reach the hooks one after the other.
func TestOneInstanceKeepsItsState(t *testing.T) {
	c := newCaller(t, guestOf(t, "hostile"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				if _, err := c.Call(t.Context(), wire.Request{Point: "count", Payload: []byte("1")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := say(t, c, "count", "1"); got != "41" {
		t.Errorf("the guest counted %s calls, want 41", got)
	}
}

// TestStatelessGuestsRunInParallel: a call that waits does not hold up another one.
func TestStatelessGuestsRunInParallel(t *testing.T) {
	c := newCaller(t, guestOf(t, "hostile"), wasm.Stateless(2), wasm.OnReplace(func(error) {}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := c.Call(ctx, wire.Request{Point: "sleep", Payload: []byte("1")})
		ended <- err
	}()
	for range 10 {
		say(t, c, "count", "1")
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call that waits: %v", err)
	}
}

// TestGuestsHaveTheDeadline: hooks of a guest are told how long the host waits, and its clock runs.
func TestGuestsHaveTheDeadline(t *testing.T) {
	c := newCaller(t, guestOf(t, "hostile"))
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	r, err := c.Call(ctx, wire.Request{Point: "deadline", Payload: []byte("1")})
	if err != nil || r.Reason != context.DeadlineExceeded.Error() {
		t.Errorf("Call returned %+v, %v", r, err)
	}
}

// TestInstancesAreReplaced: a guest that fails or takes too long is replaced, and the program is told.
func TestInstancesAreReplaced(t *testing.T) {
	replaced := make(chan error, 1)
	c := newCaller(t, guestOf(t, "hostile"), wasm.Timeout(2*time.Second),
		wasm.OnReplace(func(err error) { replaced <- err }))
	for point, want := range map[string]string{"panic": "a panic of the guest", "exit": "the status 3",
		"sleep": "no reply within 2s"} {
		say(t, c, "count", "1")
		_, err := c.Call(t.Context(), wire.Request{Point: point, Payload: []byte("1")})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", point, err, want)
		}
		if err := <-replaced; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the program was told %v, want %q", point, err, want)
		}
		if got := say(t, c, "count", "1"); got != "1" {
			t.Errorf("%s: the next instance counted %s calls, want 1", point, got)
		}
	}
}

// TestImpatientCallersCostNoState: a caller whose time is over does not stop the guest.
func TestImpatientCallersCostNoState(t *testing.T) {
	c := newCaller(t, guestOf(t, "hostile"))
	say(t, c, "count", "1")
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("the run was stopped")
	cancel(stopped)
	if _, err := c.Call(ctx, wire.Request{Point: "count", Payload: []byte("1")}); err != nil && !errors.Is(err, stopped) {
		t.Errorf("Call: %v", err)
	}
	if got := say(t, c, "count", "1"); got != "2" && got != "3" {
		t.Errorf("the guest counted %s calls, want 2 or 3", got)
	}
}

func TestCloseEndsCalls(t *testing.T) {
	c, err := wasm.New(guestOf(t, "hostile"), wasm.Timeout(time.Hour), wasm.Cache(cache))
	if err != nil {
		t.Fatal(err)
	}
	say(t, c, "count", "1")
	ended := make(chan error)
	for range 2 {
		go func() {
			_, err := c.Call(t.Context(), wire.Request{Point: "loop", Payload: []byte("1")})
			ended <- err
		}()
	}
	for range 2 { // programs close in several places, for example in a defer and at a signal
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "the caller is closed") {
			t.Errorf("a call under way: %v", err)
		}
	}
	if _, err := c.Describe(t.Context()); err == nil {
		t.Error("a closed caller answered")
	}
}

// TestFailingGuestsArePaused: the breaker of remote hooks works for guests.
func TestFailingGuestsArePaused(t *testing.T) {
	var replaced atomic.Int64
	g := newTiny(new(fixture.Hooks).Points()[0].Spec, "RewriteClosed")
	g.call = []byte{0x00}
	c := newCaller(t, g.bytes(), wasm.OnReplace(func(error) { replaced.Add(1) }))
	var hooks fixture.Hooks
	hook, err := fixture.Remote(t.Context(), c, wire.Breaker(3, time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	hooks.Use(hook)
	for i := range 10 {
		err := hooks.RewriteClosed.Fire(t.Context(), nil, &fixture.Item{})
		if failure := new(hookkit.Failure); !errors.As(err, &failure) || errors.Is(err, wire.ErrPaused) != (i >= 3) {
			t.Errorf("fire %d: %v", i, err)
		}
	}
	if n := replaced.Load(); n != 3 {
		t.Errorf("%d instances were replaced, want 3", n)
	}
}

// TestTrialsAreMarked: the request reaches the guest as it is, with the mark.
func TestTrialsAreMarked(t *testing.T) {
	c := newCaller(t, guestOf(t, "conformance"), wasm.Timeout(time.Minute))
	request := wire.Request{Protocol: wire.Protocol + 1, Point: "", Trial: true, Payload: []byte(`{"Name":"g"}`)}
	if r, err := c.Call(t.Context(), request); err != nil || !strings.Contains(string(r.Value), `"points":[]`) {
		t.Errorf("Call returned %+v, %v", r, err)
	}
}

func BenchmarkCall(b *testing.B) {
	c := newCaller(b, guestOf(b, "hostile"))
	q := wire.Request{Point: "count", Payload: []byte(`{"Name":"bash"}`)}
	for b.Loop() {
		if _, err := c.Call(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStart(b *testing.B) {
	module := newTiny("s", "p").bytes()
	for _, name := range []string{"tiny", "hostile"} {
		if name == "hostile" {
			module = guestOf(b, name)
		}
		b.Run(fmt.Sprint("compile ", name), func(b *testing.B) {
			for b.Loop() {
				c, err := wasm.New(module)
				if err != nil {
					b.Fatal(err)
				}
				_ = c.Close()
			}
		})
	}
}
