package builtin_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// ready returns, by name, what makes each hook of the package in a configuration that does something.
func ready(t testing.TB) map[string]func() agent.Hook {
	dir := t.TempDir()
	quiet := func(error) {}
	approving := func() agent.Model {
		return always{agent.LLMResponse{Content: `{"approve": true}`}}
	}
	return map[string]func() agent.Hook{
		"ApprovalStop": func() agent.Hook { return &builtin.ApprovalStop{} },
		"AuditLog": func() agent.Hook {
			return &builtin.AuditLog{Path: filepath.Join(dir, "audit", "log"), Points: []string{builtin.AllPoints}, OnError: quiet}
		},
		"BudgetWarning": func() agent.Hook { return &builtin.BudgetWarning{} },
		"Cancellation":  func() agent.Hook { return &builtin.Cancellation{Source: &builtin.CancelSwitch{}} },
		"Checkpoint":    func() agent.Hook { return &builtin.Checkpoint{Store: &builtin.MapStore{}, Every: 1, OnError: quiet} },
		"CompactOn":     func() agent.Hook { return &builtin.CompactOn{Compactor: &builtin.Truncate{}} },
		"Confirm":       func() agent.Hook { return &builtin.Confirm{Tools: []string{"*"}} },
		"ContextConfig": func() agent.Hook { return &builtin.ContextConfig{System: "Be brief."} },
		"ContextWindow": func() agent.Hook { return &builtin.ContextWindow{Compactor: &builtin.Truncate{}, OnError: quiet} },
		"Cost":          func() agent.Hook { return &builtin.Cost{} },
		"Critic":        func() agent.Hook { return &builtin.Critic{Model: approving()} },
		"DenyTools":     func() agent.Hook { return &builtin.DenyTools{Deny: []string{"rm"}} },
		"DoneGate": func() agent.Hook {
			return &builtin.DoneGate{Gates: []builtin.Gate{builtin.MinTools(1), builtin.AnswerSchema(`{}`)}, MaxRejections: 5}
		},
		"Echo":          func() agent.Hook { return &builtin.Echo{Writer: io.Discard} },
		"EchoedPayload": func() agent.Hook { return &builtin.EchoedPayload{} },
		"EpisodeLogger": func() agent.Hook {
			return &builtin.EpisodeLogger{Memory: &builtin.MemoryStore{}, Classify: builtin.FailureSignal, OnError: quiet}
		},
		"Eval": func() agent.Hook {
			return &builtin.Eval{Evaluators: []builtin.Evaluator{{Name: "yes", Grade: func(context.Context, builtin.EvalContext) (any, error) { return true, nil }}}}
		},
		"EventBridge":     func() agent.Hook { return &builtin.EventBridge{Bus: &bus{}} },
		"FailureNote":     func() agent.Hook { return &builtin.FailureNote{} },
		"FinishReason":    func() agent.Hook { return &builtin.FinishReason{Reasons: []string{"stop"}} },
		"Guards":          func() agent.Hook { return builtin.Guards{} },
		"InputGuard":      func() agent.Hook { return &builtin.InputGuard{Block: []string{"bomb"}} },
		"LoopDetector":    func() agent.Hook { return &builtin.LoopDetector{} },
		"MemoryExtractor": func() agent.Hook { return &builtin.MemoryExtractor{Memory: &builtin.MemoryStore{}} },
		"MemoryInjector":  func() agent.Hook { return &builtin.MemoryInjector{Store: &builtin.MemoryStore{}} },
		"Metrics":         func() agent.Hook { return &builtin.Metrics{Log: slog.New(slog.DiscardHandler)} },
		"ModelRecorder":   func() agent.Hook { return &builtin.ModelRecorder{Dir: filepath.Join(dir, "model"), OnError: quiet} },
		"NotesInjector":   func() agent.Hook { return &builtin.NotesInjector{Notes: &builtin.NotesText{}} },
		"OutputValidator": func() agent.Hook {
			return &builtin.OutputValidator{Validators: []builtin.Validator{builtin.RedactPII(), builtin.LengthCap(100), builtin.SchemaCheck(`{}`)}}
		},
		"Permissions": func() agent.Hook {
			return &builtin.Permissions{Rules: []builtin.Rule{{Tool: "*", Decision: builtin.DecideAsk, Args: builtin.Expr("args.n > 0")}, {Tool: "*", Decision: builtin.DecideDeny, Args: builtin.PathGlob("at", "**/x")}}}
		},
		"PersistSession": func() agent.Hook {
			return &builtin.PersistSession{Store: &builtin.Sessions{Store: &builtin.MapStore{}}}
		},
		"PolicyCheck":    func() agent.Hook { return &builtin.PolicyCheck{Provider: policy{}, OnError: quiet} },
		"Provenance":     func() agent.Hook { return &builtin.Provenance{Dir: filepath.Join(dir, "provenance"), OnError: quiet} },
		"ReadOnly":       func() agent.Hook { return &builtin.ReadOnly{When: func(*agent.Run) bool { return true }} },
		"RecoveryHint":   func() agent.Hook { return &builtin.RecoveryHint{Text: "Read the error."} },
		"RunHistory":     func() agent.Hook { return &builtin.RunHistory{Store: &builtin.MapStore{}} },
		"RunSummary":     func() agent.Hook { return &builtin.RunSummary{Dir: filepath.Join(dir, "summary"), Enabled: true} },
		"SchemaRetry":    func() agent.Hook { return &builtin.SchemaRetry{} },
		"ShellGuard":     func() agent.Hook { return &builtin.ShellGuard{} },
		"SmallModel":     func() agent.Hook { return builtin.SmallModel{} },
		"StageBriefing":  func() agent.Hook { return &builtin.StageBriefing{Stages: map[int]string{3: "now"}} },
		"Stagnation":     func() agent.Hook { return &builtin.Stagnation{} },
		"StaticBriefing": func() agent.Hook { return &builtin.StaticBriefing{Text: "always"} },
		"Steering":       func() agent.Hook { return &builtin.Steering{} },
		"StepLimit":      func() agent.Hook { return &builtin.StepLimit{} },
		"Stream": func() agent.Hook {
			return &builtin.Stream{Emit: func(context.Context, builtin.StreamEvent) error { return nil }}
		},
		"Tap":            func() agent.Hook { return &builtin.Tap{Sink: func(context.Context, builtin.TapEvent) {}} },
		"TheoryNote":     func() agent.Hook { return &builtin.TheoryNote{} },
		"TimeLimit":      func() agent.Hook { return &builtin.TimeLimit{} },
		"Timing":         func() agent.Hook { return &builtin.Timing{} },
		"TokenBudget":    func() agent.Hook { return &builtin.TokenBudget{} },
		"TokenLimit":     func() agent.Hook { return &builtin.TokenLimit{} },
		"ToolErrorRetry": func() agent.Hook { return &builtin.ToolErrorRetry{} },
		"ToolLimit":      func() agent.Hook { return &builtin.ToolLimit{Default: builtin.AtMost(2)} },
		"Tracing":        func() agent.Hook { return &builtin.Tracing{Exporter: &builtin.SpanRecorder{}} },
		"Trajectory":     func() agent.Hook { return &builtin.Trajectory{Dir: filepath.Join(dir, "trajectory"), OnError: quiet} },
		"TruncateOutput": func() agent.Hook { return &builtin.TruncateOutput{} },
	}
}

