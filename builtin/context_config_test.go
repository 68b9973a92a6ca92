package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleContextConfig() {
	var hooks agent.Hooks
	hooks.Use(&builtin.ContextConfig{
		System:    "You are a careful clerk.",
		Fragments: []builtin.Fragment{{Text: "Answer in one sentence."}},
	})
	req := agent.LLMRequest{Messages: []agent.Message{{Role: agent.RoleUser, Content: "Hello"}}}
	_, _ = hooks.BeforeLLM.Fire(context.Background(), agent.NewRun(nil), &req)
	fmt.Println(req.Messages[0].Content)
	// Output:
	// You are a careful clerk.
	//
	// Answer in one sentence.
}

// rewritten fires BeforeLLM once on a request with the messages.
func rewritten(t *testing.T, h agent.Hook, req agent.LLMRequest) agent.LLMRequest {
	t.Helper()
	var hooks agent.Hooks
	hooks.Use(h)
	was, _ := json.Marshal(req)
	left := req
	if _, err := hooks.BeforeLLM.Fire(t.Context(), agent.NewRun(&agent.Env{Agent: "tested"}), &left); err != nil {
		t.Fatal(err)
	}
	if is, _ := json.Marshal(req); string(is) != string(was) {
		t.Errorf("the request was changed in place: %s", is)
	}
	return left
}

func system(text string) agent.Message { return agent.Message{Role: agent.RoleSystem, Content: text} }
func user(text string) agent.Message   { return agent.Message{Role: agent.RoleUser, Content: text} }

func generate(name, text string) builtin.Fragment {
	return builtin.Fragment{Name: name, Generate: func(context.Context, *agent.Run) (string, error) { return text, nil }}
}

func TestContextConfigRewritesTheSystemPrompt(t *testing.T) {
	briefing := agent.Message{Role: agent.RoleSystem, Name: agent.BriefingName, Content: "b"}
	for _, c := range []struct {
		name   string
		config builtin.ContextConfig
		was    []agent.Message
		want   []string
	}{
		{"replaced", builtin.ContextConfig{System: "new"}, []agent.Message{system("old"), user("u")}, []string{"new", "u"}},
		{"made where there is none", builtin.ContextConfig{System: "new"}, []agent.Message{user("u")}, []string{"new", "u"}},
		{"made in an empty request", builtin.ContextConfig{System: "new"}, nil, []string{"new"}},
		{"the briefing is none", builtin.ContextConfig{System: "new"}, []agent.Message{briefing, user("u")}, []string{"new", "b", "u"}},
		{"blank: kept", builtin.ContextConfig{System: " ", Fragments: []builtin.Fragment{{Text: "f"}}}, []agent.Message{system("old\n")}, []string{"old\n\nf"}},
		{"fragments in order", builtin.ContextConfig{Fragments: []builtin.Fragment{{Text: "one"}, {Text: " "}, {Text: "two\nlines"}}}, []agent.Message{system("old")}, []string{"old\n\none\n\ntwo\nlines"}},
		{"fragment there already", builtin.ContextConfig{Fragments: []builtin.Fragment{{Text: "two\nlines"}, {Text: "old"}}}, []agent.Message{system("old\n\ntwo\nlines\nmore")}, []string{"old\n\ntwo\nlines\nmore"}},
		{"fragment there as a part of a line", builtin.ContextConfig{Fragments: []builtin.Fragment{{Text: "be brief"}}}, []agent.Message{system("Never be brief")}, []string{"Never be brief\n\nbe brief"}},
		{"block appended", builtin.ContextConfig{Fragments: []builtin.Fragment{generate("plan", "\nx\n")}}, []agent.Message{system("old")}, []string{"old\n\n<!-- begin plan -->\nx\n<!-- end plan -->"}},
		{"block replaced", builtin.ContextConfig{Fragments: []builtin.Fragment{generate("plan", "y")}}, []agent.Message{system("a\n\n<!-- begin plan -->\nx\n<!-- end plan -->\n\nb")}, []string{"a\n\n<!-- begin plan -->\ny\n<!-- end plan -->\n\nb"}},
		{"block removed", builtin.ContextConfig{Fragments: []builtin.Fragment{generate("plan", " ")}}, []agent.Message{system("a\n\n<!-- begin plan -->\nx\n<!-- end plan -->\n\nb")}, []string{"a\n\nb"}},
		{"block cannot close itself", builtin.ContextConfig{Fragments: []builtin.Fragment{generate("p", "x<!-- end p -->y<!-- begin p -->")}}, nil, []string{"<!-- begin p -->\nxy\n<!-- end p -->"}},
		{"empty block", builtin.ContextConfig{Fragments: []builtin.Fragment{generate("p", "")}}, []agent.Message{user("u")}, []string{"u"}},
		{"this agent", builtin.ContextConfig{System: "new", Agents: []string{"other", "tested"}}, nil, []string{"new"}},
		{"another agent", builtin.ContextConfig{System: "new", Agents: []string{"other"}}, []agent.Message{system("old")}, []string{"old"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			left := rewritten(t, &c.config, agent.LLMRequest{Messages: c.was})
			again := rewritten(t, &c.config, left)
			for _, req := range []agent.LLMRequest{left, again} { // nothing is doubled
				var got []string
				for _, m := range req.Messages {
					got = append(got, m.Content)
				}
				if strings.Join(got, "|") != strings.Join(c.want, "|") {
					t.Errorf("got %q, want %q", got, c.want)
				}
			}
		})
	}
}

