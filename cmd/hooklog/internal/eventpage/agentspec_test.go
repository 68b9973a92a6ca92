package eventpage

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// The page reads the points and the fields of agentspec by their names, so that it shows records of other versions too.
// This test has the payloads of this version, in the types of the spec.
func TestThePageKnowsThePointsOfAnAgent(t *testing.T) {
	call := agentspec.ToolCallRequest{ID: "c1", Name: "read", Args: json.RawMessage(`{"path":"a"}`)}
	prompt := agentspec.Message{Role: agentspec.RoleSystem, Content: "You are"}
	reply := agentspec.LLMResponse{
		Content: "Yes", Reasoning: "hm", Model: "large", Elapsed: 7, ToolCalls: []agentspec.ToolCallRequest{call},
	}
	calls := []callView{{"read", "{\n  \"path\": \"a\"\n}"}}
	end := agentspec.EndRun{Cause: agentspec.CauseSuspended, Message: "later"}
	cases := map[string]struct {
		payload any
		said    saidView
		span    *spanView
	}{
		"OnRunStart": {agentspec.RunStart{Task: "Free space", Messages: []agentspec.Message{prompt}, Resumed: "s1"},
			saidView{Role: "user", Text: "Free space", Before: 1}, &spanView{Kind: "answer"}},
		"BeforeLLM": {agentspec.LLMRequest{Messages: []agentspec.Message{prompt}},
			saidView{Role: "system", Text: "You are"}, nil},
		"AfterLLM": {reply, saidView{Role: "assistant", Name: "large", Text: "Yes", Reasoning: "hm", Calls: calls},
			&spanView{Kind: "model", Name: "large", Took: 7}},
		"BeforeTool": {call, saidView{Role: "hook", Name: "read"}, &spanView{Call: `"c1"`}},
		"AfterTool": {agentspec.ToolCallResult{Call: call, Output: "text", Err: "broken", Elapsed: 7},
			saidView{Role: "tool", Name: "read", Text: "broken\n\ntext", Failed: true},
			&spanView{Kind: "tool", Name: "read", Call: "c1", Took: 7}},
		"BeforeAsk": {agentspec.Question{Call: call, Prompt: "May I?", Reason: "it writes"},
			saidView{Role: "person", State: "asked", Name: "read", Text: "May I?\nit writes"},
			&spanView{Kind: "ask", Name: "read", Call: "c1"}},
		"OnPermissionGranted": {agentspec.Grant{Call: call, AnsweredBy: "ann", Reason: "fine"},
			saidView{Role: "person", State: "approved", Name: "ann", Text: "fine"},
			&spanView{Kind: "answer", Name: "read", Call: "c1"}},
		"OnPermissionDenied": {agentspec.Denial{Call: call, AnsweredBy: "ann", Reason: "no"},
			saidView{Role: "person", State: "denied", Name: "ann", Text: "no", Failed: true},
			&spanView{Kind: "answer", Name: "read", Call: "c1"}},
		"CheckDone":  {agentspec.DoneRequest{Answer: "42"}, saidView{Role: "hook", Text: "42"}, nil},
		"OnRunError": {agentspec.RunError{Err: "broken"}, saidView{Role: "end", Text: "broken", Failed: true}, nil},
		"OnRunEnd": {agentspec.AgentResult{Stop: end, Usage: agentspec.Usage{Cost: 0.5, Input: 3, Output: 2}},
			saidView{Role: "end", State: "suspended", Text: "later"}, &spanView{Kind: "ask"}},
	}
	types := map[string]reflect.Type{}
	for _, p := range new(agent.Hooks).Points() {
		types[p.Name] = reflect.TypeOf(p.New()).Elem()
	}
	var events []hooklog.Event
	for _, point := range slices.Sorted(maps.Keys(roles)) {
		c := cases[point]
		if want := types[point]; reflect.TypeOf(c.payload) != want {
			t.Errorf("%s has payloads of type %v", point, want)
		}
		text, err := json.Marshal(c.payload)
		if err != nil {
			t.Fatal(err)
		}
		e := event(int64(len(events)), "a", point, string(text))
		e.Decision, e.Elapsed = "Deny", time.Millisecond
		events = append(events, e)
		if diff := cmp.Diff(&c.said, saidOf(e)); diff != "" {
			t.Errorf("%s: %s", point, diff)
		}
		if diff := cmp.Diff(c.span, spanOf(e)); diff != "" {
			t.Errorf("%s: %s", point, diff)
		}
	}
	for point := range spanKinds {
		if types[point] == nil || roles[point] == "" {
			t.Errorf("%s is not a point of the conversation", point)
		}
	}
	v := &views{Index: indexOf(t, events...)}
	r, _, _ := v.Run(0)
	talk := eventlog.Window{Most: 100, Kind: eventlog.Conversation}
	if items, _ := v.Items(0, talk); len(items) != len(roles) || !r.Talks {
		t.Errorf("the conversation has %d fires, want %d", len(items), len(roles))
	}
	s := v.run(r).Summary
	if r.Outcome != string(end.Cause) || r.Cost != 0.5 {
		t.Errorf("the run is %+v", r)
	}
	if s.Cost == nil || *s.Cost != 0.5 || s.Input != 3 || s.Output != 2 {
		t.Errorf("the summary is %+v", s)
	}
}