// TestEveryHookConforms runs the conformance suite on every hook of the package.
func TestEveryHookConforms(t *testing.T) {
	for name, newHook := range ready(t) {
		t.Run(name, func(t *testing.T) { looptest.Check(t, newHook) })
	}
}

// TestEveryHookIsChecked finds every type of the package that has a Bind among those that the conformance suite checks,
// and an example of each.
func TestEveryHookIsChecked(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	checked := ready(t)
	var hooks []string
	examples := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if hook, ok := strings.CutPrefix(fn.Name.Name, "Example"); ok {
				examples[hook] = true
			}
			if f.Name.Name == "builtin" && fn.Recv != nil && fn.Name.Name == "Bind" {
				recv := fn.Recv.List[0].Type
				if star, ok := recv.(*ast.StarExpr); ok {
					recv = star.X
				}
				if id, ok := recv.(*ast.Ident); ok && id.IsExported() {
					hooks = append(hooks, id.Name)
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
			t.Errorf("there is no hook %s", hook)
		}
	}
}

// always is a model that always gives the same reply.
type always struct{ reply agent.LLMResponse }

func (a always) Generate(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
	return a.reply, nil
}

// policy allows everything.
type policy struct{}

func (policy) Evaluate(context.Context, builtin.PolicyRequest) (builtin.PolicyDecision, error) {
	return builtin.PolicyDecision{Allow: true}, nil
}

// TestHooksThatAreSwitchedOffDoNothing uses hooks in configurations in which they have nothing to do. They are legal, because
// programs read configurations from files.
func TestHooksThatAreSwitchedOffDoNothing(t *testing.T) {
	blank := filepath.Join(t.TempDir(), "blank.md")
	if err := os.WriteFile(blank, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, newHook := range map[string]func() agent.Hook{
		"ContextConfig": func() agent.Hook { return &builtin.ContextConfig{} },
		"FinishReason":  func() agent.Hook { return &builtin.FinishReason{} },
		"Guards": func() agent.Hook {
			return builtin.Guards{Steps: builtin.NoLimit[int](), Tokens: builtin.NoLimit[int](), Time: builtin.NoLimit[time.Duration]()}
		},
		"RunSummary":     func() agent.Hook { return &builtin.RunSummary{} },
		"StageBriefing":  func() agent.Hook { return &builtin.StageBriefing{} },
		"StaticBriefing": func() agent.Hook { return &builtin.StaticBriefing{File: blank} },
		"StepLimit":      func() agent.Hook { return &builtin.StepLimit{Max: builtin.NoLimit[int]()} },
		"TimeLimit":      func() agent.Hook { return &builtin.TimeLimit{Max: builtin.NoLimit[time.Duration]()} },
		"TokenLimit":     func() agent.Hook { return &builtin.TokenLimit{Max: builtin.NoLimit[int]()} },
		"Tracing":        func() agent.Hook { return &builtin.Tracing{} },
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
