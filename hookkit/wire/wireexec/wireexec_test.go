package wireexec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/hookkit/wire/wireexec"
)

// TestMain lets this test binary be the programs that the tests start.
func TestMain(m *testing.M) {
	if act := os.Getenv("WIREEXEC_ACT"); act != "" {
		os.Exit(acts[act]())
	}
	os.Exit(m.Run())
}

// echo replies with the point and the payload of the request.
type echo struct{}

func (echo) Describe(context.Context) (wire.Description, error) {
	return wire.Description{Protocol: wire.Protocol, Spec: "s", Points: []string{"A"}}, nil
}

func (echo) Call(_ context.Context, q wire.Request) (wire.Reply, error) {
	return wire.Reply{Decision: q.Point, Value: q.Payload}, nil
}

// acts are the programs.
var acts = map[string]func() int{
	"serve": func() int {
		if err := wireexec.ServeLines(os.Stdin, os.Stdout, echo{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	},
	"environment": func() int {
		names := []string{}
		for _, v := range os.Environ() {
			names = append(names, strings.SplitN(v, "=", 2)[0])
		}
		return say(map[string]any{"decision": strings.Join(names, " ")})
	},
	"silent":  func() int { time.Sleep(time.Hour); return 0 },
	"garbage": func() int { fmt.Println("all good"); return 0 },
	"unknown": func() int { return say(map[string]any{"decision": "x", "allow": true}) },
	"fails": func() int {
		fmt.Fprintln(os.Stderr, "no policy file")
		say(map[string]any{"decision": "continue"})
		return 3
	},
	"nothing": func() int { return 0 },
	"flood": func() int {
		for {
			if _, err := os.Stdout.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
				return 1
			}
		}
	},
	// long writes a reply, and then more than a reply may have.
	"long": func() int {
		say(map[string]any{"decision": "continue"})
		fmt.Println(strings.Repeat(" ", 200_000))
		return 0
	},
	"deaf": func() int { fmt.Fprintln(os.Stderr, "started"); time.Sleep(time.Hour); return 0 },
	// child replies, and leaves a child that keeps the output open.
	"child": func() int {
		cmd := exec.Command(os.Args[0])
		cmd.Env = []string{"WIREEXEC_ACT=silent"}
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			return 1
		}
		return say(map[string]any{"decision": strconv.Itoa(cmd.Process.Pid)})
	},
	"child, silent": func() int {
		cmd := exec.Command(os.Args[0])
		cmd.Env = []string{"WIREEXEC_ACT=silent"}
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil {
			return 1
		}
		fmt.Fprintln(os.Stderr, "child", cmd.Process.Pid, "is ready")
		time.Sleep(time.Hour)
		return 0
	},
	// The following read lines.
	"logs":        lines(func(id int64) { fmt.Println("INFO asked"); reply(id) }),
	"twice":       lines(func(id int64) { reply(id); reply(id) }),
	"another id":  lines(func(id int64) { reply(id + 100) }),
	"no id":       lines(func(int64) { say(map[string]any{"decision": "continue"}) }),
	"flood lines": lines(func(int64) { fmt.Print(strings.Repeat("x", 1<<20)) }),
	"dies":        lines(func(int64) { fmt.Fprintln(os.Stderr, "out of memory"); os.Exit(4) }),
	"closes":      lines(func(int64) { os.Stdout.Close(); time.Sleep(time.Hour) }),
	"mute":        lines(func(int64) {}),
	"hangs once": lines(func(id int64) { // at the second request
		if id == 1 {
			fmt.Fprintln(os.Stderr, "slow")
			time.AfterFunc(300*time.Millisecond, func() { reply(id) })
		}
	}),
	"every other": lines(func(id int64) {
		if id%2 == 0 {
			reply(id)
		} else {
			fmt.Fprintln(os.Stderr, "ignored")
		}
	}),
}

func say(message any) int {
	text, _ := json.Marshal(message)
	fmt.Printf("%s\n", text)
	return 0
}

