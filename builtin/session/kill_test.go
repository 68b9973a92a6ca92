package session_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/spec/agentspec"
)

var kills = flag.Int("kills", 4, "how many `runs` are killed between two writes")

// The environment of a process that a test may kill: its folder.
const writerIn = "HOOKGEN_SESSION_WRITER"

func TestMain(m *testing.M) {
	dir := os.Getenv(writerIn)
	if dir == "" {
		flag.Parse()
		os.Exit(m.Run())
	}
	if err := work(dir); err != nil {
		say("failed: %v", err)
		os.Exit(1)
	}
}

// say writes a line and waits until the test has read it. A process that the test has left ends.
func say(format string, args ...any) {
	fmt.Printf(format+"\n", args...)
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		os.Exit(1)
	}
}

// orders is a model that calls write with 0, then all other writes in one reply, and then answers.
type orders struct{}

func (orders) Generate(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	reply := agent.LLMResponse{}
	from, to := 0, 0
	for _, m := range req.Messages {
		switch {
		case m.Role != agent.RoleTool:
		case from == 0:
			from, to = 1, lastWrite
		default:
			return agent.LLMResponse{Content: "done"}, nil
		}
	}
	for n := from; n <= to; n++ {
		call := agent.ToolCallRequest{ID: fmt.Sprint("c", n), Name: "write", Args: fmt.Appendf(nil, `{"n":%d}`, n)}
		if n == askedWrite {
			call.Name = "ask_and_write"
		}
		reply.ToolCalls = append(reply.ToolCalls, call)
	}
	return reply, nil
}

const (
	askedWrite = 3 // a person is asked about it
	lastWrite  = 5
)

// writer returns the agent of one process, and its store.
func writer(dir string) (*loop.Agent, agent.RunStore) {
	store := session.Dir{Path: filepath.Join(dir, "store")}
	type number struct {
		N int `json:"n"`
	}
	write := func(_ context.Context, in number) (string, error) {
		if err := note(dir, in.N); err != nil {
			return "", err
		}
		say("wrote %d", in.N)
		return fmt.Sprint(in.N), nil
	}
	returned := agent.AfterToolFunc(func(
		_ context.Context, _ *agent.Run, r agent.ToolCallResult,
	) (agent.AfterToolOutcome, error) {
		say("returned %s", r.Output)
		return nil, nil
	})
	return &loop.Agent{
		Name: "writer", Model: orders{}, Approver: permission.Later{}, Runs: session.Runs{Store: store},
		Tools: []agent.Tool{loop.Tool("write", "", write), loop.Tool("ask_and_write", "", write)},
		Hooks: loop.Hooks(returned, &session.Checkpoint{Store: store, Every: 1, Resume: true},
			&permission.Confirm{Tools: []string{"ask_and_write"}}),
	}, session.Runs{Store: store}
}

// note appends a line to the log of the effects.
func note(dir string, what any) error {
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, what)
		err = errors.Join(err, f.Close())
	}
	return err
}

// work begins a run, or continues it.
func work(dir string) error {
	if err := note(dir, "process"); err != nil {
		return err
	}
	ctx := context.Background()
	a, store := writer(dir)
	stored, err := store.List(ctx)
	if err != nil {
		return err
	}
	req := loop.Request{Task: "write", Conversation: "c"}
	for _, s := range stored {
		if !s.TakenUntil.IsZero() { // an operator looks, and lets the run continue
			if err := store.Put(ctx, s.Suspension, ""); err != nil {
				return err
			}
		}
		req = loop.Request{ID: s.Run, Answers: []loop.Answer{loop.AnswerTo(s.Questions[0], agent.Approval{Allow: true})}}
	}
	if req.ID != "" {
		say("answers")
	}
	result, err := a.Do(ctx, req)
	switch {
	case errors.Is(err, loop.ErrSuspended):
		say("suspended")
		return nil
	case errors.As(err, new(*agent.RunTaken)), errors.As(err, new(*agent.NotFound)):
		say("too late")
		return nil
	case errors.As(err, new(*agent.LeaseEnded)):
		say("asleep")
		return nil
	case err != nil:
		return err
	}
	var outputs []string
	for _, m := range result.Messages {
		if m.Role == agent.RoleTool {
			outputs = append(outputs, m.Content)
		}
	}
	say("ended %v %v", outputs, agentspec.CheckPairs(result.Messages, false))
	return nil
}

// A process is a copy of the test program that works.
type process struct {
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func start(t *testing.T, dir string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), writerIn+"="+dir), os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.out = in, bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	return p
}

// kill ends the process without a chance to clean up, as kill -9 does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// next returns the next line of the process, which waits until answered is called; "" is the end.
func (p *process) next() string {
	p.out.Scan()
	return p.out.Text()
}

