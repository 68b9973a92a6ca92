package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/hookkit/wire/wirehttp"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestMain lets this test binary be the service, in a process of its own.
func TestMain(m *testing.M) {
	if args := os.Getenv("POLICYSERVICE_ARGS"); args != "" {
		go func() { // it ends with the test, whatever happens to that
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
		if err := run(context.Background(), strings.Split(args, " "), os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A service is one start of the service.
type service struct {
	t   *testing.T
	cmd *exec.Cmd
}

func start(t *testing.T, addr, log string) *service {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "POLICYSERVICE_ARGS=-addr "+addr+" -log "+log)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &service{t, cmd}
	t.Cleanup(s.kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "listening") {
		t.Fatalf("the service said %q, %v", line, err)
	}
	return s
}

func (s *service) kill() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait() // which says that it was killed
	}
}

// decisions reads the log of all starts.
func decisions(t *testing.T, log string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range bytes.Lines(text) {
		var d struct{ Run, Call, Decision string }
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if before := all[d.Run+"/"+d.Call]; before != "" {
			t.Errorf("call %s of run %s was decided twice: %s, %s", d.Call, d.Run, before, d.Decision)
		}
		all[d.Run+"/"+d.Call] = d.Decision
	}
	return all
}

// Three agents ask one service, which is killed while it decides, and started again later. Meanwhile no tool runs,
// prompts are sent without the briefing, and everything ends.
func TestAgentsOutliveTheirPolicyService(t *testing.T) {
	const agents, calls = 3, 4 // calls in each phase
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	listener.Close()
	log := filepath.Join(t.TempDir(), "decisions")
	policy := start(t, addr, log)

	remote, err := agent.Remote(t.Context(), wirehttp.NewCaller("http://"+addr+"/hooks"),
		wire.Breaker(3, time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	var hooks agent.Hooks
	hooks.Use(remote, hookkit.Timeout(time.Minute))
	var failures atomic.Int64
	hooks.HandleFailures(func(context.Context, *hookkit.Failure) { failures.Add(1) })

	ran := &sync.Map{} // the calls whose tool ran
	var waiting, resumed sync.WaitGroup
	waiting.Add(agents)
	resumed.Add(1)
	var running sync.WaitGroup
	results := make([]agent.AgentResult, agents)
	for i := range agents {
		deploy := func(env string) looptest.Turn { return looptest.Call("deploy", map[string]string{"env": env}) }
		var turns []looptest.Turn
		for range calls { // while the service runs
			turns = append(turns, deploy("test"), deploy("production"))
		}
		turns = append(turns, deploy("slow")) // during which it is killed
		for range calls {                     // while it is gone
			turns = append(turns, deploy("test"))
		}
		turns = append(turns, looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			waiting.Done()
			resumed.Wait()
			return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{
				{ID: "after", Name: "deploy", Args: json.RawMessage(`{"env":"test"}`)},
			}}, nil
		}))
		for range calls { // while it runs again
			turns = append(turns, deploy("test"))
		}
		a := &loop.Agent{
			Model: looptest.NewScript(append(turns, looptest.Reply("done"))...),
			Tools: []agent.Tool{loop.Tool("deploy", "deploys", func(ctx context.Context, in struct {
				Env string `json:"env"`
			}) (string, error) {
				ran.Store(fmt.Sprint(i, " ", time.Now()), in.Env)
				return "deployed", nil
			})},
			Hooks: &hooks,
		}
		running.Go(func() {
			var err error
			if results[i], err = a.Run(t.Context(), "deploy everywhere"); err != nil {
				t.Errorf("agent %d: %v", i, err)
			}
		})
	}
	for n := 0; strings.Count(readText(log), "waiting") < agents; n++ {
		if n == 60_000 { // more than a minute
			t.Fatalf("the agents do not wait: %s", readText(log))
		}
		time.Sleep(time.Millisecond)
	}
	policy.kill()
	waiting.Wait()
	start(t, addr, log)
	for failed := failures.Load(); ; failed = failures.Load() { // one fire finds out that the service is back
		if hooks.Briefing.Fire(t.Context(), nil, agent.Step{}); failures.Load() == failed {
			break
		}
		time.Sleep(time.Millisecond)
	}
	resumed.Done()
	running.Wait()

	count := map[string]int{}
	for _, d := range decisions(t, log) {
		count[d]++
	}
	want := map[string]int{"allowed": agents * (2*calls + 1), "denied": agents * calls, "waiting": agents}
	for d, n := range want {
		if count[d] != n {
			t.Errorf("the service decided %q %d times, want %d", d, count[d], n)
		}
	}
	tools := 0
	ran.Range(func(_, env any) bool {
		tools++
		if env != "test" {
			t.Errorf("the tool ran for %v", env)
		}
		return true
	})
	if tools != count["allowed"] {
		t.Errorf("the tool ran %d times, and the service allowed %d calls", tools, count["allowed"])
	}
	for i, r := range results {
		var refused, failed int
		for _, c := range r.Calls {
			switch {
			case strings.Contains(c.Err, "only test environments"):
				refused++
			case c.Err != "":
				failed++
				if !strings.Contains(c.Err, "hook") {
					t.Errorf("agent %d: a call failed with %q", i, c.Err)
				}
			}
		}
		if refused != calls || failed != calls+1 {
			t.Errorf("agent %d: %d calls were refused and %d failed, want %d and %d", i, refused, failed, calls, calls+1)
		}
	}
	if failures.Load() == 0 {
		t.Error("no failure of Briefing was reported while the service was gone")
	}
}

func readText(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}
