package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleResults() {
	bookings := &session.Results{Tools: []string{"book_*"}}
	sessions := session.Sessions{Store: new(session.Map)}
	hooks := new(agent.Hooks)
	hooks.Use(bookings)
	hooks.Use(&session.Persist{Store: sessions, State: bookings.State})
	a := loop.Agent{
		Hooks: hooks, Model: looptest.NewScript(looptest.Call("book_flight", nil), looptest.Reply("done")),
		Tools: []agent.Tool{&looptest.Tool{Name: "book_flight", Result: `{"seat": "12A"}`}},
	}
	_, _ = a.Do(context.Background(), loop.Request{Task: "Book it.", Conversation: "c"})
	session, _ := sessions.Load(context.Background(), agent.Identity{Conversation: "c"})
	fmt.Printf("%s\n", session.State["book_flight"])
	// Output: {"seat":"12A"}
}

func TestResultsOfNamedToolsAreCaptured(t *testing.T) {
	result := func(tool, output string) agent.ToolCallResult {
		return agent.ToolCallResult{Call: agent.ToolCallRequest{Name: tool}, Output: output}
	}
	failed := result("a", "no")
	failed.Err = "down"
	for _, c := range []struct {
		name    string
		results []agent.ToolCallResult
		want    string
	}{
		{"text", []agent.ToolCallResult{result("a", "one")}, "map[a:one]"},
		{"JSON", []agent.ToolCallResult{result("a", `{"n":1}`)}, "map[a:[123 34 110 34 58 49 125]]"},
		{"last one", []agent.ToolCallResult{result("a", "one"), result("a", "two")}, "map[a:two]"},
		{"several tools", []agent.ToolCallResult{result("a", "one"), result("b_1", "two")}, "map[a:one b_1:two]"},
		{"other tool", []agent.ToolCallResult{result("c", "one")}, "map[]"},
		{"failure", []agent.ToolCallResult{result("a", "one"), failed}, "map[a:one]"},
		{"too long", []agent.ToolCallResult{result("a", "one"), result("a", "12345678901")}, "map[]"},
		{"as long as allowed", []agent.ToolCallResult{result("a", "ten bytes.")}, "map[a:ten bytes.]"},
		{"nothing", nil, "map[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			hook := &session.Results{Tools: []string{"a", "b_*"}, MaxBytes: 10}
			var hooks agent.Hooks
			hooks.Use(hook)
			run := agent.NewRun(nil)
			for _, r := range c.results {
				if _, err := hooks.AfterTool.Fire(t.Context(), run, &r); err != nil {
					t.Fatal(err)
				}
			}
			if got := fmt.Sprint(hook.State(run)); got != c.want {
				t.Errorf("captured %s, want %s", got, c.want)
			}
			if other := hook.State(agent.NewRun(nil)); len(other) != 0 {
				t.Errorf("another run has %v", other)
			}
		})
	}
}

func TestWithheldResultIsNotCaptured(t *testing.T) {
	hook := &session.Results{Tools: []string{"*"}}
	var hooks agent.Hooks
	hooks.AfterTool.AddFunc(func(context.Context, *agent.Run, agent.ToolCallResult) (agent.AfterToolOutcome, error) {
		return nil, errors.New("withheld")
	})
	hooks.Use(hook)
	run := agent.NewRun(nil)
	_, err := hooks.AfterTool.Fire(t.Context(), run, &agent.ToolCallResult{Output: "secret"})
	if got := hook.State(run); err == nil || len(got) != 0 {
		t.Errorf("captured %v, error %v", got, err)
	}
}

func TestResultsOfManyToolsAreBounded(t *testing.T) {
	hook := &session.Results{Tools: []string{"*"}}
	var hooks agent.Hooks
	hooks.Use(hook)
	run := agent.NewRun(nil)
	for i := range 300 {
		r := agent.ToolCallResult{Call: agent.ToolCallRequest{Name: fmt.Sprint("t", i)}, Output: "x"}
		if _, err := hooks.AfterTool.Fire(t.Context(), run, &r); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(hook.State(run)); n != 100 {
		t.Errorf("%d results are kept", n)
	}
}

func TestResultsRefusesInvalidFields(t *testing.T) {
	for want, hook := range map[string]*session.Results{
		"Tools is empty":    {},
		"Tools[0] is empty": {Tools: []string{""}},
		"MaxBytes is -1":    {Tools: []string{"*"}, MaxBytes: -1},
	} {
		t.Run(want, func(t *testing.T) {
			if text := fixture.UsePanic(hook); !strings.Contains(text, want) {
				t.Errorf("panicked with %q", text)
			}
		})
	}
}
