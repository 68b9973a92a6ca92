package wasm_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/contrib/wasm"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/tests/fixture"
)

var table = flag.String("attacks", "", "write the table of attacks to this file; run it with -count 1 -run Attacks")

// An attack is a guest that does harm, or tries to.
type attack struct {
	name   string
	module func(testing.TB) []byte
	point  string // of the call; "" for a point of the tiny guest
	want   string // in the error, or in the reply of a guest in Go
}

const opened = "RewriteClosed"

// assembled returns a tiny guest with a change.
func assembled(change func(*tiny)) func(testing.TB) []byte {
	return func(testing.TB) []byte {
		g := newTiny(new(fixture.Hooks).Points()[0].Spec, opened)
		change(&g)
		return g.bytes()
	}
}

func hostile(t testing.TB) []byte { return guestOf(t, "hostile") }

// limit is the time of a call. The guests of the tests are tiny, or compiled before.
const limit = time.Second

var attacks = []attack{
	{"loops", assembled(func(g *tiny) { g.call = forever() }), "", "no reply within 1s"},
	{"loops in its initialization", assembled(func(g *tiny) { g.initialize = forever() }), "", "no reply within 1s"},
	{"loops in the description", assembled(func(g *tiny) { g.describe = forever() }), "", "no reply within 1s"},
	{"calls itself without end", assembled(func(g *tiny) { g.call = []byte{0x10, 2} }), "", "stack overflow"},
	{"traps", assembled(func(g *tiny) { g.call = []byte{0x00} }), "", "unreachable"},
	{"traps in its initialization", assembled(func(g *tiny) { g.initialize = []byte{0x00} }), "", "unreachable"},
	{"grows its memory without end", assembled(func(g *tiny) {
		g.call = forever(append(i32(16), 0x40, 0x00, 0x1a)...)
	}), "", "no reply within 1s"},
	{"declares a memory of 4 GiB", assembled(func(g *tiny) { g.pages = 65536 }), "", "over limit"},
	{"declares a table of 100 million entries", assembled(func(g *tiny) { g.table = 100_000_000 }), "", "200000 entries"},
	{"declares a function with 4 billion variables", assembled(func(g *tiny) { g.locals = 1<<32 - 1 }), "",
		"more than 50000 variables"},
	{"declares 4 billion types", assembled(func(g *tiny) {
		g.sections = "\x01" + text(leb(1<<32-1))
	}), "", "4294967295 elements"},
	{"has a name of 4 GB", assembled(func(g *tiny) { g.sections = "\x02" + text("\x01"+leb(1<<32-1)) }), "",
		"ends too early"},
	{"reads its reply beyond its memory", assembled(func(g *tiny) { g.call = packed(65000, 1000) }), "",
		"outside of the guest's memory"},
	{"replies with the address -1", assembled(func(g *tiny) { g.call = packed(-1, 10) }), "", "outside of the guest's"},
	{"wants the request beyond its memory", assembled(func(g *tiny) { g.buffer = i32(-8) }), "", "outside of its memory"},
	{"replies with 2 GiB", assembled(func(g *tiny) { g.call = packed(0, 1<<31-1) }), "", "more than 1048576"},
	{"replies with nothing", assembled(func(g *tiny) { g.call = i64(0) }), "", "the reply is empty"},
	{"replies with half a message", assembled(func(g *tiny) { g.reply = `{"decision":"conti` }), "", "not JSON"},
	{"replies with two decisions", assembled(func(g *tiny) {
		g.reply = `{"decision":"Stop","decision":"continue"}`
	}), "", "$.decision"},
	{"replies with 100,000 brackets", assembled(func(g *tiny) {
		g.reply, g.pages = `{"value":`+strings.Repeat("[", 100_000), 4
	}), "", "$"},
	{"decides what the point does not allow", assembled(func(g *tiny) { g.reply = `{"decision":"Allow"}` }), "",
		"Allow"},
	{"describes another spec", assembled(func(g *tiny) { g.description = `{"protocol":1,"spec":"x","points":["A"]}` }), "",
		`the spec "x"`},
	{"describes a point that does not exist", assembled(func(g *tiny) {
		g.description = strings.Replace(g.description, opened, "Nothing", 1)
	}), "", `the point "Nothing"`},
	{"describes types that contain themselves", assembled(func(g *tiny) {
		g.description = strings.TrimSuffix(g.description, "}") + `,"shapes":{"RewriteClosed":{"law":"","payload":"{A}",
			"objects":{"A":{"ID":"{A}","Note":"[]{B}"},"B":{"b":"*{B}"}}}}}`
	}), "", "another version"},
	{"imports a function of the host", assembled(func(g *tiny) {
		g.imports = []string{"env.exec"}
	}), "", `imports the function "exec" of "env"`},
	{"imports a function that WASI lacks", assembled(func(g *tiny) { g.imports = []string{"exec"} }), "", "exec"},
	{"writes to standard output without end", assembled(func(g *tiny) {
		g.imports = []string{"fd_write"}
		g.description = "\x00\x00\x00\x00\x00\xf0\x00\x00" // a buffer of 61,440 bytes at 0
		g.describe = packed(descriptionAt+8, 0)
		g.initialize = forever(calling(0, 1, descriptionAt, 1, 8)...)
	}), "", "no reply within 1s"},
	{"waits for standard input with a wrong size", assembled(func(g *tiny) {
		g.imports = []string{"poll_oneoff"}
		g.call = append(calling(0, 0, 4096, 1<<28+1, 8), packed(replyAt, 23)...)
	}), "", "index out of range"},
	{"loops (Go)", hostile, "loop", "no reply within 1s"},
	{"allocates without end (Go)", hostile, "grow", "out of memory"},
	{"calls itself without end (Go)", hostile, "stack", ""},
	{"panics (Go)", hostile, "panic", "a panic of the guest"},
	{"ends (Go)", hostile, "exit", "the status 3"},
	{"sleeps for an hour (Go)", hostile, "sleep", "no reply within 1s"},
	{"waits for what never comes (Go)", hostile, "wait", ""},
	{"writes without end (Go)", hostile, "output", "no reply within 1s"},
	{"replies with 2 MiB (Go)", hostile, "long", "more than 1048576"},
	{"reads, lists, writes and removes files (Go)", hostile, "files", ""},
	{"connects, listens and looks up a name (Go)", hostile, "network", ""},
	{"starts a program, reads the environment (Go)", hostile, "process", "0 variables"},
}

