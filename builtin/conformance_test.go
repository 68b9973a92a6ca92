package builtin_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/builtin/declared/claudecode"
	"github.com/hookgen/hookgen/builtin/guardrail"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/shell"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/looptest"
)

// places are where hooks keep what outlives a run. Hooks and runs may share them.
type places struct {
	dir      string
	store    agent.Store
	memory   memory.Store
	notes    *memory.Notes
	steering *prompt.Steering
}

// newPlaces returns places with a fact and a note for everybody, and a message for the conversation "c".
func newPlaces(t testing.TB) places {
	p := places{t.TempDir(), new(session.Map), new(memory.Facts), new(memory.Notes), new(prompt.Steering)}
	err := p.memory.Put(t.Context(), memory.Fact{Key: "city", Value: "Oslo"})
	if err = errors.Join(err, p.notes.Append(t.Context(), "a note for everybody", ""),
		p.steering.Steer(agent.Identity{Conversation: "c"}, "mind the gap")); err != nil {
		t.Fatal(err)
	}
	return p
}

// ready returns a constructor of every hook, by name, in a configuration in which the hook does something.
func ready(t testing.TB) map[string]func() agent.Hook {
	return readyIn(func() places { return newPlaces(t) })
}

// readyIn is like ready with places for each hook.
func readyIn(in func() places) map[string]func() agent.Hook {
	quiet := func(error) {}
	approving := func() agent.Model {
		return always{agent.LLMResponse{Content: `{"approve": true}`}}
	}
	return map[string]func() agent.Hook{
		"claudecode.Hooks": func() agent.Hook {
			scripts := filepath.Join(in().dir, "settings.json")
			err := os.WriteFile(scripts, []byte(`{"hooks": {
				"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "exit 0"}]}],
				"Stop": [{"hooks": [{"type": "command", "command": "exit 0"}]}]}}`), 0o600)
			if err != nil {
				panic(err)
			}
			h, err := claudecode.Read(scripts)
			if err != nil {
				panic(err)
			}
			h.OnError = quiet
			return h
		},
		"permission.ApprovalStop": func() agent.Hook { return &permission.ApprovalStop{} },
		"record.Audit": func() agent.Hook {
			return &record.Audit{
				Path: filepath.Join(in().dir, "audit", "log"), Points: []string{record.AllPoints}, OnError: quiet,
			}
		},
		"limit.Warning":      func() agent.Hook { return &limit.Warning{} },
		"limit.Cancellation": func() agent.Hook { return &limit.Cancellation{Source: &limit.CancelSwitch{}} },
		"session.Checkpoint": func() agent.Hook { return &session.Checkpoint{Store: in().store, Every: 1, OnError: quiet} },
		"window.Auto":        func() agent.Hook { return &window.Auto{Compactor: &window.Truncate{}} },
		"permission.Confirm": func() agent.Hook { return &permission.Confirm{Tools: []string{"*"}} },
		"prompt.Config":      func() agent.Hook { return &prompt.Config{System: "Be brief."} },
		"window.Guard": func() agent.Hook {
			return &window.Guard{Recall: in().store, OnError: quiet}
		},
		"observe.Cost":         func() agent.Hook { return &observe.Cost{} },
		"answer.Critic":        func() agent.Hook { return &answer.Critic{Model: approving()} },
		"permission.DenyTools": func() agent.Hook { return &permission.DenyTools{Deny: []string{"rm"}} },
		"answer.Gate": func() agent.Hook {
			return &answer.Gate{Conditions: []answer.Condition{answer.MinTools(1), answer.AnswerSchema(`{}`)}, MaxRejections: 5}
		},
		"observe.DebugLog":     func() agent.Hook { return &observe.DebugLog{Writer: io.Discard} },
		"repair.EchoedPayload": func() agent.Hook { return &repair.EchoedPayload{} },
		"record.Episodes": func() agent.Hook {
			return &record.Episodes{Store: in().memory, Classify: record.FailureSignal, OnError: quiet}
		},
		"answer.Eval": func() agent.Hook {
			yes := func(context.Context, answer.EvalContext) (any, error) { return true, nil }
			return &answer.Eval{Evaluators: []answer.Evaluator{{Name: "yes", Grade: yes}}}
		},
		"observe.EventBridge": func() agent.Hook { return &observe.EventBridge{Bus: silentBus{}} },
		"prompt.FailureNote":  func() agent.Hook { return &prompt.FailureNote{} },
		"limit.FinishReason":  func() agent.Hook { return &limit.FinishReason{Reasons: []string{"stop"}} },
		"builtin.Guards":      func() agent.Hook { return builtin.Guards{} },
		"guardrail.Input":     func() agent.Hook { return &guardrail.Input{Block: []string{"bomb"}} },
		"repair.LoopDetector": func() agent.Hook { return &repair.LoopDetector{} },
		"memory.Extractor": func() agent.Hook {
			return &memory.Extractor{Store: in().memory}
		},
		"memory.Injector":      func() agent.Hook { return &memory.Injector{Store: in().memory} },
		"record.Metrics":       func() agent.Hook { return &record.Metrics{Log: slog.New(slog.DiscardHandler)} },
		"memory.NotesInjector": func() agent.Hook { return &memory.NotesInjector{Notes: in().notes} },
		"guardrail.Output": func() agent.Hook {
			return &guardrail.Output{Validators: []guardrail.Validator{guardrail.RedactPersonal(), guardrail.LengthCap(100),
				guardrail.Schema(`{}`)}}
		},
		"guardrail.Reply": func() agent.Hook {
			return &guardrail.Reply{Validators: []guardrail.Validator{guardrail.RedactPersonal(), guardrail.LengthCap(100)}}
		},
		"permission.Rules": func() agent.Hook {
			return &permission.Rules{List: []permission.Rule{
				{Tool: "*", Decision: permission.Ask, Args: permission.Expr("args.n > 0")},
				{Tool: "*", Decision: permission.Deny, Args: permission.PathGlob("at", "**/x")},
			}}
		},
		"session.Persist": func() agent.Hook {
			return &session.Persist{Store: &session.Sessions{Store: in().store}}
		},
		"permission.Policy": func() agent.Hook { return &permission.Policy{Provider: policy{}, OnError: quiet} },
		"record.Provenance": func() agent.Hook {
			return &record.Provenance{Dir: filepath.Join(in().dir, "provenance"), OnError: quiet}
		},
		"permission.ReadOnly": func() agent.Hook { return &permission.ReadOnly{When: func(*agent.Run) bool { return true }} },
		"prompt.FailureHint":  func() agent.Hook { return &prompt.FailureHint{Text: "Read the error."} },
		"record.History":      func() agent.Hook { return &record.History{} },
		"record.Summary":      func() agent.Hook { return &record.Summary{Dir: filepath.Join(in().dir, "summary")} },
		"repair.SchemaRetry":  func() agent.Hook { return &repair.SchemaRetry{} },
		"shell.Guard":         func() agent.Hook { return &shell.Guard{} },
		"builtin.SmallModel":  func() agent.Hook { return builtin.SmallModel{} },
		"prompt.Staged":       func() agent.Hook { return &prompt.Staged{Stages: map[int]string{3: "now"}} },
		"repair.Stagnation":   func() agent.Hook { return &repair.Stagnation{} },
		"prompt.Static":       func() agent.Hook { return &prompt.Static{Text: "always"} },
		"prompt.Steering":     func() agent.Hook { return in().steering },
		"limit.Steps":         func() agent.Hook { return &limit.Steps{} },
		"observe.RequestTap": func() agent.Hook {
			return &observe.RequestTap{OnEvent: func(context.Context, observe.RequestTapEvent) {}}
		},
		"prompt.WorkingTheory":  func() agent.Hook { return &prompt.WorkingTheory{} },
		"limit.Time":            func() agent.Hook { return &limit.Time{} },
		"record.Timing":         func() agent.Hook { return &record.Timing{} },
		"window.TokenBudget":    func() agent.Hook { return &window.TokenBudget{} },
		"limit.Tokens":          func() agent.Hook { return &limit.Tokens{} },
		"repair.ToolErrorRetry": func() agent.Hook { return &repair.ToolErrorRetry{} },
		"limit.Tools":           func() agent.Hook { return &limit.Tools{Default: limit.AtMost(2)} },
		"window.TruncateOutput": func() agent.Hook { return &window.TruncateOutput{} },
		"limit.Throttle": func() agent.Hook {
			return &limit.Throttle{Tools: []string{"*"}, Max: 1000, Levels: []limit.ThrottleLevel{{From: 1000}}}
		},
		"observe.CacheWatch": func() agent.Hook { return &observe.CacheWatch{Log: slog.New(slog.DiscardHandler)} },
		"retry.Model":        func() agent.Hook { return &retry.Model{FirstWait: time.Nanosecond} },
		"retry.Tools": func() agent.Hook {
			return &retry.Tools{Idempotent: []string{"*"}, FirstWait: time.Nanosecond}
		},
		"retry.Fallback":    func() agent.Hook { return &retry.Fallback{Models: []string{"small"}} },
		"retry.Breaker":     func() agent.Hook { return &retry.Breaker{} },
		"prompt.Todo":       func() agent.Hook { return &prompt.Todo{Tool: "work"} },
		"session.WriteGate": func() agent.Hook { return &session.WriteGate{} },
		"session.Files":     func() agent.Hook { return &session.Files{Dir: in().dir, Tools: []string{"*"}} },
		"record.Tree":       func() agent.Hook { return &record.Tree{Dir: filepath.Join(in().dir, "tree")} },
		"memory.Archive":    func() agent.Hook { return &memory.Archive{Store: in().memory} },
		"prompt.Skills": func() agent.Hook {
			return &prompt.Skills{List: []prompt.Skill{{Name: "a", Description: "b"}}}
		},
		"window.Retrospective": func() agent.Hook { return &window.Retrospective{} },
	}
}

