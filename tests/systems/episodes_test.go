package systems

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/memory"
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
	remembered := &memory.Facts{Share: share.Everyone}
	phrases := func(_ context.Context, _ *agent.Run, talk []agent.Message) ([]memory.Extracted, error) {
		return memory.Extract(talk), nil
	}
	run := func(past []agent.Message) {
		ran := looptest.Harness{Turns: all(looptest.Reply("yes")),
			Hooks: all[agent.Hook](&memory.Extractor{Store: remembered, Extract: phrases}),
		}.Do(t, t.Context(), loop.Request{
			Task:     "thanks",
			Messages: past,
		})
		if ran.Failed != nil {
			t.Error(ran.Failed)
		}
	}
	run(said("ok", "noted"))
	if facts, _, err := remembered.Search(t.Context(), memory.Query{}); err != nil || len(facts) != 0 {
		t.Errorf("of nothing worth keeping it kept %v, %v", facts, err)
	}
	run(past)
	facts, _, err := remembered.Search(t.Context(), memory.Query{})
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
}

func TestEpisodesHaveTheSignalOfAFailure(t *testing.T) {
	kept, disabled := &memory.Facts{Share: share.Everyone}, &memory.Facts{Share: share.Everyone}
	outputs := all("fine", "Error: no luck")
	tool := &looptest.Tool{Name: "work", Func: func(_ context.Context, call agent.ToolCallRequest) (string, error) {
		if call.Step > len(outputs) {
			return "", errBoom
		}
		return outputs[call.Step-1], nil
	}}
	hooks := new(agent.Hooks)
	hooks.Use(&record.Episodes{Store: disabled, Classify: record.FailureSignal}).Remove()
	ran := looptest.Harness{Turns: working(3), Tools: all[agent.Tool](tool), Agent: &loop.Agent{Hooks: hooks},
		Hooks: all[agent.Hook](&record.Episodes{Store: kept, Classify: record.FailureSignal})}.Run(t, "x")
	episodes, err := memory.Episodes(t.Context(), kept, 0)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(episodes)
	var got []string
	for _, e := range episodes {
		var payload map[string]any
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(payload["turn"], payload["name"], e.Outcome, payload["signal"], payload["result"]))
		if e.Time.IsZero() || payload["duration_ns"] == nil {
			t.Errorf("the record is %+v", e)
		}
	}
	want := []string{
		fmt.Sprint(1.0, "work", "ok", nil, "fine"), fmt.Sprint(2.0, "work", "failed", "error:", "Error: no luck"),
		fmt.Sprint(3.0, "work", "failed", "tool", ""),
	}
	if !slices.Equal(got, want) || ran.Reply != "ok" {
		t.Errorf("recorded %q, want %q", got, want)
	}
	if none, err := memory.Episodes(t.Context(), disabled, 0); len(none) != 0 || err != nil {
		t.Errorf("a hook that is not in use stored %+v, %v", none, err)
	}
}