// TestAttacks: whatever a guest does, the host gets an error in time, and needs a bounded memory.
func TestAttacks(t *testing.T) {
	var report strings.Builder
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			module := a.module(t)
			if a.point != "" { // compile it, so that the time is that of the attack
				newCaller(t, module)
			}
			memory := watchMemory(t)
			begun := time.Now()
			got := a.run(t, module)
			took, peak := time.Since(begun), memory()
			if !strings.Contains(got, a.want) || a.want != "" && got == "" {
				t.Errorf("the result is %q, want %q", got, a.want)
			}
			if slices.Contains(strings.Split(got, "; "), "ok") {
				t.Errorf("the guest reached something: %s", got)
			}
			if most := uint64(6 * wasm.DefaultMaxMemory); peak > most {
				t.Errorf("it needed %d bytes, more than %d", peak, most)
			}
			if took > time.Minute {
				t.Errorf("it took %v", took)
			}
			got, _, _ = strings.Cut(strings.TrimPrefix(got, "wire: guest does not say which points it serves: "), "; pass wire.")
			before, wrote, _ := strings.Cut(got, "; it wrote to standard error: ")
			if wrote != "" {
				got = before + ": " + strings.Split(wrote, `\n`)[0] + `"`
			}
			fmt.Fprintf(&report, "| %s | %s | %d ms | %.0f MB |\n", a.name, got, took.Milliseconds(), float64(peak)/1e6)
		})
	}
	if *table != "" {
		if err := os.WriteFile(*table, []byte(report.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// At a point where all hooks are asked, guests that refuse, trap and loop are refusals, and nobody hides another.
func TestEveryRefusalOfGuestsIsReported(t *testing.T) {
	const point = "VerifyAll"
	var hooks fixture.Hooks
	guests := []struct {
		name, want string
		change     func(*tiny)
	}{
		{"refusing", `"not now"`, func(g *tiny) { g.reply = `{"error":"not now"}` }},
		{"passing", "", func(*tiny) {}},
		{"trapping", "unreachable", func(g *tiny) { g.call = []byte{0x00} }},
		{"looping", "no reply within 1s", func(g *tiny) { g.call = forever() }},
		{"deciding", `"replace" is not legal`, func(g *tiny) { g.reply = `{"decision":"replace","value":{}}` }},
		{"last", `"never"`, func(g *tiny) { g.reply = `{"error":"never"}` }},
	}
	for _, c := range guests {
		g := newTiny(new(fixture.Hooks).Points()[0].Spec, point)
		c.change(&g)
		caller, err := wasm.New(g.bytes(), wasm.Timeout(limit), wasm.Name(c.name), wasm.OnReplace(func(error) {}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := caller.Close(); err != nil {
				t.Error(err)
			}
		})
		remote, err := fixture.Remote(t.Context(), caller)
		if err != nil {
			t.Fatal(err)
		}
		hooks.Use(remote)
	}
	bys, err := hooks.VerifyAll.FireBy(t.Context(), nil, fixture.Item{})
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("the error is %v", err)
	}
	refusals := joined.Unwrap()
	for _, c := range guests {
		if c.want == "" {
			continue
		}
		if len(refusals) == 0 || len(bys) == 0 {
			t.Fatalf("no refusal of %s in %v", c.name, err)
		}
		if !strings.Contains(bys[0].Hook, c.name) || !strings.Contains(refusals[0].Error(), c.want) {
			t.Errorf("%s refuses by %v: %v; want %s", bys[0].Hook, c.name, refusals[0], c.want)
		}
		refusals, bys = refusals[1:], bys[1:]
	}
	if len(refusals) > 0 {
		t.Errorf("more refusals: %v", refusals)
	}
}

// run connects the guest and fires a point, and returns the error or the reply of the guest.
func (a attack) run(t *testing.T, module []byte) string {
	opts := []wasm.Option{wasm.Timeout(limit), wasm.Name("guest"), wasm.OnReplace(func(error) {})}
	if a.point != "" {
		opts = append(opts, wasm.Cache(cache))
	}
	c, err := wasm.New(module, opts...)
	if err != nil {
		return err.Error()
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	if a.point != "" {
		r, err := c.Call(t.Context(), wire.Request{Point: a.point, Payload: []byte("1")})
		if err != nil {
			return err.Error()
		}
		return r.Reason
	}
	hook, err := fixture.Remote(t.Context(), c)
	if err != nil {
		return err.Error()
	}
	var hooks fixture.Hooks
	hooks.Use(hook)
	err = hooks.RewriteClosed.Fire(t.Context(), nil, &fixture.Item{})
	if call, ok := errors.AsType[*wire.CallError](err); ok {
		return call.Err.Error()
	}
	if err != nil {
		t.Errorf("the failure does not name the guest: %v", err)
	}
	return "continue"
}

// watchMemory returns a function that returns by how much the memory of the process has grown at most.
func watchMemory(t *testing.T) func() uint64 {
	runtime.GC()
	debug.FreeOSMemory()
	used := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64() - s[1].Value.Uint64()
	}
	before, stop, peak := used(), make(chan struct{}), make(chan uint64)
	go func() {
		most := before
		for {
			most = max(most, used())
			select {
			case <-stop:
				peak <- max(most, used()) - before
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-peak
	}
}

// FuzzGuestOutput gives the host any description and any reply.
func FuzzGuestOutput(f *testing.F) {
	g := newTiny(new(fixture.Hooks).Points()[0].Spec, opened)
	for _, decision := range []string{"continue", "replace", "patch"} {
		reply := fmt.Sprintf(`{"decision":%q,"value":{"ID":1}}`, decision)
		f.Add(g.description, reply, uint64(replyAt)<<32|uint64(len(reply)))
	}
	f.Fuzz(func(t *testing.T, description, reply string, at uint64) {
		if len(description)+descriptionAt > replyAt || len(reply) > requestAt-replyAt {
			t.Skip()
		}
		g := g
		g.description, g.reply, g.call = description, reply, i64(int64(at))
		attack{}.run(t, g.bytes())
	})
}

// FuzzModule gives the host any module.
func FuzzModule(f *testing.F) {
	for _, a := range attacks {
		if a.point == "" {
			f.Add(a.module(f))
		}
	}
	f.Fuzz(func(t *testing.T, module []byte) {
		// A change of the header alone finds nothing.
		attack{}.run(t, slices.Concat([]byte("\x00asm\x01\x00\x00\x00"), module[min(len(module), 8):]))
	})
}
