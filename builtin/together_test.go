package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/builtin/guardrail"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// promptHooks returns constructors of the hooks that change prompts and contexts, by name.
func promptHooks() map[string]func() agent.Hook {
	remembered := func() memory.Store {
		m := &memory.Facts{}
		_ = m.Put(context.Background(), memory.Fact{Key: "k", Value: "v"})
		return m
	}
	notes := func() *memory.Notes {
		n := &memory.Notes{}
		_ = n.Append(context.Background(), "a note", "")
		return n
	}
	return map[string]func() agent.Hook{
		"memory.Injector":      func() agent.Hook { return &memory.Injector{Store: remembered()} },
		"memory.NotesInjector": func() agent.Hook { return &memory.NotesInjector{Notes: notes()} },
		"prompt.Config": func() agent.Hook {
			return &prompt.Config{System: "s", Fragments: []prompt.Fragment{{Text: "f"}}}
		},
		"prompt.Static":        func() agent.Hook { return &prompt.Static{Text: "b"} },
		"prompt.Staged":        func() agent.Hook { return &prompt.Staged{Stages: map[int]string{1: "b"}} },
		"prompt.FailureNote":   func() agent.Hook { return &prompt.FailureNote{} },
		"prompt.FailureHint":   func() agent.Hook { return &prompt.FailureHint{Text: "h"} },
		"prompt.WorkingTheory": func() agent.Hook { return &prompt.WorkingTheory{} },
		"prompt.Steering": func() agent.Hook {
			s := &prompt.Steering{Share: share.Everyone}
			_ = s.Steer(agent.Identity{}, "x")
			return s
		},
		"window.TokenBudget":    func() agent.Hook { return &window.TokenBudget{Max: 10} },
		"window.TruncateOutput": func() agent.Hook { return &window.TruncateOutput{MaxChars: 10} },
		"window.Guard":          func() agent.Hook { return &window.Guard{Max: 10, FullFor: 1} },
		"window.Auto":           func() agent.Hook { return &window.Auto{Compactor: &window.Default{}} },
		"repair.EchoedPayload":  func() agent.Hook { return &repair.EchoedPayload{} },
		"repair.SchemaRetry":    func() agent.Hook { return &repair.SchemaRetry{} },
		"repair.ToolErrorRetry": func() agent.Hook { return &repair.ToolErrorRetry{} },
		"guardrail.Output": func() agent.Hook {
			return &guardrail.Output{Validators: []guardrail.Validator{guardrail.RedactPersonal(), guardrail.LengthCap(10)}}
		},
		"builtin.SmallModel": func() agent.Hook { return builtin.SmallModel{} },
	}
}

// hostile are unusual texts: control characters, invalid UTF-8 and JSON, imitations of markers.
var hostile = []string{
	"", "\x00", "\xff\xfe", "{", `{"a":`, "null", `{"__theory__":`, `{"__theory__":{"__theory__":null}}`, "[[[[", "]",
	"../../etc/passwd",
	strings.Repeat("[", 4000), strings.Repeat("日", 1000), "<!-- begin x -->", "[earlier result: ", "```json", "%s%d%!",
	"\u202e\u2028\n## System",
}

// unchangedBy fails the test if firing changed the payload in place.
func unchangedBy[P any](t *testing.T, point string, p P, fire func(P)) {
	t.Helper()
	before, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	fire(p)
	if after, _ := json.Marshal(p); string(after) != string(before) {
		t.Errorf("%s: the payload was changed in place", point)
	}
}

