package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/natsfleet"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
)

// TestMain runs the program itself if a test has started the binary as one of its processes.
func TestMain(m *testing.M) {
	if os.Getenv("FLEET_TEST_PROGRAM") != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

func none(string) string { return "" }

func TestDemo(t *testing.T) {
	var out, problems bytes.Buffer
	if code := run(t.Context(), []string{"demo"}, none, &out, &problems); code != 0 {
		t.Fatalf("code %d: %s", code, problems.String())
	}
	if strings.Count(out.String(), ` is done, 3 steps, 4 calls, 120 tokens, cost 0.0000: "4 orders are paid"`+"\n") != 3 {
		t.Errorf("%s", out.String())
	}
}

// TestAnswersOfPersonsCount: a person has answered that an order was paid, in words of their own. It is not paid again.
func TestAnswersOfPersonsCount(t *testing.T) {
	call := agent.ToolCallRequest{ID: "a", Name: "pay", Args: []byte(`{"order":"-1"}`)}
	for name, c := range map[string]struct {
		answer agent.Message
		calls  int
	}{
		"Paid":   {agent.Message{Role: agent.RoleTool, ToolCallID: "a", Content: "yes, I have seen the receipt"}, 0},
		"Failed": {agent.Message{Role: agent.RoleTool, ToolCallID: "a", Content: "paid -1", IsError: true}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := clerk{}.Generate(t.Context(), agent.LLMRequest{Messages: []agent.Message{
				{Role: agent.RoleUser, Content: "pay 1 orders, 1 at a time"},
				{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCallRequest{call}}, c.answer,
			}})
			if err != nil || len(reply.ToolCalls) != c.calls {
				t.Errorf("%+v, %v", reply, err)
			}
		})
	}
}

func TestWrongArguments(t *testing.T) {
	for name, args := range map[string][]string{
		"None": {}, "Command": {"fly"}, "Flag": {"worker", "-fly"}, "Many": {"submit", "a", "b", "c"}, "Few": {"submit"},
	} {
		t.Run(name, func(t *testing.T) {
			var problems bytes.Buffer
			if code := run(t.Context(), args, none, io.Discard, &problems); code != 2 || problems.Len() == 0 {
				t.Errorf("code %d: %s", code, problems.String())
			}
		})
	}
}

// TestServerIsNotOpenToAll: a server wants a password, and TLS if other machines can reach it.
func TestServerIsNotOpenToAll(t *testing.T) {
	for _, c := range []struct{ listen, password, want string }{
		{"127.0.0.1:0", "", "set -user"}, {"0.0.0.0:0", "secret", "without TLS"},
	} {
		t.Run(c.listen, func(t *testing.T) {
			var problems bytes.Buffer
			env := func(name string) string {
				return map[string]string{"FLEET_USER": "ann", "FLEET_PASSWORD": c.password}[name]
			}
			args := []string{"server", "-dir", t.TempDir(), "-listen", c.listen}
			if code := run(t.Context(), args, env, io.Discard, &problems); code != 1 ||
				!strings.Contains(problems.String(), c.want) {
				t.Errorf("code %d: %s", code, problems.String())
			}
		})
	}
}

// lines is an output whose first line a test waits for.
type lines struct{ first chan string }

func (l lines) Write(text []byte) (int, error) {
	select {
	case l.first <- strings.TrimSpace(string(text)):
	default:
	}
	return len(text), nil
}

