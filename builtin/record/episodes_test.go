package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestEpisodesStoreEachCallWithOutcome(t *testing.T) {
	store := &memory.Facts{Share: share.Everyone}
	logger := &record.Episodes{Store: store, Classify: record.FailureSignal}
	hide := agent.AfterToolFunc(func(_ context.Context, _ *agent.Run, r agent.ToolCallResult) (agent.AfterToolOutcome,
		error) {
		r.Err, r.Output = "", "everything is fine"
		return agent.ReplaceAfterTool(r, "optimism"), nil
	})
	skip := agent.BeforeToolFunc(func(_ context.Context, _ *agent.Run,
		call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		if call.Name == "cached" {
			return agent.SkipTool{Result: agent.ToolCallResult{Output: "old"}}, nil
		}
		return nil, nil
	})
	looptest.Harness{
		Agent: &loop.Agent{Name: "clerk"},
		Turns: []looptest.Turn{looptest.Calls(looptest.Call("good", `{"n":1}`), looptest.Call("bad", nil),
			looptest.Call("rm", nil),
			looptest.Call("cached", nil), looptest.Call("talks", nil)), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "good", Result: "42"},
			&looptest.Tool{Name: "bad", Err: errors.New("no disk")},
			&looptest.Tool{Name: "rm"}, &looptest.Tool{Name: "cached"},
			&looptest.Tool{Name: "talks", Result: "bash: x: command not found"}},
		Hooks: []agent.Hook{logger, logger, hide, skip, fixture.DenyTool("rm", "never")},
	}.Run(t, "go")
	episodes, err := memory.Episodes(t.Context(), store, 10)
	if err != nil || len(episodes) != 5 {
		t.Fatalf("%d episodes, %v", len(episodes), err)
	}
	for i, want := range []struct{ outcome, payload string }{
		{"ok", `{"name":"good","args":{"n":1},"result":"42","error":null,"turn":1`},
		{"failed", `{"name":"bad","args":{},"result":"","error":"no disk","signal":"tool","turn":2`},
		{"refused", `{"name":"rm","args":{},"result":"","error":"Permission denied for tool 'rm': never",` +
			`"signal":"permission denied","turn":3`},
		{"skipped", `{"name":"cached","args":{},"result":"old","error":null,"signal":"skipped","turn":4`},
		{"failed", `{"name":"talks","args":{},"result":"bash: x: command not found","error":null,` +
			`"signal":"command not found","turn":5`},
	} {
		e := episodes[len(episodes)-1-i]
		if e.Kind != "tool_call" || e.Agent != "clerk" || e.Outcome != want.outcome ||
			!strings.HasPrefix(string(e.Payload), want.payload+`,"duration_ns":`) || e.Time.IsZero() {
			t.Errorf("episode %d: %+v %s, want %+v", i, e, e.Payload, want)
		}
	}
}

func TestEpisodesOutliveTheProgram(t *testing.T) {
	dir := session.Dir{Path: t.TempDir()}
	remembered := &memory.Facts{In: dir, Share: share.Everyone}
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("x", nil), looptest.Call("x", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "x"}},
		Hooks: []agent.Hook{&record.Episodes{Store: remembered}},
	}.Run(t, "go")
	again := &memory.Facts{In: dir, Share: share.Everyone}
	if episodes, err := memory.Episodes(t.Context(), again, 10); len(episodes) != 2 {
		t.Errorf("%d episodes are stored after the run, %v", len(episodes), err)
	}
}

func TestEpisodesNumberTheCallsOfARun(t *testing.T) {
	store := &memory.Facts{Share: share.Everyone}
	var hooks agent.Hooks
	hooks.Use(&record.Episodes{Store: store, MaxChars: 200})
	run, other := agent.NewRun(&agent.Env{}), agent.NewRun(nil)
	for _, r := range []agent.ToolCallResult{
		{Call: agent.ToolCallRequest{Name: "a"}, Output: strings.Repeat("ä", 300), Elapsed: 1500000},
		{Call: agent.ToolCallRequest{Name: "b"}, Err: "Traceback: password=hunter2", Status: agent.CallFailed},
		{Call: agent.ToolCallRequest{Name: "c"}, Err: "odd", Kind: agent.FailDenied, Status: agent.CallRefused},
	} {
		_, _ = hooks.AfterTool.Fire(t.Context(), run, &r)
	}
	r := agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "d"}, Status: agent.CallSkipped}
	_, _ = hooks.AfterTool.Fire(t.Context(), other, &r)
	for _, ended := range []*agent.Run{run, other} {
		hooks.OnRunEnd.Fire(t.Context(), ended, agent.AgentResult{})
	}
	episodes, err := memory.Episodes(t.Context(), store, 0)
	if err != nil || len(episodes) != 4 {
		t.Fatalf("%d episodes, %v", len(episodes), err)
	}
	for i, want := range []string{
		`{"name":"a","args":{},"result":"` + strings.Repeat("ä", 199) + `…","error":null,"turn":1,"duration_ns":1500000}`,
		`{"name":"b","args":{},"result":"","error":"Traceback: password=[REDACTED]","signal":"traceback","turn":2,` +
			`"duration_ns":0}`,
		`{"name":"c","args":{},"result":"","error":"odd","signal":"denied","turn":3,"duration_ns":0}`,
		`{"name":"d","args":{},"result":"","error":null,"signal":"skipped","turn":1,"duration_ns":0}`,
	} {
		if got := string(episodes[3-i].Payload); got != want {
			t.Errorf("episode %d: %s, want %s", i, got, want)
		}
	}
}