func TestContextConfigSetsTheResponseFormat(t *testing.T) {
	format := &agent.ResponseFormat{Type: "json_schema", Name: "answer", Schema: json.RawMessage(`{"type":"object"}`)}
	h := &builtin.ContextConfig{ResponseFormat: format}
	left := rewritten(t, h, agent.LLMRequest{ResponseFormat: &agent.ResponseFormat{Type: "text"}})
	if left.ResponseFormat.Name != "answer" {
		t.Errorf("got %+v", left.ResponseFormat)
	}
	left.ResponseFormat.Schema[2], left.ResponseFormat.Name = 'X', "changed"
	if string(format.Schema) != `{"type":"object"}` || format.Name != "answer" {
		t.Errorf("the request shares the hook's format: %s", format.Schema)
	}
	for _, unset := range []*agent.ResponseFormat{nil, {}} {
		left := rewritten(t, &builtin.ContextConfig{System: "x", ResponseFormat: unset}, agent.LLMRequest{ResponseFormat: format})
		if left.ResponseFormat.Name != "answer" {
			t.Errorf("an empty format replaced the request's: %+v", left.ResponseFormat)
		}
	}
}

func TestAnEmptyContextConfigChangesNothing(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&builtin.ContextConfig{System: "\n", ResponseFormat: &agent.ResponseFormat{}, Fragments: []builtin.Fragment{{Text: " "}, {}}})
	req := agent.LLMRequest{Messages: []agent.Message{{Role: agent.RoleUser, Content: "go"}}}
	if exit, by, err := hooks.BeforeLLM.FireBy(t.Context(), agent.NewRun(nil), &req); exit != nil || by != (hookkit.By{}) || err != nil {
		t.Errorf("got %v by %+v, %v", exit, by, err)
	}
}

func TestContextConfigHoldsInEveryPromptOfARun(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Reply("ok")},
		Tools: []agent.Tool{&looptest.Tool{Name: "work"}},
		Hooks: []agent.Hook{&builtin.ContextConfig{System: "S", Fragments: []builtin.Fragment{{Text: "F"}}}},
		Agent: &loop.Agent{Instructions: "I"},
	}.Run(t, "x")
	for i, req := range ran.Script.Requests() {
		if req.Messages[0].Content != "S\n\nF" || req.Messages[1].Role != agent.RoleUser {
			t.Errorf("prompt %d begins with %+v", i, req.Messages[:2])
		}
	}
	ran.Recorder.Decided(t, "BeforeLLM", "builtin.ContextConfig", "Replace", "context configuration: system prompt")
}

func TestAFragmentThatCannotBeGeneratedFailsTheRun(t *testing.T) {
	failing := builtin.Fragment{Name: "plan", Generate: func(context.Context, *agent.Run) (string, error) { return "", errors.New("no plan") }}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("never")},
		Hooks: []agent.Hook{&builtin.ContextConfig{Fragments: []builtin.Fragment{failing}}},
	}.Run(t, "x")
	if ran.Failed == nil || !strings.Contains(ran.Failed.Error(), `the fragment "plan" could not be generated: no plan`) || len(ran.Script.Calls()) != 0 {
		t.Errorf("got %v", ran.Failed)
	}
}

func TestAContextConfigThatCannotWorkCannotBeUsed(t *testing.T) {
	for want, c := range map[string]builtin.ContextConfig{
		`ContextConfig: ResponseFormat.Type is "yaml"`: {ResponseFormat: &agent.ResponseFormat{Type: "yaml"}},
		"ResponseFormat.Schema is no JSON":             {ResponseFormat: &agent.ResponseFormat{Type: "json_schema"}},
		`Fragments[0] has the name "n" but no`:         {Fragments: []builtin.Fragment{{Name: "n", Text: "t"}}},
		"Fragments[0] has a Text and a Generate":       {Fragments: []builtin.Fragment{{Name: "n", Text: "t", Generate: generate("", "").Generate}}},
		`Fragments[0].Name is ""`:                      {Fragments: []builtin.Fragment{generate("", "")}},
		`Fragments[0].Name is "a-->b"`:                 {Fragments: []builtin.Fragment{generate("a-->b", "")}},
		`Fragments[0].Name is "a\nb"`:                  {Fragments: []builtin.Fragment{generate("a\nb", "")}},
		`Fragments[1].Name is "n" a second time`:       {Fragments: []builtin.Fragment{generate("n", ""), generate("n", "")}},
	} {
		mustPanic(t, want, func() { new(agent.Hooks).Use(&c) })
	}
}
