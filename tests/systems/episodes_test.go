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
		if len(record) != 9 || record["time"] == nil || record["duration_ns"] == nil {
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