// TestEveryHookConforms runs the conformance suite on every hook.
func TestEveryHookConforms(t *testing.T) {
	for name, newHook := range ready(t) {
		t.Run(name, func(t *testing.T) { looptest.Check(t, newHook) })
	}
}

// A test of a program may fire a point with a run that has no environment, or with none. A hook may refuse that, and
// says why, but does not fail with a nil pointer.
func TestEveryHookSurvivesRunsWithoutEnvironment(t *testing.T) {
	for name, newHook := range ready(t) {
		t.Run(name, func(t *testing.T) {
			for kind, run := range map[string]*agent.Run{
				"no run": nil, "no environment": agent.NewRun(nil), "a sub-run without": agent.NewRun(nil).Child(nil),
			} {
				check := func(err error) {
					var crash *hookkit.PanicError
					if !errors.As(err, &crash) {
						return
					}
					if value, ok := crash.Value.(runtime.Error); ok {
						t.Errorf("%s: %v: %v", kind, err, value)
					}
				}
				hooks := new(agent.Hooks)
				hooks.HandleFailures(func(_ context.Context, f *hookkit.Failure) { check(f) })
				hooks.Use(newHook())
				for _, point := range hooks.Points() {
					_, err := point.Fire(t.Context(), run, point.New())
					check(err)
				}
			}
		})
	}
}