func (p *process) answered() { _, _ = p.in.Write([]byte("\n")) }

// TestKilledRunsKeepTheOrderOfEffects kills a run after a write, or after its result is known, and lets another process
// continue it. The writes of a finished step, and those before a question, are never made again.
func TestKilledRunsKeepTheOrderOfEffects(t *testing.T) {
	var places []string
	for n := range lastWrite + 1 {
		places = append(places, fmt.Sprint("wrote ", n), fmt.Sprint("returned ", n))
	}
	for i := range *kills {
		killAt := []string{places[i*5%len(places)]}
		if i >= len(places) {
			killAt = append(killAt, places[rand.IntN(len(places))])
		}
		t.Run(strings.Join(killAt, ","), func(t *testing.T) {
			dir := t.TempDir()
			want, end := effects(killAt), ""
			for left := killAt; end == ""; {
				p := start(t, dir)
				for line := p.next(); line != ""; line = p.next() {
					if len(left) > 0 && line == left[0] {
						left = left[1:]
						break
					}
					if strings.HasPrefix(line, "ended") || strings.HasPrefix(line, "failed") {
						end = line
					}
					p.answered()
				}
				p.kill()
			}
			log, err := os.ReadFile(filepath.Join(dir, "log"))
			if got := strings.Fields(string(log)); err != nil || !slices.Equal(got, want) {
				t.Errorf("wrote %v, want %v, %v", got, want, err)
			}
			if end != "ended [0 1 2 3 4 5] <nil>" {
				t.Error(end)
			}
		})
	}
}

// effects returns the log of a run that is killed at these places, one after the other. A place that does not come any
// more kills nothing.
func effects(killAt []string) (log []string) {
	for first := 0; ; {
		log = append(log, "process")
		for n := first; ; n++ {
			if n > lastWrite {
				return log
			}
			if n == askedWrite && first < askedWrite {
				first = askedWrite // the run is suspended
				break
			}
			log = append(log, fmt.Sprint(n))
			if n > 0 {
				first = max(first, 1) // the step before is saved
			}
			if len(killAt) > 0 && strings.HasSuffix(killAt[0], fmt.Sprint(" ", n)) {
				killAt = killAt[1:]
				break
			}
		}
	}
}

// TestP13_OneOfTwoProcessesAnswers: two processes answer the same question at the same moment.
func TestP13_OneOfTwoProcessesAnswers(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	for line := p.next(); line != ""; line = p.next() {
		p.answered()
	}
	both := []*process{start(t, dir), start(t, dir)}
	for _, p := range both {
		if line := p.next(); line != "answers" {
			t.Fatal(line)
		}
	}
	for _, p := range both {
		p.answered()
	}
	var ends []string
	for _, p := range both {
		for line := p.next(); line != ""; line = p.next() {
			if !strings.HasPrefix(line, "wrote") && !strings.HasPrefix(line, "returned") {
				ends = append(ends, line)
			}
			p.answered()
		}
	}
	slices.Sort(ends)
	if want := []string{"ended [0 1 2 3 4 5] <nil>", "too late"}; !slices.Equal(ends, want) {
		t.Errorf("the processes say %q", ends)
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if got := strings.Join(strings.Fields(string(log)), " "); err != nil || got != "process 0 1 2 process process 3 4 5" {
		t.Errorf("wrote %q, %v", got, err)
	}
}

// TestP13_AProcessThatSleptChangesNothing: a process stops after a write. An operator lets the run continue, and
// another process does. The first one wakes up before the other has ended, or after it.
func TestP13_AProcessThatSleptChangesNothing(t *testing.T) {
	for _, wakesAt := range []string{"answers", "wrote 4", "ended"} {
		t.Run(wakesAt, func(t *testing.T) {
			dir := t.TempDir()
			p := start(t, dir)
			for line := p.next(); line != ""; line = p.next() {
				p.answered()
			}
			sleeper := start(t, dir)
			for line := sleeper.next(); line != "wrote 3"; line = sleeper.next() {
				sleeper.answered()
			}
			wake := func() (end string) {
				sleeper.answered()
				for line := sleeper.next(); line != ""; line = sleeper.next() {
					end = line
					sleeper.answered()
				}
				return end
			}
			other, woken, end := start(t, dir), "", ""
			for line := other.next(); line != ""; line = other.next() {
				if strings.HasPrefix(line, wakesAt) {
					woken = wake()
				}
				end = line
				other.answered()
			}
			all, err := session.Runs{Store: session.Dir{Path: filepath.Join(dir, "store")}}.List(t.Context())
			if woken != "asleep" || end != "ended [0 1 2 3 4 5] <nil>" || len(all) != 0 || err != nil {
				t.Errorf("the process that slept says %q, the other %q; stored %+v, %v", woken, end, all, err)
			}
		})
	}
}
