package prompt_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleSkills() {
	skills := &prompt.Skills{List: []prompt.Skill{
		{Name: "release", Description: "publish a version", Instructions: "Run the tests, then tag."},
		{Name: "review", Description: "review a change", Instructions: "Read the tests first."},
	}}
	model := looptest.NewScript(looptest.Call("load_skill", `{"name":"release"}`), looptest.Reply("done"))
	hooks := new(agent.Hooks)
	hooks.Use(skills)
	a := loop.Agent{Model: model, Hooks: hooks, Tools: []agent.Tool{skills.Tool()}}
	_, _ = a.Run(context.Background(), "Publish it.")
	for _, req := range model.Requests() {
		fmt.Println(req.Messages[0].Content)
		fmt.Println(req.Messages[len(req.Messages)-1].Content)
	}
	// Output:
	// Skills are instructions for a kind of work. Load one with the tool load_skill before such work:
	// - release: publish a version
	// - review: review a change
	// Publish it.
	// Skills are instructions for a kind of work. Load one with the tool load_skill before such work:
	// - release: publish a version
	// - review: review a change
	// The skill release is active from now on. Its instructions:
	// Run the tests, then tag.
}

// load loads skills as calls of a loop do, one after the other.
func load(t *testing.T, hooks *agent.Hooks, run *agent.Run, tool agent.Tool, names ...string) {
	t.Helper()
	for _, name := range names {
		args, _ := json.Marshal(map[string]string{"name": name})
		result := agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "load_skill", Args: args}}
		output, err := tool.Call(t.Context(), result.Call)
		if err == nil && !strings.Contains(output, name) {
			t.Errorf("%s is loaded with %q", name, output)
		}
		if result.Output = output; err != nil {
			result.Err = err.Error()
		}
		if _, err := hooks.AfterTool.Fire(t.Context(), run, &result); err != nil {
			t.Fatal(err)
		}
	}
}

func TestActiveSkillsSelectToolsAndModel(t *testing.T) {
	skills := &prompt.Skills{List: []prompt.Skill{
		{Name: "free"}, {Name: "reader", Tools: []string{"read_*"}, Model: "small"},
		{Name: "writer", Tools: []string{"write"}, Model: "large"}, {Name: "nothing", Tools: []string{}},
	}}
	for _, c := range []struct {
		name   string
		loaded []string
		denied string // of read_a, write and load_skill
		model  string
	}{
		{"none", nil, "", "usual"},
		{"without tools and model", []string{"free"}, "", "usual"},
		{"with tools and model", []string{"reader"}, "write", "small"},
		{"no tool allowed", []string{"nothing"}, "read_a write", "usual"},
		{"two", []string{"reader", "writer"}, "", "large"},
		{"the first again", []string{"reader", "writer", "reader"}, "", "small"},
		{"one without tools", []string{"reader", "free"}, "", "small"},
		{"unknown", []string{"other"}, "", "usual"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var hooks agent.Hooks
			hooks.Use(skills)
			run := agent.NewRun(nil)
			load(t, &hooks, run, skills.Tool(), c.loaded...)
			var denied []string
			for _, tool := range []string{"read_a", "write", "load_skill"} {
				exit, err := hooks.OnPermission.Fire(t.Context(), run, agent.ToolCallRequest{Name: tool})
				if err != nil {
					t.Fatal(err)
				}
				if deny, ok := exit.(agent.Deny); ok {
					denied = append(denied, tool)
					if !strings.Contains(deny.Reason, "skill "+c.loaded[0]) || !strings.Contains(deny.Reason, tool) {
						t.Errorf("the reason is %q", deny.Reason)
					}
				}
			}
			req := fixture.Rewritten(t, skills, agent.LLMRequest{Model: "usual"})
			if len(c.loaded) > 0 {
				if _, err := hooks.BeforeLLM.Fire(t.Context(), run, &req); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.Join(denied, " "); got != c.denied || req.Model != c.model ||
				len(req.Messages) != 1+len(skills.Active(run)) {
				t.Errorf("denied %q, model %s, %d messages", got, req.Model, len(req.Messages))
			}
		})
	}
}

func TestSkillsBelongToOneRun(t *testing.T) {
	skills := &prompt.Skills{List: []prompt.Skill{{Name: "a", Instructions: "Do a."}, {Name: "b", Instructions: "Do b."}}}
	var hooks agent.Hooks
	hooks.Use(skills)
	run := agent.NewRun(nil)
	load(t, &hooks, run, skills.Tool(), "b", "a", "b", "b")
	if got := skills.Active(run); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("active: %q", got)
	}
	for _, other := range []*agent.Run{agent.NewRun(nil), run.Child(nil)} {
		if got := skills.Active(other); len(got) != 0 {
			t.Errorf("another run has %q", got)
		}
		req := agent.LLMRequest{}
		if _, err := hooks.BeforeLLM.Fire(t.Context(), other, &req); err != nil ||
			strings.Contains(req.Messages[0].Content, "Do a.") {
			t.Errorf("another run has %v, %v", req.Messages, err)
		}
	}
}

