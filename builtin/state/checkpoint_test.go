package state_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/state"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func callTurns(n int, last ...looptest.Turn) []looptest.Turn {
	var turns []looptest.Turn
	for i := range n {
		turns = append(turns, looptest.Call("x",
			map[string]any{"n": i, "__theory__": fmt.Sprint("theory ", i)}).Uses(agent.Usage{Input: 10, Output: 1}))
	}
	return append(turns, last...)
}

func TestCheckpointIsSavedEveryFewSteps(t *testing.T) {
	dir := t.TempDir()
	hook := &state.Checkpoint{Store: state.Dir{Path: dir}, Every: 2}
	warm := 0.2
	looptest.Harness{
		Agent: &loop.Agent{Name: "clerk", Instructions: "Be brief.", Limits: loop.Limits{Steps: 9, Tokens: 1000},
			Request: agent.LLMRequest{Temperature: &warm}},
		Turns: callTurns(4, looptest.Reply("done")),
		Tools: []agent.Tool{&looptest.Tool{Name: "x", Result: "y"}},
		Hooks: []agent.Hook{hook, hook},
	}.Run(t, "go")
	entries, _ := os.ReadDir(dir)
	if len(entries) != 2 || entries[0].Name() != "step_2.json" || entries[1].Name() != "step_4.json" {
		t.Errorf("files: %v", entries)
	}
	saved, err := state.Latest(t.Context(), hook.Store, "")
	if err != nil {
		t.Fatal(err)
	}
	if saved.StepNumber != 4 || len(saved.Conversation.Messages) != 9 || saved.Config.MaxSteps != 9 ||
		saved.Config.MaxTokens != 1000 ||
		*saved.Config.Temperature != 0.2 || saved.Config.SystemPrompt != "Be brief." || saved.Config.QueriesUsed != 4 ||
		*saved.Config.BudgetRemaining != 956 ||
		saved.SessionLog.CurrentTheory != "theory 3" || len(saved.SessionLog.Entries) != 4 ||
		saved.SessionLog.Entries[0] != "#1 x: y" ||
		saved.ToolResultsStore["call_4_1"] != "y" || len(saved.ToolResultsStore) != 4 || saved.Metadata["agent"] != "clerk" ||
		saved.Metadata["task"] != "go" ||
		saved.Counters != (state.CheckpointCounters{Steps: 4, ModelCalls: 4, Usage: agent.Usage{Input: 40, Output: 4}}) ||
		saved.CreatedAt == 0 {
		t.Errorf("state: %+v", saved)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(fixture.ReadFile(t, filepath.Join(dir, "step_4.json")), &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"step_number", "session_log_data", "conversation_data", "config_snapshot",
		"tool_results_store", "metadata", "created_at"} {
		if keys[key] == nil {
			t.Errorf("there is no %s", key)
		}
	}
}

func TestRunResumesFromLastCheckpoint(t *testing.T) {
	store := new(state.Map)
	request := loop.Request{Task: "go", Conversation: "c"}
	crash := errors.New("crash")
	tool := &looptest.Tool{Name: "x", Result: "y"}
	run := func(req loop.Request, resume bool, turns ...looptest.Turn) *looptest.Ran {
		return looptest.Harness{Turns: turns, Tools: []agent.Tool{tool},
			Hooks: []agent.Hook{&state.Checkpoint{Store: store, Every: 2, Resume: resume}}}.
			Do(t, t.Context(), req)
	}
	run(request, true, callTurns(3, looptest.Error(crash))...)

	// Resume manually, with the counters.
	saved, err := state.Latest(t.Context(), store, "c")
	if err != nil || saved.StepNumber != 2 {
		t.Fatalf("%+v, %v", saved, err)
	}
	byHand := loop.Request{Messages: saved.Conversation.Messages, Conversation: saved.Conversation.ID, Resume: loop.Resume{
		Steps: saved.Counters.Steps, ModelCalls: saved.Counters.ModelCalls, Usage: saved.Counters.Usage,
		Rejections: saved.Counters.Rejections,
	}}
	if ran := run(byHand, false, looptest.Reply("done")); ran.Steps != 3 || ran.ModelCalls != 3 || ran.Usage.Input != 20 ||
		len(ran.Messages) != 6 {
		t.Errorf("by hand: %+v", ran.AgentResult)
	}

	// Resume automatically: the task appears once, the points fire, and the step numbers continue.
	ran := run(request, true, callTurns(2, looptest.Error(crash))...)
	if got := fixture.Transcript(ran.Script.Requests()[0].Messages); got != "user:go assistant: tool:y assistant: tool:y" {
		t.Errorf("went on with %s", got)
	}
	ran.Recorder.Decided(t, "OnRunStart", "state.Checkpoint", "Replace", "continues after step 2")
	saved, err = state.Latest(t.Context(), store, "c")
	if err != nil || saved.StepNumber != 4 || saved.SessionLog.Entries[3] != "#4 x: y" ||
		len(saved.SessionLog.Entries) != 4 || saved.Metadata["task"] != "go" {
		t.Errorf("after going on: %+v, %v", saved, err)
	}

	// The run has completed and deleted its checkpoints.
	run(request, true, looptest.Reply("done"))
	if _, err := state.Latest(t.Context(), store, "c"); !errors.As(err, new(*agent.NotFound)) {
		t.Errorf("after the end: %v", err)
	}
	if ran := run(request, true, looptest.Reply("new")); fixture.Transcript(ran.Messages) != "user:go assistant:new" {
		t.Errorf("a new run: %s", fixture.Transcript(ran.Messages))
	}
}

func TestUnreadableCheckpointIsSkipped(t *testing.T) {
	store := new(state.Map)
	looptest.Harness{Turns: callTurns(2, looptest.Reply("done")), Tools: []agent.Tool{&looptest.Tool{Name: "x"}},
		Hooks: []agent.Hook{&state.Checkpoint{Store: store, Every: 1, Name: "../n"}}}.Run(t, "go")
	for key, text := range map[string]string{"../n/step_9": "{", "../n/step_8": `{"step_number":7}`, "../n/step_x": "{}",
		"../n/step_09": "{}", "../n/step_-1": "{}", "other/step_99": "{}"} {
		if err := store.Put(t.Context(), key, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	saved, err := state.Latest(t.Context(), store, "../n")
	if err != nil || saved.StepNumber != 3 {
		t.Errorf("step %d, %v", saved.StepNumber, err)
	}
	if _, err := state.Latest(t.Context(), store, ""); !errors.As(err, new(*agent.NotFound)) {
		t.Errorf("without a name: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := state.Latest(ctx, store, "../n"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// deletions records the keys deleted from a store, in order.
type deletions struct {
	state.Map
	keys []string
}

func (d *deletions) Delete(ctx context.Context, key string) error {
	d.keys = append(d.keys, key)
	return d.Map.Delete(ctx, key)
}

// If the program is killed during the deletion, the next run must not resume from an early checkpoint.
func TestCompletedRunDeletesLastCheckpointLast(t *testing.T) {
	store := new(deletions)
	for _, step := range []int{2, 10, 9} {
		if err := store.Put(t.Context(), fmt.Sprintf("x/step_%d", step), []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	var hooks agent.Hooks
	hooks.Use(&state.Checkpoint{Store: store, Name: "x", Resume: true})
	hooks.OnRunEnd.Fire(t.Context(), agent.NewRun(nil), agent.AgentResult{Stop: agent.EndRun{Cause: agent.CauseCompleted}})
	if got := strings.Join(store.keys, " "); got != "x/step_2 x/step_9 x/step_10" {
		t.Errorf("deleted in the order %s", got)
	}
}

func TestSubRunsHaveNoCheckpoints(t *testing.T) {
	store := new(state.Map)
	helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(callTurns(3, looptest.Reply("helped"))...),
		Tools: []agent.Tool{&looptest.Tool{Name: "x"}}}
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("helper", `{"task":"a"}`), looptest.Reply("done")},
		Tools: []agent.Tool{loop.Subagent(helper)},
		Hooks: []agent.Hook{&state.Checkpoint{Store: store, Every: 1}},
	}.Run(t, "go")
	if keys, _ := store.Keys(t.Context(), ""); !reflect.DeepEqual(keys, []string{"step_1", "step_2"}) {
		t.Errorf("keys: %q", keys)
	}
}

func TestFailureToSaveCheckpointIsReported(t *testing.T) {
	var reported []string
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("x")},
		Hooks: []agent.Hook{&state.Checkpoint{Store: new(fullStore), Every: 1, OnError: func(err error) {
			reported = append(reported, err.Error())
		}}},
	}.Run(t, "go")
	if ran.Failed != nil || len(reported) != 1 || reported[0] != "step 1 is not saved: no space left" {
		t.Errorf("%v, reported %q", ran.Failed, reported)
	}
	fixture.MustPanic(t, "Store is nil", func() { new(agent.Hooks).Use(&state.Checkpoint{}) })
	fixture.MustPanic(t, "Every is -1", func() {
		new(agent.Hooks).Use(&state.Checkpoint{Store: new(state.Map), Every: -1})
	})
}

func ExampleCheckpoint() {
	ctx := context.Background()
	store := new(state.Map) // or state.Dir{Path: "checkpoints"}
	tool := &looptest.Tool{Name: "look", Result: "a door"}
	agentWith := func(turns ...looptest.Turn) *loop.Agent {
		return &loop.Agent{
			Model: looptest.NewScript(turns...), Tools: []agent.Tool{tool},
			Use: []agent.Hook{&state.Checkpoint{Store: store, Every: 1, Resume: true}},
		}
	}
	_, err := agentWith(looptest.Call("look", nil), looptest.Error(errors.New("power cut"))).Run(ctx, "Find the way out.")
	fmt.Println(strings.Contains(err.Error(), "power cut"))

	result, _ := agentWith(looptest.Reply("Through the door.")).Run(ctx, "Find the way out.")
	for _, m := range result.Messages {
		fmt.Printf("%s: %q\n", m.Role, m.Content)
	}
	// Output:
	// true
	// user: "Find the way out."
	// assistant: ""
	// tool: "a door"
	// assistant: "Through the door."
}
