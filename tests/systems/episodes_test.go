package systems

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// said returns a conversation of alternating user and assistant messages.
func said(texts ...string) (messages []agent.Message) {
	for i, text := range texts {
		messages = append(messages, agent.Message{
			Role: []agent.Role{agent.RoleUser, agent.RoleAssistant}[i%2], Content: text,
		})
	}
	return messages
}

func TestMemoryExtractorKeepsWhatIsWorthIt(t *testing.T) {
	past := said("Remember that I live in Hanoi.", "noted", "Please look at https://example.org/docs now",
		"Fixed the broken link in the docs.", "note that", "hm")
	remembered := &memory.Map{Share: share.Everyone}
	dir := t.TempDir()
	clock := looptest.NewClock(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC))
	phrases := func(_ context.Context, _ *agent.Run, talk []agent.Message) ([]memory.Extracted, error) {
		return memory.Extract(talk), nil
	}
	run := func(past []agent.Message) {
		ran := looptest.Harness{Turns: all(looptest.Reply("yes")), Agent: &loop.Agent{Clock: clock},
			Hooks: all[agent.Hook](&memory.Extractor{Store: remembered, Dir: dir, Share: share.Everyone, Extract: phrases}),
		}.Do(t, t.Context(), loop.Request{
			Task:     "thanks",
			Messages: past,
		})
		if ran.Failed != nil {
			t.Error(ran.Failed)
		}
	}
	run(said("Remember that I am far too short a conversation.", "noted"))
	if facts, err := remembered.Facts(t.Context(), ""); err != nil || len(facts) != 0 {
		t.Errorf("of a short conversation it kept %v, %v", facts, err)
	}
	run(past)
	facts, err := remembered.Facts(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, f := range facts {
		kind, _, _ := strings.Cut(f.Key, "-")
		kept = append(kept, kind+": "+f.Value)
	}
	slices.Sort(kept)
	want := all("address: https://example.org/docs", "outcome: Fixed the broken link in the docs.",
		"remember: Remember that I live in Hanoi.", "request: Please look at https://example.org/docs now")
	if !slices.Equal(kept, want) { // "note that" is too short
		t.Errorf("kept %q, want %q", kept, want)
	}
	for _, file := range all("2026-08-01.md", "MEMORY.md") {
		contains(t, textOf(t, dir, file), "[remember] Remember that I live in Hanoi.", "[outcome]",
			"[address] https://example.org/docs")
	}
}

func TestEpisodesHaveTheSignalOfAFailure(t *testing.T) {
	dir := t.TempDir()
	path, disabled := filepath.Join(dir, "on.jsonl"), filepath.Join(dir, "off.jsonl")
	outputs := all("fine", "Error: no luck")
	tool := &looptest.Tool{Name: "work", Func: func(_ context.Context, call agent.ToolCallRequest) (string, error) {
		if call.Step > len(outputs) {
			return "", errBoom
		}
		return outputs[call.Step-1], nil
	}}
	hooks := new(agent.Hooks)
	hooks.Use(&record.Episodes{Path: disabled, Classify: record.FailureSignal}).Remove()
	ran := looptest.Harness{Turns: working(3), Tools: all[agent.Tool](tool), Agent: &loop.Agent{Hooks: hooks},
		Hooks: all[agent.Hook](&record.Episodes{Path: path, Classify: record.FailureSignal})}.Run(t, "x")
	var got []string
	for line := range strings.Lines(textOf(t, path)) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(record["turn_index"], record["tool_name"], record["success"], record["error_signal"],
			record["result_summary"]))
		if len(record) != 9 || record["timestamp"] == nil || record["elapsed_ms"] == nil {
			t.Errorf("the record is %v", record)
		}
	}
	want := []string{
		fmt.Sprint(1.0, "work", true, nil, "fine"), fmt.Sprint(2.0, "work", false, "error:", "Error: no luck"),
		fmt.Sprint(3.0, "work", false, "tool", "error: boom"),
	}
	if !slices.Equal(got, want) || ran.Reply != "ok" {
		t.Errorf("recorded %q, want %q", got, want)
	}
	if _, err := os.Stat(disabled); !os.IsNotExist(err) {
		t.Errorf("a hook that is not in use wrote: %v", err)
	}
}

func TestTracingMakesOneSpanOfEachThing(t *testing.T) {
	var spans observe.SpanRecorder
	tracing := &observe.Tracing{Exporter: &spans}
	hooks := new(agent.Hooks)
	hooks.Use(tracing)
	hooks.Use(tracing) // the second use is a no-op
	looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Agent: &loop.Agent{Hooks: hooks}}.Run(t, "x")
	if err := tracing.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	kinds := map[observe.SpanKind]int{}
	for _, s := range spans.Ended() {
		kinds[s.Kind]++
	}
	if fmt.Sprint(kinds) != "map[model:2 run:1 step:2 tool:1]" || len(spans.Started()) != 6 {
		t.Errorf("%d spans began, ended are %v", len(spans.Started()), kinds)
	}

	none := new(agent.Hooks) // without an exporter it only observes
	none.Use(&observe.Tracing{})
	for _, p := range none.Points() {
		if len(p.Hooks()) != 0 {
			t.Errorf("at %s there is %v", p.Name, p.Hooks())
		}
	}

	var empty agent.Hooks // ends without a start, and payloads without fields
	var odd observe.SpanRecorder
	lone := &observe.Tracing{Exporter: &odd}
	empty.Use(lone)
	run := agent.NewRun(&agent.Env{})
	empty.AfterStep.Fire(t.Context(), run, agent.StepResult{})
	empty.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{})
	result, err := empty.AroundTool.Fire(t.Context(), run, agent.ToolCallRequest{}, func(
		context.Context, agent.ToolCallRequest,
	) (agent.ToolCallResult, error) {
		return agent.ToolCallResult{Output: "done"}, nil
	})
	if err != nil || result.Output != "done" || lone.Flush(t.Context()) != nil {
		t.Errorf("%+v, %v", result, err)
	}
	if ended := odd.Ended(); len(ended) != 1 || ended[0].Kind != observe.SpanTool || ended[0].Name != "execute_tool" ||
		ended[0].Tool != "" || ended[0].Status != "ok" || len(ended[0].TraceID) != 32 {
		t.Errorf("the spans are %+v", odd.Ended())
	}
}