func TestPromptHooksTolerateHostilePayloads(t *testing.T) {
	for name, newHook := range promptHooks() {
		t.Run(name, func(t *testing.T) {
			var hooks agent.Hooks
			hooks.Use(newHook())
			rec := hooktest.Record(hooks.Points())
			ctx, env := t.Context(), &agent.Env{Agent: "a"}
			for i, text := range hostile {
				run := agent.NewRun(env)
				if i%2 == 0 {
					run = agent.NewRun(nil)
				}
				call := agent.ToolCallRequest{ID: text, Name: text, Args: json.RawMessage(text), Step: -i}
				result := agent.ToolCallResult{Call: call, Output: text, Err: text, Kind: agent.FailArguments}
				messages := []agent.Message{
					{Role: agent.Role(text), Content: text, Name: text}, {Role: agent.RoleTool, ToolCallID: text, Content: text},
					{Role: agent.RoleAssistant, Content: text, ToolCalls: []agent.ToolCallRequest{call, call}},
					{Role: agent.RoleTool, ToolCallID: text, Content: text},
				}
				last := &agent.StepResult{Results: []agent.ToolCallResult{result, {}}}
				unchangedBy(t, "OnRunStart", agent.RunStart{Task: text, Messages: messages}, func(p agent.RunStart) {
					_, _ = hooks.OnRunStart.Fire(ctx, run, &p)
				})
				unchangedBy(t, "ShouldCompact",
					agent.ContextUse{Step: i, Tokens: i * 50_000, Window: i*1000 - 1, Messages: messages}, func(p agent.ContextUse) {
						_, _ = hooks.ShouldCompact.Fire(ctx, run, p)
					})
				unchangedBy(t, "BeforeCompact", agent.Compaction{Messages: messages}, func(p agent.Compaction) {
					_, _ = hooks.BeforeCompact.Fire(ctx, run, p)
				})
				unchangedBy(t, "AfterCompact", agent.Compacted{Messages: messages, Before: agent.Size{Tokens: i}},
					func(p agent.Compacted) {
						_ = hooks.AfterCompact.Fire(ctx, run, &p)
					})
				unchangedBy(t, "Briefing", agent.Step{Number: i - 1, Last: last}, func(p agent.Step) {
					hooks.Briefing.Fire(ctx, run, p)
				})
				unchangedBy(t, "BeforeLLM", agent.LLMRequest{Messages: messages, ToolChoice: text, MaxTokens: -i},
					func(p agent.LLMRequest) {
						_, _ = hooks.BeforeLLM.Fire(ctx, run, &p)
					})
				unchangedBy(t, "AroundLLM", agent.LLMRequest{Messages: messages}, func(p agent.LLMRequest) {
					_, _ = hooks.AroundLLM.Fire(ctx, run, p, func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
						return agent.LLMResponse{}, nil
					})
				})
				unchangedBy(t, "AfterLLM", agent.LLMResponse{Content: text, FinishReason: text}, func(p agent.LLMResponse) {
					_, _ = hooks.AfterLLM.Fire(ctx, run, &p)
				})
				unchangedBy(t, "BeforeTool", call, func(p agent.ToolCallRequest) { _, _ = hooks.BeforeTool.Fire(ctx, run, &p) })
				for _, r := range []agent.ToolCallResult{result, {Call: call, Output: text}, {}} {
					unchangedBy(t, "AfterTool", r, func(p agent.ToolCallResult) { _, _ = hooks.AfterTool.Fire(ctx, run, &p) })
				}
				hooks.OnRunEnd.Fire(ctx, run, agent.AgentResult{Reply: text, Messages: messages})
			}
			for _, f := range rec.Fires() {
				for _, failure := range f.Failures {
					t.Errorf("%s: %v", f.Point, failure)
				}
			}
		})
	}
}

func TestPromptHooksIsolateConcurrentRuns(t *testing.T) {
	var hooks agent.Hooks
	for _, newHook := range promptHooks() {
		hooks.Use(newHook())
	}
	model := func(run int) looptest.Turn {
		return looptest.Call("read", fmt.Sprintf(`{"n":%d,"__theory__":"theory of %d"}`, run, run))
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, 64)
	for i := range 1000 {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			script := looptest.NewScript(model(i), looptest.Call("broken", nil), looptest.Reply("done"))
			a := &loop.Agent{Model: script, Hooks: &hooks, Tools: []agent.Tool{
				&looptest.Tool{Name: "read", Result: strings.Repeat(fmt.Sprint("result ", i, " "), 50)},
				&looptest.Tool{Name: "broken", Err: errors.New("no")},
			}}
			if _, err := a.Run(t.Context(), fmt.Sprint("task ", i)); err != nil {
				t.Error(err)
			}
			for n, req := range script.Requests() {
				want := "Current working theory: No theory yet"
				if n > 0 {
					want = fmt.Sprintf("Current working theory: theory of %d", i)
				}
				if text := fixture.Briefing(req) + "\n"; !strings.Contains(text, want+"\n") {
					t.Errorf("run %d, prompt %d has the briefing %q", i, n, text)
				}
			}
		})
	}
	all.Wait()
}

func TestCombinedHooksKeepTheTokenBudget(t *testing.T) {
	remembered := &memory.Facts{In: session.Dir{Path: t.TempDir()}}
	notes := &memory.Notes{}
	for i := range 50 {
		_ = remembered.Put(t.Context(), memory.Fact{Key: fmt.Sprint("key ", i), Value: strings.Repeat("v", 40)})
		_ = notes.Append(t.Context(), strings.Repeat("n", 60), "")
	}
	var turns []looptest.Turn
	for i := range 12 {
		turns = append(turns, looptest.Call("read", fmt.Sprintf(`{"n":%d}`, i)))
	}
	read := &looptest.Tool{Name: "read", Func: func(_ context.Context, call agent.ToolCallRequest) (string, error) {
		return string(call.Args) + strings.Repeat("text ", 2000), nil
	}}
	ran := looptest.Harness{
		Turns: append(turns, looptest.Echo("read", nil, "bad")),
		Tools: []agent.Tool{read},
		Hooks: []agent.Hook{
			&window.TokenBudget{Max: 3000}, &window.TruncateOutput{}, &memory.NotesInjector{Notes: notes},
			&memory.Injector{Store: remembered}, builtin.SmallModel{},
		},
	}.Run(t, "the task")
	if ran.Failed != nil || ran.Reply != "Sorry, I couldn't answer that." {
		t.Errorf("got %v, %q", ran.Failed, ran.Reply)
	}
	for i, req := range ran.Script.Requests() {
		if n := agentspec.EstimateTokens(req.Messages) + agentspec.EstimateTools(req.Tools); n > 3000 {
			t.Errorf("prompt %d has %d tokens", i, n)
		}
		if text := fixture.Briefing(req); !strings.Contains(text, "## Memory\n") || !strings.Contains(text, "## Notes\n") {
			t.Errorf("prompt %d has the briefing %.50q", i, text)
		}
	}
}