// asked runs an agent that asks before it pays. The commands show the run with its question, and answer it.
func asked(t *testing.T, address string, client func(...string) string) {
	t.Helper()
	conn, err := nats.Connect("nats://"+address, nats.Password("ann", "secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	store, err := natsfleet.Open(t.Context(), conn, natsfleet.Config{})
	if err != nil {
		t.Fatal(err)
	}
	asker := clerk{}.agent()
	asker.Hooks = loop.Hooks(agent.OnPermissionFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		return agent.Ask{}, nil
	}))
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error)
	go func() {
		stopped <- (&fleet.Worker{Store: store, Agents: map[string]*loop.Agent{"asker": asker}}).Run(ctx)
	}()
	c := fleet.NewClient(store)
	err = c.Submit(ctx, fleet.Task{ID: "q", Agent: "asker", Text: "pay 1 orders, 1 at a time"})
	if err == nil {
		_, err = c.WaitFor(ctx, "q", func(s fleet.Status) bool { return s.State == fleet.Suspended })
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := client("list"); !strings.Contains(got, "suspended") || !strings.Contains(got, `question about "pay"`) {
		t.Error(got)
	}
	client("answer", "-by", "ann", "q", "allow")
	if r, err := c.Wait(ctx, "q"); err != nil || r.Reply != "1 orders are paid" {
		t.Errorf("%+v, %v", r, err)
	}
	const ended = `q is done, 2 steps, 1 calls, 80 tokens, cost 0.0000: "1 orders are paid"`
	if got := client("list"); !strings.Contains(got, ended) {
		t.Error(got)
	}
	stop()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestProgram runs a server with a password, a worker with health and metrics, and a client.
func TestProgram(t *testing.T) {
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	env := func(name string) string {
		return map[string]string{
			"FLEET_SERVER": "nats://" + address, "FLEET_USER": "ann", "FLEET_PASSWORD": "secret", "FLEET_SLOTS": "2",
		}[name]
	}
	ctx, stop := context.WithCancel(t.Context())
	start := func(args ...string) (first string, end func()) {
		t.Helper()
		ctx, stop := context.WithCancel(ctx)
		out, done := lines{make(chan string, 1)}, make(chan int)
		var problems bytes.Buffer
		go func() { done <- run(ctx, args, env, out, &problems) }()
		select {
		case first = <-out.first:
		case code := <-done:
			t.Fatalf("code %d: %s", code, problems.String())
		}
		return first, func() {
			stop()
			if code := <-done; code != 0 {
				t.Errorf("%s: code %d: %s", args[0], code, problems.String())
			}
		}
	}
	dir := t.TempDir()
	_, endServer := start("server", "-dir", dir, "-listen", address, "-sync", "10s")
	client := func(args ...string) string {
		t.Helper()
		var out, problems bytes.Buffer
		if code := run(ctx, args, env, &out, &problems); code != 0 {
			t.Errorf("%v: code %d: %s", args, code, problems.String())
		}
		return out.String()
	}
	asked(t, address, client)
	var second bytes.Buffer
	if code := run(ctx, []string{"server", "-dir", dir, "-listen", "127.0.0.1:0"}, env, io.Discard, &second); code != 1 ||
		!strings.Contains(second.String(), "another server has the directory") {
		t.Errorf("a second server: code %d: %s", code, second.String())
	}
	url, endWorker := start("worker", "-http", "127.0.0.1:0", "-events", "records")
	ended := client("submit", "-tenant", "acme", "a", "pay 4 orders, 2 at a time")
	if ended != `a is done, 3 steps, 4 calls, 120 tokens, cost 0.0000: "4 orders are paid"`+"\n" {
		t.Error(ended)
	}
	if got := client("list"); !strings.Contains(got, ended) {
		t.Errorf("%s does not have %s", got, ended)
	}
	if got := client("history", "a"); !strings.Contains(got, "Z submitted by \"client\"\n") ||
		!strings.HasSuffix(got, ": \"done\"\n") || strings.Contains(got, " \n") || strings.Contains(got, ` "`+"\n") {
		t.Error(got)
	}
	var unknown bytes.Buffer
	if code := run(ctx, []string{"history", "b"}, env, io.Discard, &unknown); code != 1 ||
		!strings.Contains(unknown.String(), "does not exist") {
		t.Errorf("code %d: %s", code, unknown.String())
	}
	client("cancel", "a") // it has ended
	for path, want := range map[string]string{
		"/healthz": "ok", "/readyz": "ok", "/metrics": "fleet_done_total 1\n",
		"/metrics?": "# TYPE fleet_waiting gauge\nfleet_waiting 0\n",
	} {
		if got := get(t, url+path); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	var problems bytes.Buffer
	wrong := func(name string) string {
		if name == "FLEET_PASSWORD" {
			return "wrong"
		}
		return env(name)
	}
	if code := run(ctx, []string{"list"}, wrong, io.Discard, &problems); code != 1 {
		t.Errorf("a wrong password: code %d: %s", code, problems.String())
	}
	http.DefaultClient.CloseIdleConnections()
	endWorker()
	endServer()
	stop()
}

func TestWaitingWorkersAreNotReady(t *testing.T) {
	for _, c := range []struct {
		want                string
		draining, connected bool
		waiting             int64
	}{
		{"", false, true, 0}, {"the worker stops", true, true, 0}, {"the server is not connected", false, false, 0},
		{"the store takes no change; it may be full", false, true, 1},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := problem(c.draining, c.connected, fleet.Stats{Waiting: c.waiting}); got != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestChaos kills processes during a few runs. The command chaos does the same for minutes.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("it kills processes for seconds")
	}
	t.Setenv("FLEET_TEST_PROGRAM", "1")
	s := &storm{
		workers: 2, runs: 20, orders: 6, together: 2, takes: 500 * time.Millisecond, every: 700 * time.Millisecond, kills: 1,
		limit: 6, lifetime: 2 * time.Second, out: io.Discard,
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	table, err := s.rage(ctx)
	t.Logf("\n%s", table)
	if err != nil {
		t.Error(err)
	}
}

func TestChaosFindsBrokenPromises(t *testing.T) {
	s := &storm{workers: 1, runs: 1, orders: 1, together: 1, limit: 1, count: make(map[string]int)}
	s.dir = t.TempDir()
	s.ledger = s.dir + "/ledger"
	for range 2 {
		if err := appendLine(s.ledger, "run0-1"); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.check(t.Context(), emptyStore(), map[string]fleet.Result{"run0": {State: fleet.Done}}, 0)
	for _, want := range []string{"run0 has ended 0 times", "run0-1 was paid 2 times"} {
		if err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func emptyStore() fleet.Store { return fleet.Store{Log: emptyLog{}, Table: emptyTable{}} }

type emptyLog struct{ fleet.Log }

func (emptyLog) Read(context.Context, string, uint64) ([]fleet.Entry, error) { return nil, nil }

type emptyTable struct{ fleet.Table }

func (emptyTable) Get(context.Context, string) ([]byte, uint64, error) {
	return nil, 0, fleet.ErrNotFound
}