func TestFailureSignalFindsReportedFailures(t *testing.T) {
	for output, want := range map[string]string{
		"":                                   "",
		"42 files":                           "",
		"Error: x":                           "error:",
		"Traceback (most recent":             "traceback",
		"an Exception: y":                    "exception:",
		"FAILED: 3":                          "failed:",
		"sh: x: command not found":           "command not found",
		"Permission denied":                  "permission denied",
		"[Errno 2]":                          "errno",
		"FileNotFoundError":                  "filenotfounderror",
		"ModuleNotFoundError":                "modulenotfounderror",
		"no such file":                       "no such file",
		"ConnectionError":                    "connectionerror",
		"Timeout":                            "timeout",
		`{"success": true, "e":"error:"}`:    "",
		`{"success": false}`:                 "success: false",
		`{"success": "no", "x": 1}`:          "",
		`{"x":"error:"}`:                     "error:",
		`{"broken"`:                          "",
		strings.Repeat("ä", 3994) + "error:": "error:",
		strings.Repeat("ä", 3995) + "error:": "",
	} {
		t.Run(fmt.Sprintf("%.40q", output), func(t *testing.T) {
			if got := record.FailureSignal(output); got != want {
				t.Errorf("FailureSignal(%.40q) = %q, want %q", output, got, want)
			}
		})
	}
}

func TestFailureToStoreEpisodesIsReported(t *testing.T) {
	var reported []string
	logger := &record.Episodes{
		Store:    &memory.Facts{In: session.Dir{Path: os.DevNull}, Share: share.Everyone},
		Classify: func(string) string { panic("no idea") },
		OnError:  func(err error) { reported = append(reported, err.Error()) },
	}
	var hooks agent.Hooks
	hooks.Use(logger)
	run := agent.NewRun(nil)
	r := agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "a"}}
	if _, err := hooks.AfterTool.Fire(t.Context(), run, &r); err != nil {
		t.Error(err)
	}
	hooks.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{})
	if got := strings.Join(reported, "; "); !strings.Contains(got, "Classify panicked") ||
		!strings.Contains(got, "not a directory") {
		t.Errorf("reported: %s", got)
	}
	fixture.MustPanic(t, "record.Episodes: Store is nil", func() { hooks.Use(&record.Episodes{}) })
}

func TestEpisodesStoreAllParallelCalls(t *testing.T) {
	store := &memory.Facts{Share: share.Everyone}
	var hooks agent.Hooks
	hooks.Use(&record.Episodes{Store: store})
	run := agent.NewRun(nil)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 10 {
				r := agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "a"}}
				_, _ = hooks.AfterTool.Fire(context.Background(), run, &r)
			}
		})
	}
	all.Wait()
	hooks.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{})
	episodes, _ := memory.Episodes(t.Context(), store, 0)
	turns := make(map[string]bool)
	for _, e := range episodes {
		turns[string(e.Payload)] = true
	}
	if len(episodes) != 200 || len(turns) != 200 {
		t.Errorf("%d episodes with %d turns, want 200 of each", len(episodes), len(turns))
	}
}

func ExampleEpisodes() {
	store := &memory.Facts{Share: share.Everyone}
	var hooks agent.Hooks
	hooks.Use(&record.Episodes{Store: store})

	run := agent.NewRun(&agent.Env{Agent: "clerk"})
	_, _ = hooks.AfterTool.Fire(context.Background(), run, &agent.ToolCallResult{
		Call:   agent.ToolCallRequest{Name: "search", Args: json.RawMessage(`{"q":"trains"}`)},
		Output: "3 trains", Status: agent.CallSucceeded,
	})

	hooks.OnRunEnd.Fire(context.Background(), run, agent.AgentResult{})

	episodes, _ := memory.Episodes(context.Background(), store, 1)
	fmt.Println(episodes[0].Agent, episodes[0].Outcome, string(episodes[0].Payload))
	// Output:
	// clerk ok {"name":"search","args":{"q":"trains"},"result":"3 trains","error":null,"turn":1,"duration_ns":0}
}