func reply(id int64) { say(map[string]any{"id": id, "decision": "continue"}) }

func lines(answer func(id int64)) func() int {
	return func() int {
		fmt.Fprintln(os.Stderr, "started")
		in := json.NewDecoder(os.Stdin)
		for {
			var q struct{ ID int64 }
			if in.Decode(&q) != nil {
				return 0
			}
			answer(q.ID)
		}
	}
}

// program returns the arguments and the options that start an act.
func program(t *testing.T, act string, opts ...wireexec.Option) ([]string, []wireexec.Option) {
	t.Helper()
	if acts[act] == nil {
		t.Fatalf("no act %q", act)
	}
	return []string{os.Args[0]}, append([]wireexec.Option{wireexec.Env("WIREEXEC_ACT=" + act)}, opts...)
}

func command(t *testing.T, act string, opts ...wireexec.Option) wire.Caller {
	argv, opts := program(t, act, opts...)
	return wireexec.Command(argv, opts...)
}

func process(t *testing.T, act string, opts ...wireexec.Option) *wireexec.ProcessCaller {
	argv, opts := program(t, act, opts...)
	p := wireexec.Process(argv, opts...)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestMessagesTravelBothWays(t *testing.T) {
	for name, c := range map[string]wire.Caller{"command": command(t, "serve"), "process": process(t, "serve")} {
		t.Run(name, func(t *testing.T) {
			d, err := c.Describe(t.Context())
			if err != nil || d.Spec != "s" || len(d.Points) != 1 {
				t.Errorf("Describe returned %+v, %v", d, err)
			}
			var all sync.WaitGroup
			for i := range 10 {
				all.Go(func() {
					point := strconv.Itoa(i)
					payload := fmt.Sprintf(`{"Text":"%s"}`, strings.Repeat(point, 10_000))
					r, err := c.Call(t.Context(), wire.Request{Protocol: 1, Point: point, Payload: json.RawMessage(payload)})
					if err != nil || r.Decision != point || string(r.Value) != payload {
						t.Errorf("call %d returned %.100v, %v", i, r, err)
					}
				})
			}
			all.Wait()
		})
	}
}

// TestWrongCommandsAreErrors: a program that does not reply as the protocol says is an error, and no reply.
func TestWrongCommandsAreErrors(t *testing.T) {
	for _, c := range []struct{ act, want string }{
		{"silent", "no reply within"},
		{"garbage", `"all good\n"`},
		{"unknown", "$.allow: unknown field"},
		{"fails", `exit status 3; it wrote to standard error: "no policy file"`},
		{"nothing", "unexpected end of JSON input"},
		{"flood", "more than 100000 bytes"},
		{"long", "more than 100000 bytes"}, // the beginning is a valid reply
	} {
		t.Run(c.act, func(t *testing.T) {
			limit := 10 * time.Second
			if c.act == "silent" {
				limit = 200 * time.Millisecond
			}
			r, err := command(t, c.act, wireexec.MaxBytes(100_000), wireexec.Timeout(limit)).Call(t.Context(), wire.Request{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Call returned %+v, %v; want an error with %q", r, err, c.want)
			}
		})
	}
	t.Run("no such program", func(t *testing.T) {
		if _, err := wireexec.Command([]string{"/no/such/program"}).Call(t.Context(),
			wire.Request{}); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
	t.Run("no arguments", func(t *testing.T) {
		if _, err := wireexec.Command(nil).Call(t.Context(), wire.Request{}); err == nil {
			t.Error("no error")
		}
	})
}

func TestWrongProcessesAreErrors(t *testing.T) {
	for _, c := range []struct{ act, want string }{
		{"logs", `the program wrote "INFO asked"`},
		{"another id", "which waits for no reply"},
		{"no id", "with the id of a request"},
		{"flood lines", "a line of more than 100000 bytes"},
		{"dies", `exit status 4; it wrote to standard error: "started\nout of memory"`},
		{"closes", "the program closed its standard output and did not end"},
		{"mute", "no reply within"},
	} {
		t.Run(c.act, func(t *testing.T) {
			limit := 10 * time.Second
			if c.act == "mute" {
				limit = 300 * time.Millisecond
			}
			p := process(t, c.act, wireexec.MaxBytes(100_000), wireexec.Timeout(limit))
			for range 2 { // the program is started again
				r, err := p.Call(t.Context(), wire.Request{})
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("Call returned %+v, %v; want an error with %q", r, err, c.want)
				}
			}
		})
	}
}

// A program closes its output because it ends, and on a busy machine its end takes long.
func TestSlowEndsHaveTheStatusOfTheProgram(t *testing.T) {
	wireexec.SetStaying(t, 0)
	p := process(t, "dies")
	for range 10 {
		if _, err := p.Call(t.Context(), wire.Request{}); err == nil || !strings.Contains(err.Error(), "exit status 4") {
			t.Errorf("the error is %v", err)
		}
	}
}

// After a second reply to one request, nothing that the program writes can be trusted.
func TestSecondRepliesEndTheProcess(t *testing.T) {
	p := process(t, "twice")
	for range 100 {
		if _, err := p.Call(t.Context(), wire.Request{}); err != nil {
			if !strings.Contains(err.Error(), "replied to the id") {
				t.Error(err)
			}
			return
		}
	}
	t.Error("all calls had replies")
}

// A request that is given up harms no other one.
func TestGivenUpRequestsHarmNoOther(t *testing.T) {
	ignored := make(heard, 100)
	p := process(t, "every other", wireexec.Timeout(time.Minute), wireexec.Stderr(ignored))
	for i := range 20 {
		if i%2 == 1 {
			if _, err := p.Call(t.Context(), wire.Request{}); err != nil {
				t.Fatal(err)
			}
			continue
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped")
		go func() { ignored.wait("ignored"); cancel(stopped) }()
		if _, err := p.Call(ctx, wire.Request{}); !errors.Is(err, stopped) {
			t.Fatalf("the error is %v, want the cause of the cancellation", err)
		}
	}
}

// A program that leaves many cancelled requests unanswered is killed, and the next request starts another one. Requests
// that the program does not even read count, too: its input is full after the first long one.
func TestProgramsThatAnswerNothingAreKilled(t *testing.T) {
	long := json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
	for act, payload := range map[string]json.RawMessage{"mute": nil, "deaf": long} {
		t.Run(act, func(t *testing.T) {
			started := make(heard, 100)
			p := process(t, act, wireexec.Stderr(started))
			for range 3 {
				startedAgain := false
				for n := 0; n < 1000 && !startedAgain; n++ {
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(10*time.Millisecond, cancel)
					if _, err := p.Call(ctx, wire.Request{Payload: payload}); err == nil {
						t.Error("a reply")
					}
					select {
					case text := <-started:
						startedAgain = strings.Contains(text, "started")
					default:
					}
				}
				if !startedAgain {
					t.Fatal("no other program was started")
				}
			}
		})
	}
}

// A program hangs at one request. The next one starts another program, and a request that the first one still answers
// gets its reply.
func TestHangingProgramIsReplacedAtOnce(t *testing.T) {
	started := make(heard, 100)
	p := process(t, "hangs once", wireexec.Stderr(started))
	slow := make(chan error, 1)
	go func() {
		_, err := p.Call(t.Context(), wire.Request{Point: "slow"})
		slow <- err
	}()
	started.wait("slow")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Call(ctx, wire.Request{Point: "hang"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the hanging request returned %v", err)
	}
	begun := time.Now()
	if _, err := p.Call(t.Context(), wire.Request{Point: "quick"}); err != nil || time.Since(begun) > 10*time.Second {
		t.Errorf("the next request returned %v after %v", err, time.Since(begun))
	}
	if err := <-slow; err != nil {
		t.Errorf("the request that waited for the first program returned %v", err)
	}
}

// A request that no program reads must not end the requests of others.
func TestTooLargeRequestsAreNotSent(t *testing.T) {
	p := process(t, "serve")
	if _, err := p.Call(t.Context(), wire.Request{}); err != nil {
		t.Fatal(err)
	}
	large := wire.Request{Payload: json.RawMessage(`"` + strings.Repeat("x", wireexec.DefaultMaxBytes) + `"`)}
	if _, err := p.Call(t.Context(), large); !errors.Is(err, wire.ErrRefused) {
		t.Errorf("a request that is too large: %v", err)
	}
	if _, err := p.Call(t.Context(), wire.Request{}); err != nil {
		t.Errorf("the next request: %v", err)
	}
}

func TestClosedCallersAnswerNothing(t *testing.T) {
	p := process(t, "mute")
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := p.Call(t.Context(), wire.Request{}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("after Close, Call returned %v", err)
	}
}

// heard receives the standard error of a program.
type heard chan string

func (c heard) Write(p []byte) (int, error) {
	c <- string(p)
	return len(p), nil
}

// wait waits for a text. The time limit of the whole test ends it if the text never comes.
func (c heard) wait(text string) {
	for !strings.Contains(<-c, text) {
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}
func (b *syncBuffer) String() string { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }

func TestProgramsGetAFewVariables(t *testing.T) {
	t.Setenv("API_KEY", "secret")
	t.Setenv("LD_PRELOAD", "")
	r, err := command(t, "environment", wireexec.Env("EXTRA=1")).Call(t.Context(), wire.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.Decision, "API_KEY") || strings.Contains(r.Decision, "LD_PRELOAD") ||
		!strings.Contains(r.Decision, "EXTRA") {
		t.Errorf("the program saw %s", r.Decision)
	}
}

// ServeLines answers both kinds of questions, and names a line that is neither.
func TestServeLinesAnswersAndRefuses(t *testing.T) {
	for _, c := range []struct{ name, in, out, err string }{
		{"a request without id", `{"protocol":1,"point":"A","payload":1}`, `{"decision":"A","value":1}` + "\n", ""},
		{
			"a request with id",
			`{"id":7,"point":"A","payload":1}` + "\n\n",
			`{"id":7,"decision":"A","value":1}` + "\n",
			"is not a request",
		},
		{
			"a payload with a key given twice",
			`{"id":7,"payload":{"a":1,"a":2}}` + "\n" + `{"id":8,"point":"A"}`,
			`{"id":7,"error":"wire: the request cannot be read: $.payload.a: given twice"}` + "\n" +
				`{"id":8,"decision":"A"}` + "\n",
			"",
		},
		{"the description", `{"id":0,"describe":true}`, `{"id":0,"protocol":1,"spec":"s","points":["A"]}` + "\n", ""},
		{"no JSON", "hello\n", "", `the line "hello" is not a request`},
		{"neither", "{}\n", "", "neither a request"},
		{"nothing", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			err := wireexec.ServeLines(strings.NewReader(c.in), &out, echo{})
			if out.String() != c.out || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("wrote %q, %v; want %q and an error with %q", out.String(), err, c.out, c.err)
			}
		})
	}
	t.Run("a closed output", func(t *testing.T) {
		r, w := io.Pipe()
		r.Close()
		if err := wireexec.ServeLines(strings.NewReader("{\"point\":\"A\"}\n"), w,
			echo{}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestRunReturnsTheOutputAndTheStatus(t *testing.T) {
	for name, c := range map[string]struct {
		act    string
		status int
		fails  bool
	}{
		"success": {"garbage", 0, false},
		"failure": {"fails", 3, false},
		"silence": {"silent", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			limit := time.Minute
			if c.fails {
				limit = 100 * time.Millisecond
			}
			output, status, err := wireexec.Run(t.Context(), []string{os.Args[0]}, nil, wireexec.Env("WIREEXEC_ACT="+c.act),
				wireexec.Timeout(limit))
			if status != c.status || (err != nil) != c.fails || c.act == "garbage" && string(output) != "all good\n" {
				t.Errorf("output %q, status %d, error %v", output, status, err)
			}
		})
	}
}
