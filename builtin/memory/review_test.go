package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// restore is the reply of a reviewer.
const restore = `{"procedures": [{"name": "restore the database", "when": "When tests need data", ` +
	`"steps": ["stop the server", "run make restore"]}]}`

func ExampleReview() {
	store, hooks := &memory.Facts{Share: share.Everyone}, new(agent.Hooks)
	hooks.Use(&memory.Review{Store: store, Model: looptest.NewScript(looptest.Reply(restore))})
	hooks.OnRunEnd.Fire(context.Background(), agent.NewRun(nil), agent.AgentResult{
		Task: "Make the tests pass.", Steps: 12, Calls: make([]agent.ToolCallResult, 8),
		Stop: agent.EndRun{Cause: agent.CauseCompleted},
	})
	facts, _, _ := store.Search(context.Background(), memory.Query{})
	fmt.Println(facts[0].Key)
	fmt.Println(facts[0].Value)
	// Output:
	// procedure restore the database
	// When tests need data: 1. stop the server 2. run make restore
}

func TestOnlyLongRunsAreReviewed(t *testing.T) {
	for _, c := range []struct {
		name     string
		min      [2]limit.Bound[int] // steps and calls
		steps    int                 // each with a call; the last one replies
		turns    []looptest.Turn
		reviewed bool
	}{
		{"long", [2]limit.Bound[int]{}, 10, nil, true},
		{"short", [2]limit.Bound[int]{}, 9, nil, false},
		{"few calls", [2]limit.Bound[int]{0, 20}, 12, nil, false},
		{"own thresholds", [2]limit.Bound[int]{2, limit.AtMost(0)}, 2, nil, true},
		{"failed", [2]limit.Bound[int]{1, 1}, 3, []looptest.Turn{looptest.Error(errors.New("down"))}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			reviewer := looptest.NewScript(looptest.Reply(restore))
			hook := &memory.Review{
				Store: new(memory.Facts), Model: reviewer, MinSteps: c.min[0], MinCalls: c.min[1],
			}
			end := c.turns
			if end == nil {
				end = []looptest.Turn{looptest.Reply("ok")}
			}
			looptest.Harness{
				Turns: slices.Concat(fixture.Work(c.steps - 1)[:c.steps-1], end), Tools: fixture.Worker(),
				Hooks: []agent.Hook{hook, hook},
			}.Run(t, "go")
			if reviewed := len(reviewer.Calls()) == 1; reviewed != c.reviewed {
				t.Errorf("the reviewer was asked %d times", len(reviewer.Calls()))
			}
		})
	}
}

// review reviews a run and returns the stored facts, as key=value, and the error of the hook.
func review(t *testing.T, reply looptest.Turn) ([]string, error) {
	t.Helper()
	store := &memory.Facts{Share: share.Everyone}
	hook := &memory.Review{Store: store, MinSteps: 1, MinCalls: limit.AtMost(0), Model: looptest.NewScript(reply)}
	err := hook.OnRunEnd(t.Context(), agent.NewRun(nil),
		agent.AgentResult{Steps: 1, Stop: agent.EndRun{Cause: agent.CauseCompleted}})
	facts, _, failed := store.Search(t.Context(), memory.Query{})
	if failed != nil {
		t.Fatal(failed)
	}
	var stored []string
	for _, f := range facts {
		stored = append(stored, f.Key+"="+f.Value)
	}
	slices.Sort(stored)
	return stored, err
}

func TestProceduresAreStoredAsFacts(t *testing.T) {
	many := strings.Repeat(`"a step",`, 30) + `"end"`
	for _, c := range []struct {
		name, reply, want string
		fails             bool
	}{
		{"nothing", `{"procedures": []}`, "", false},
		{"fenced", "```json\n" + `{"procedures": [{"name": "a", "steps": ["b"]}]}` + "\n```", "procedure a=1. b", false},
		{"without steps", `{"procedures": [{"name": "a", "when": "b", "steps": [" "]}, {"steps": ["c"]}]}`, "", false},
		{"one without a name", `{"procedures": [{"steps": ["b"]}, {"name": "c", "steps": ["d"]}]}`,
			"procedure c=1. d", false},
		{"one without steps", `{"procedures": [{"name": "a"}, {"name": "c", "steps": ["d"]}]}`, "procedure c=1. d", false},
		{"at most three", `{"procedures": [{"name": "a", "steps": ["x"]}, {"name": "b", "steps": ["x"]},
			{"name": "c", "steps": ["x"]}, {"name": "d", "steps": ["x"]}]}`,
			"procedure a=1. x; procedure b=1. x; procedure c=1. x", false},
		{"an empty step", `{"procedures": [{"name": "a", "when": "b", "steps": [" ", "c"]}]}`, "procedure a=b: 1. c", false},
		{"several lines", `{"procedures": [{"name": "a\nb", "steps": ["c\n# d"]}]}`, "procedure a b=1. c # d", false},
		{"many", `{"procedures": [{"name": "a", "steps": [` + many + `]}]}`, "procedure a=1. a step 2. a step 3. a step " +
			"4. a step 5. a step 6. a step 7. a step 8. a step 9. a step 10. a step", false},
		{"not JSON", "no procedures", "", true},
		{"other JSON", `{"facts": []}`, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			stored, err := review(t, looptest.Reply(c.reply))
			if got := strings.Join(stored, "; "); got != c.want || (err != nil) != c.fails {
				t.Errorf("stored %q, %v, want %q", got, err, c.want)
			}
		})
	}
	stored, err := review(t, looptest.Error(errors.New("down")))
	if err == nil || err.Error() != "the run is not reviewed: down" || len(stored) != 0 {
		t.Errorf("stored %q, %v", stored, err)
	}
}