// TestLoadedSkillIsSentOnce: each request begins with the whole request before, so that the provider reads the
// instructions from its cache. When a compaction has removed them, they follow the list of skills.
func TestLoadedSkillIsSentOnce(t *testing.T) {
	skills := &prompt.Skills{List: []prompt.Skill{{Name: "a", Instructions: "Do it slowly."}}}
	ran := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Call("load_skill", `{"name":"a"}`), looptest.Call("work", nil), looptest.Call("work", nil),
			looptest.Reply("done"),
		},
		Tools: []agent.Tool{skills.Tool(), &looptest.Tool{Name: "work"}}, Hooks: []agent.Hook{skills},
	}.Run(t, "go")
	var before []agent.Message
	for i, req := range ran.Script.Requests() {
		times := 0
		for _, m := range req.Messages {
			times += strings.Count(m.Content, "Do it slowly.")
		}
		same := func(a, b agent.Message) bool { return a.Role == b.Role && a.Content == b.Content }
		if !slices.EqualFunc(before, req.Messages[:len(before)], same) || times != min(i, 1) {
			t.Errorf("request %d has the instructions %d times, or does not continue the one before", i+1, times)
		}
		before = req.Messages
	}
	var hooks agent.Hooks
	hooks.Use(skills)
	run := agent.NewRun(nil)
	load(t, &hooks, run, skills.Tool(), "a")
	req := agent.LLMRequest{Messages: []agent.Message{{Role: agent.RoleUser, Content: "summary"}}}
	if _, err := hooks.BeforeLLM.Fire(t.Context(), run, &req); err != nil ||
		len(req.Messages) != 3 || !strings.HasSuffix(req.Messages[1].Content, "Do it slowly.") {
		t.Errorf("after a compaction: %v, %v", req.Messages, err)
	}
}

func TestParallelCallsKeepLoadedSkill(t *testing.T) {
	skills := &prompt.Skills{List: []prompt.Skill{{Name: "reader", Tools: []string{"read"}}}}
	write, read := &looptest.Tool{Name: "write"}, &looptest.Tool{Name: "read"}
	ran := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Calls(looptest.Call("load_skill", `{"name":"reader"}`), looptest.Call("read", nil)),
			looptest.Calls(looptest.Call("write", nil), looptest.Call("read", nil)), looptest.Reply("ok"),
		},
		Tools: []agent.Tool{skills.Tool(), write, read}, Hooks: []agent.Hook{skills},
	}.Run(t, "go")
	if got := fixture.Statuses(ran); got != "succeeded succeeded refused succeeded" || write.Count() != 0 {
		t.Errorf("%s, write ran %d times", got, write.Count())
	}
}

func TestSkillToolRefusesWrongArguments(t *testing.T) {
	tool := (&prompt.Skills{List: []prompt.Skill{{Name: "a"}}}).Tool()
	for _, args := range []string{
		``, `[]`, `{"name":1}`, `{"name":"A"}`, `{}`, `{"name":"` + strings.Repeat("x", 70_000),
	} {
		t.Run(args[:min(len(args), 20)], func(t *testing.T) {
			if text, err := tool.Call(t.Context(), agent.ToolCallRequest{Args: []byte(args)}); err == nil {
				t.Errorf("loaded: %q", text)
			}
		})
	}
}

func TestSkillsRefusesInvalidList(t *testing.T) {
	for want, list := range map[string][]prompt.Skill{
		"List is empty":    {},
		"List[0] has":      {{}},
		"List[1] has":      {{Name: "a"}, {Name: "a"}},
		"List[0].Tools[0]": {{Name: "a", Tools: []string{""}}},
	} {
		t.Run(want, func(t *testing.T) {
			if text := fixture.UsePanic(&prompt.Skills{List: list}); !strings.Contains(text, want) {
				t.Errorf("panicked with %q", text)
			}
		})
	}
}

// FuzzSkillArguments loads skills with any arguments.
func FuzzSkillArguments(f *testing.F) {
	for _, args := range []string{
		`{"name":"a"}`, `{"name":"\u0061","name":"b"}`, `{"NAME":"a"}`, `null`, `{"name":"a"} x`, "\xff",
	} {
		f.Add([]byte(args))
	}
	skills := &prompt.Skills{List: []prompt.Skill{{Name: "a"}}}
	f.Fuzz(func(t *testing.T, args []byte) {
		var hooks agent.Hooks
		hooks.Use(skills)
		run, call := agent.NewRun(nil), agent.ToolCallRequest{Name: "load_skill", Args: args}
		_, failed := skills.Tool().Call(t.Context(), call)
		if _, err := hooks.AfterTool.Fire(t.Context(), run, &agent.ToolCallResult{Call: call}); err != nil {
			t.Fatal(err)
		}
		if active := len(skills.Active(run)) > 0; active != (failed == nil) {
			t.Errorf("the tool returned %v, active: %t", failed, active)
		}
	})
}

func TestSkillToolReportsUnreadableArguments(t *testing.T) {
	skills := &prompt.Skills{List: []prompt.Skill{{Name: "a", Description: "d", Instructions: "i"}}}
	const args = `{"name":"a"}`
	for _, c := range []struct {
		name, args, want string
	}{
		{"wrong type", `{"name":7}`, "the arguments cannot be read: json: "},
		{"longest", args + strings.Repeat(" ", 64<<10-len(args)), ""},
		{"too long", args + strings.Repeat(" ", 64<<10), "the arguments cannot be read: the arguments are too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := skills.Tool().Call(t.Context(), agent.ToolCallRequest{Args: []byte(c.args)})
			var failed *agent.ToolError
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &failed) ||
				failed.Kind != agent.FailArguments || !strings.HasPrefix(failed.Message, c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
