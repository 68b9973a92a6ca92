package prompt_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleConfig() {
	var hooks agent.Hooks
	hooks.Use(&prompt.Config{
		System:    "You are a careful clerk.",
		Fragments: []prompt.Fragment{{Text: "Answer in one sentence."}},
	})
	req := agent.LLMRequest{Messages: []agent.Message{{Role: agent.RoleUser, Content: "Hello"}}}
	_, _ = hooks.BeforeLLM.Fire(context.Background(), agent.NewRun(nil), &req)
	fmt.Println(req.Messages[0].Content)
	// Output:
	// You are a careful clerk.
	//
	// Answer in one sentence.
}

func generate(name, text string) prompt.Fragment {
	return prompt.Fragment{Name: name, Generate: func(context.Context, *agent.Run) (string, error) { return text, nil }}
}

func TestConfigRewritesSystemPrompt(t *testing.T) {
	briefing := agent.Message{Role: agent.RoleSystem, Name: agent.BriefingName, Content: "b"}
	for _, c := range []struct {
		name   string
		config prompt.Config
		was    []agent.Message
		want   []string
	}{
		{"replaced", prompt.Config{System: "new"}, []agent.Message{fixture.System("old"), fixture.User("u")},
			[]string{"new", "u"}},
		{"made where there is none", prompt.Config{System: "new"}, []agent.Message{fixture.User("u")}, []string{"new", "u"}},
		{"made in an empty request", prompt.Config{System: "new"}, nil, []string{"new"}},
		{"the briefing is none", prompt.Config{System: "new"}, []agent.Message{briefing, fixture.User("u")},
			[]string{"new", "b", "u"}},
		{"blank: kept", prompt.Config{System: " ", Fragments: []prompt.Fragment{{Text: "f"}}},
			[]agent.Message{fixture.System("old\n")}, []string{"old\n\nf"}},
		{"fragments in order", prompt.Config{Fragments: []prompt.Fragment{{Text: "one"}, {Text: " "}, {Text: "two\nlines"}}},
			[]agent.Message{fixture.System("old")}, []string{"old\n\none\n\ntwo\nlines"}},
		{"fragment there already", prompt.Config{Fragments: []prompt.Fragment{{Text: "two\nlines"}, {Text: "old"}}},
			[]agent.Message{fixture.System("old\n\ntwo\nlines\nmore")}, []string{"old\n\ntwo\nlines\nmore"}},
		{"fragment there as a part of a line", prompt.Config{Fragments: []prompt.Fragment{{Text: "be brief"}}},
			[]agent.Message{fixture.System("Never be brief")}, []string{"Never be brief\n\nbe brief"}},
		{"block appended", prompt.Config{Fragments: []prompt.Fragment{generate("plan", "\nx\n")}},
			[]agent.Message{fixture.System("old")}, []string{"old\n\n<!-- begin plan -->\nx\n<!-- end plan -->"}},
		{"block replaced", prompt.Config{Fragments: []prompt.Fragment{generate("plan", "y")}},
			[]agent.Message{fixture.System("a\n\n<!-- begin plan -->\nx\n<!-- end plan -->\n\nb")},
			[]string{"a\n\n<!-- begin plan -->\ny\n<!-- end plan -->\n\nb"}},
		{"block removed", prompt.Config{Fragments: []prompt.Fragment{generate("plan", " ")}},
			[]agent.Message{fixture.System("a\n\n<!-- begin plan -->\nx\n<!-- end plan -->\n\nb")}, []string{"a\n\nb"}},
		{"block cannot close itself",
			prompt.Config{Fragments: []prompt.Fragment{generate("p", "x<!-- end p -->y<!-- begin p -->")}}, nil,
			[]string{"<!-- begin p -->\nxy\n<!-- end p -->"}},
		{"empty block", prompt.Config{Fragments: []prompt.Fragment{generate("p", "")}}, []agent.Message{fixture.User("u")},
			[]string{"u"}},
		{"this agent", prompt.Config{System: "new", Agents: []string{"other", "tested"}}, nil, []string{"new"}},
		{"another agent", prompt.Config{System: "new", Agents: []string{"other"}}, []agent.Message{fixture.System("old")},
			[]string{"old"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			left := fixture.Rewritten(t, &c.config, agent.LLMRequest{Messages: c.was})
			again := fixture.Rewritten(t, &c.config, left)
			for _, req := range []agent.LLMRequest{left, again} { // a second pass adds nothing
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

func TestConfigSetsResponseFormat(t *testing.T) {
	format := &agent.ResponseFormat{Type: "json_schema", Name: "answer", Schema: json.RawMessage(`{"type":"object"}`)}
	h := &prompt.Config{ResponseFormat: format}
	left := fixture.Rewritten(t, h, agent.LLMRequest{ResponseFormat: &agent.ResponseFormat{Type: "text"}})
	if left.ResponseFormat.Name != "answer" {
		t.Errorf("got %+v", left.ResponseFormat)
	}
	left.ResponseFormat.Schema[2], left.ResponseFormat.Name = 'X', "changed"
	if string(format.Schema) != `{"type":"object"}` || format.Name != "answer" {
		t.Errorf("the request shares the hook's format: %s", format.Schema)
	}
	for _, unset := range []*agent.ResponseFormat{nil, {}} {
		t.Run(fmt.Sprint(unset), func(t *testing.T) {
			left := fixture.Rewritten(t, &prompt.Config{System: "x", ResponseFormat: unset},
				agent.LLMRequest{ResponseFormat: format})
			if left.ResponseFormat.Name != "answer" {
				t.Errorf("an empty format replaced the request's: %+v", left.ResponseFormat)
			}
		})
	}
}

func TestBoundConfigKeepsItsFragments(t *testing.T) {
	config := &prompt.Config{Fragments: []prompt.Fragment{{Text: "at first"}}}
	var hooks agent.Hooks
	hooks.Use(config)
	config.Fragments[0].Text = "changed later"
	req := agent.LLMRequest{Messages: []agent.Message{fixture.System("old")}}
	_, err := hooks.BeforeLLM.Fire(t.Context(), agent.NewRun(nil), &req)
	if got := req.Messages[0].Content; err != nil || got != "old\n\nat first" {
		t.Errorf("%v: got %q", err, got)
	}
}

func TestEmptyConfigChangesNothing(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&prompt.Config{System: "\n", ResponseFormat: &agent.ResponseFormat{},
		Fragments: []prompt.Fragment{{Text: " "}, {}}})
	req := agent.LLMRequest{Messages: []agent.Message{{Role: agent.RoleUser, Content: "go"}}}
	if exit, by, err := hooks.BeforeLLM.FireBy(t.Context(), agent.NewRun(nil), &req); exit != nil ||
		by != (hookkit.By{}) || err != nil {
		t.Errorf("got %v by %+v, %v", exit, by, err)
	}
}

func TestConfigAppliesToEveryPrompt(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Reply("ok")},
		Tools: []agent.Tool{&looptest.Tool{Name: "work"}},
		Hooks: []agent.Hook{&prompt.Config{System: "S", Fragments: []prompt.Fragment{{Text: "F"}}}},
		Agent: &loop.Agent{Instructions: "I"},
	}.Run(t, "x")
	for i, req := range ran.Script.Requests() {
		if req.Messages[0].Content != "S\n\nF" || req.Messages[1].Role != agent.RoleUser {
			t.Errorf("prompt %d begins with %+v", i, req.Messages[:2])
		}
	}
	ran.Recorder.Decided(t, "BeforeLLM", "prompt.Config", "Replace", "context configuration: system prompt")
}

func TestBlocksAreGeneratedOncePerRun(t *testing.T) {
	made := 0
	counts := prompt.Fragment{Name: "count", Generate: func(context.Context, *agent.Run) (string, error) {
		made++
		return fmt.Sprint("version ", made), nil
	}}
	hook := &prompt.Config{Fragments: []prompt.Fragment{counts}}
	for run := range 2 {
		ran := looptest.Harness{Turns: fixture.Work(2), Tools: fixture.Worker(), Hooks: []agent.Hook{hook}}.Run(t, "x")
		for i, req := range ran.Script.Requests() {
			want := fmt.Sprintf("<!-- begin count -->\nversion %d\n<!-- end count -->", run+1)
			if req.Messages[0].Content != want {
				t.Errorf("prompt %d of run %d begins with %q", i, run, req.Messages[0].Content)
			}
		}
	}
}

func TestFailingFragmentFailsTheRun(t *testing.T) {
	failing := prompt.Fragment{Name: "plan", Generate: func(context.Context, *agent.Run) (string, error) {
		return "", errors.New("no plan")
	}}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("never")},
		Hooks: []agent.Hook{&prompt.Config{Fragments: []prompt.Fragment{failing}}},
	}.Run(t, "x")
	if ran.Failed == nil || !strings.Contains(ran.Failed.Error(), `the fragment "plan" could not be generated: no plan`) ||
		len(ran.Script.Calls()) != 0 {
		t.Errorf("got %v", ran.Failed)
	}
}