func TestTheReviewerReadsTheRun(t *testing.T) {
	call := func(i int) agent.ToolCallResult {
		return agent.ToolCallResult{
			Call:   agent.ToolCallRequest{Name: "read", Args: []byte(fmt.Sprintf(`{"n":%d}`, i))},
			Output: fmt.Sprint("output ", i),
		}
	}
	var calls []agent.ToolCallResult
	for i := range 60 {
		calls = append(calls, call(i))
	}
	for _, c := range []struct {
		name       string
		calls      int
		want, lack string
	}{
		{"few calls", 2, "# Task\nfix it\n\n# Calls and results\nread {\"n\":0}\noutput 0\n\n" +
			"read {\"n\":1}\noutput 1\n\n# Reply\ndone\n", "output 2"},
		{"many calls", 60, "# Calls and results\nread {\"n\":10}\n", "output 9\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ofRun, store := looptest.NewScript(looptest.Reply(restore)), &memory.Facts{Share: share.Everyone}
			hook := &memory.Review{Store: store, MinSteps: 1, MinCalls: limit.AtMost(0)}
			run := agent.NewRun(&agent.Env{Model: ofRun})
			err := hook.OnRunEnd(t.Context(), run, agent.AgentResult{
				Task: "fix it", Reply: "done", Steps: 1, Calls: calls[:c.calls], Stop: agent.EndRun{Cause: agent.CauseCompleted},
			})
			if err != nil {
				t.Fatal(err)
			}
			req := ofRun.Requests()[0]
			if text := req.Messages[1].Content; !strings.Contains(text, c.want) || strings.Contains(text, c.lack) {
				t.Errorf("the reviewer got %s", text)
			}
			if f := req.ResponseFormat; f == nil || f.Type != "json_schema" || !f.Strict {
				t.Errorf("the format is %+v", f)
			}
		})
	}
	hook := &memory.Review{Store: new(memory.Facts), MinSteps: 1, MinCalls: limit.AtMost(0)}
	err := hook.OnRunEnd(t.Context(), agent.NewRun(nil),
		agent.AgentResult{Steps: 1, Stop: agent.EndRun{Cause: agent.CauseCompleted}})
	if err == nil || !strings.Contains(err.Error(), "there is no model to ask; set Model") {
		t.Errorf("without a model: %v", err)
	}
}

func TestProceduresOfAnOwnerArePermanent(t *testing.T) {
	dir := session.Dir{Path: t.TempDir()}
	store := &memory.Facts{In: dir}
	hook := &memory.Review{Store: store, MinSteps: 1, MinCalls: limit.AtMost(0), Model: looptest.NewScript(looptest.Reply(
		`{"procedures": [{"name": "a", "steps": ["x"]}, {"name": "b", "steps": ["x"]}]}`))}
	run := agent.NewRun(&agent.Env{User: "ann", Conversation: conversation{"c", nil}})
	if err := hook.OnRunEnd(t.Context(), run,
		agent.AgentResult{Steps: 1, Stop: agent.EndRun{Cause: agent.CauseCompleted}}); err != nil {
		t.Fatal(err)
	}
	again := &memory.Facts{In: dir}
	ann := agentspec.WithIdentity(t.Context(), agent.Identity{User: "ann", Conversation: "c"})
	if facts, _, err := again.Search(ann, memory.Query{}); err != nil || len(facts) != 2 {
		t.Errorf("ann has %+v, %v", facts, err)
	}
}

func TestProceduresThatCannotBeStoredAreReported(t *testing.T) {
	hook := &memory.Review{Store: failingStore{new(memory.Facts), "Put"}, MinSteps: 1, MinCalls: limit.AtMost(0),
		Model: looptest.NewScript(looptest.Reply(restore))}
	err := hook.OnRunEnd(t.Context(), agent.NewRun(nil),
		agent.AgentResult{Steps: 1, Stop: agent.EndRun{Cause: agent.CauseCompleted}})
	if err == nil || !strings.Contains(err.Error(), "Put failed") {
		t.Errorf("the error is %v", err)
	}
}

// FuzzReview reads any reply of a reviewer.
func FuzzReview(f *testing.F) {
	for _, reply := range []string{
		restore, `{}`, `}{`, `{"procedures": null}`, `{"procedures": [{"steps": [1]}]}`, "\xff",
	} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		stored, _ := review(t, looptest.Reply(reply))
		for _, s := range stored {
			if !fixture.IsLine(s) || len(stored) > 3 {
				t.Errorf("stored %q", stored)
			}
		}
	})
}

func TestReviewRefusesInvalidFields(t *testing.T) {
	for want, hook := range map[string]*memory.Review{
		"Store is nil": {}, "MinSteps is -1": {Store: new(memory.Facts), MinSteps: -1},
		"MinCalls is -1": {Store: new(memory.Facts), MinCalls: -1},
	} {
		t.Run(want, func(t *testing.T) {
			if text := fixture.UsePanic(hook); !strings.Contains(text, want) {
				t.Errorf("panicked with %q", text)
			}
		})
	}
}