// TestEveryHookIsChecked parses builtin and its rooms. For every exported type with a Bind, it requires an entry in
// ready and an Example.
func TestEveryHookIsChecked(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	inRooms, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	formats, err := filepath.Glob("declared/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(append(files, inRooms...), formats...)
	checked := ready(t)
	var hooks []string
	examples := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		room := strings.TrimSuffix(f.Name.Name, "_test") + "."
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if hook, ok := strings.CutPrefix(fn.Name.Name, "Example"); ok {
				examples[room+hook] = true
			}
			if fn.Recv != nil && fn.Name.Name == "Bind" {
				recv := fn.Recv.List[0].Type
				if star, ok := recv.(*ast.StarExpr); ok {
					recv = star.X
				}
				if id, ok := recv.(*ast.Ident); ok && id.IsExported() {
					hooks = append(hooks, room+id.Name)
				}
			}
		}
	}
	for _, hook := range hooks {
		if checked[hook] == nil {
			t.Errorf("%s is not checked", hook)
		}
		if !examples[hook] {
			t.Errorf("%s has no example", hook)
		}
	}
	for hook := range checked {
		if !slices.Contains(hooks, hook) {
			t.Errorf("ready has the hook %s, which does not exist", hook)
		}
	}
}

// always is a model with a constant reply.
type always struct{ reply agent.LLMResponse }

func (a always) Generate(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
	return a.reply, nil
}

// silentBus vetoes nothing.
type silentBus struct{}

func (silentBus) Publish(context.Context, observe.BusEvent) (bool, string, error) {
	return false, "", nil
}

// policy allows everything.
type policy struct{}

func (policy) Evaluate(context.Context, permission.PolicyRequest) (permission.PolicyDecision, error) {
	return permission.PolicyDecision{Allow: true}, nil
}

// TestDisabledHooksDoNothing uses hooks in configurations that disable them. Such configurations are valid, because
// programs read them from files.
func TestDisabledHooksDoNothing(t *testing.T) {
	blank := filepath.Join(t.TempDir(), "blank.md")
	if err := os.WriteFile(blank, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, newHook := range map[string]func() agent.Hook{
		"prompt.Config":      func() agent.Hook { return &prompt.Config{} },
		"limit.FinishReason": func() agent.Hook { return &limit.FinishReason{} },
		"builtin.Guards": func() agent.Hook {
			return builtin.Guards{Steps: limit.None, Tokens: limit.None, Time: limit.None}
		},
		"prompt.Staged": func() agent.Hook { return &prompt.Staged{} },
		"prompt.Static": func() agent.Hook { return &prompt.Static{Path: blank} },
		"limit.Steps":   func() agent.Hook { return &limit.Steps{Max: limit.None} },
		"limit.Time":    func() agent.Hook { return &limit.Time{Max: limit.None} },
		"limit.Tokens":  func() agent.Hook { return &limit.Tokens{Max: limit.None} },
	} {
		t.Run(name, func(t *testing.T) {
			looptest.Check(t, newHook)
			ran := looptest.Harness{Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Reply("done")},
				Tools: []agent.Tool{&looptest.Tool{Name: "work"}}, Hooks: []agent.Hook{newHook()}}.Run(t, "go")
			if decided := ran.Recorder.Decisions(); ran.Reply != "done" || ran.Failed != nil || len(decided) != 0 {
				t.Errorf("replied %q, error %v, decided %v", ran.Reply, ran.Failed, decided)
			}
		})
	}
}