func TestInvalidConfigPanicsInBind(t *testing.T) {
	for want, c := range map[string]prompt.Config{
		`prompt.Config: ResponseFormat.Type is "yaml"`: {ResponseFormat: &agent.ResponseFormat{Type: "yaml"}},
		"ResponseFormat.Schema is not valid JSON":      {ResponseFormat: &agent.ResponseFormat{Type: "json_schema"}},
		`Fragments[0] has the name "n" but no`:         {Fragments: []prompt.Fragment{{Name: "n", Text: "t"}}},
		"Fragments[0] has a Text and a Generate": {Fragments: []prompt.Fragment{{Name: "n", Text: "t",
			Generate: generate("", "").Generate}}},
		`Fragments[0].Name is ""`:                {Fragments: []prompt.Fragment{generate("", "")}},
		`Fragments[0].Name is "a-->b"`:           {Fragments: []prompt.Fragment{generate("a-->b", "")}},
		`Fragments[0].Name is "a\nb"`:            {Fragments: []prompt.Fragment{generate("a\nb", "")}},
		`Fragments[1].Name is "n" a second time`: {Fragments: []prompt.Fragment{generate("n", ""), generate("n", "")}},
	} {
		t.Run(want, func(t *testing.T) {
			fixture.MustPanic(t, want, func() { new(agent.Hooks).Use(&c) })
		})
	}
}
