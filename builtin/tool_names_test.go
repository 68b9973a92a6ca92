package builtin_test

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/builtin/declared"
	"github.com/hookgen/hookgen/builtin/declared/claudecode"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// namingTools returns hooks that name the tool, by the part of the report that says where. Those without such a part
// are registered for the tool alone, so that the loop reports them.
func namingTools(t *testing.T, tool string) map[string]agent.Hook {
	t.Helper()
	names := []string{tool}
	rules := &permission.Rules{List: []permission.Rule{{Tool: tool, Decision: permission.Deny}}}
	hooks := map[string]agent.Hook{
		"permission.Confirm (":               &permission.Confirm{Tools: names},
		"permission.DenyTools (":             &permission.DenyTools{Deny: names},
		"permission.DenyTools (Allow[0]":     &permission.DenyTools{Allow: names},
		"permission.ReadOnly (Tools[0]":      &permission.ReadOnly{Tools: names},
		"permission.Rules (List[0].Tool":     rules,
		"limit.Throttle (":                   &limit.Throttle{Tools: names},
		"limit.Tools (Limits[":               &limit.Tools{Limits: map[string]int{tool: 1}},
		"answer.Gate (Conditions[0]":         &answer.Gate{Conditions: []answer.Condition{answer.RequireTool(tool)}},
		"prompt.Skills (List[0].Tools[0]":    &prompt.Skills{List: []prompt.Skill{{Name: "pay back", Tools: names}}},
		"repair.LoopDetector (Poll[0]":       &repair.LoopDetector{Poll: names},
		"repair.Stagnation (Ignore[0]":       &repair.Stagnation{Ignore: names},
		"retry.Breaker (Tools[0]":            &retry.Breaker{Tools: names},
		"retry.Tools (Idempotent[0]":         &retry.Tools{Idempotent: names},
		"window.TruncateOutput (PerTool[":    &window.TruncateOutput{PerTool: map[string]limit.Bound[int]{tool: 1}},
		"claudecode.Hooks (Tools[":           &claudecode.Hooks{Tools: map[string]claudecode.Tool{tool: {Name: "Bash"}}},
		"claudecode.Hooks (the matcher 1 of": nil,
	}
	path := filepath.Join(t.TempDir(), "settings.json")
	text := `{"hooks": {"PreToolUse": [{"matcher": "` + tool + `", "hooks": [{"type": "command", "command": "true"}]}]}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	scripts, err := claudecode.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	hooks["claudecode.Hooks (the matcher 1 of"] = scripts
	return hooks
}

// warningsWith runs an agent with one tool and returns what its hooks log, and the warnings of the result.
func warningsWith(t *testing.T, tool string, add func(h *agent.Hooks)) string {
	t.Helper()
	before := slog.Default()
	defer slog.SetDefault(before)
	var log bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	hooks := new(agent.Hooks)
	add(hooks)
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call(tool, nil), looptest.Reply("ok")},
		Agent: &loop.Agent{Name: "desk", Hooks: hooks, Tools: []agent.Tool{&looptest.Tool{Name: tool}}},
	}.Run(t, "go")
	for _, w := range ran.Warnings {
		log.WriteString(w + "\n")
	}
	return log.String()
}

func TestHooksReportToolsThatNobodyHas(t *testing.T) {
	for name, hook := range namingTools(t, "refund") {
		who, where, _ := strings.Cut(name, " (")
		parts := []string{"hook=" + who, where, "similar=desk__refund"}
		if where == "" {
			parts = []string{"the hook " + who, "did you mean desk__refund?"}
		}
		t.Run(name, func(t *testing.T) {
			log := warningsWith(t, "desk__refund", func(h *agent.Hooks) { h.Use(hook) })
			for _, part := range parts {
				plain := strings.NewReplacer(`\"`, "", `"`, "")
				if !strings.Contains(plain.Replace(log), plain.Replace(part)) || strings.Count(log, "\n") != 1 {
					t.Errorf("%s is not in the only warning: %s", part, log)
				}
			}
		})
	}
}

// Somebody narrows a hook to one tool. That works for each hook whose points are all about calls of tools, as these
// are.
func TestHooksOfCallsCanBeNarrowed(t *testing.T) {
	var got []string
	hooks := ready(t)
	for _, name := range slices.Sorted(maps.Keys(hooks)) {
		if !slices.ContainsFunc(narrowed(hooks[name]()).Points(), func(p hookkit.PointInfo) bool {
			return len(p.Hooks())+len(p.Observers()) > 0 && p.Key != "Tool"
		}) {
			got = append(got, name)
		}
	}
	want := []string{"guardrail.Output", "limit.Throttle", "limit.Tools", "permission.ApprovalStop", "permission.Confirm",
		"permission.DenyTools", "permission.Policy", "permission.ReadOnly", "permission.Rules", "repair.LoopDetector",
		"repair.SchemaRetry", "repair.ToolErrorRetry", "retry.Tools", "shell.Guard",
		"window.Retrospective", "window.TruncateOutput"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the hooks of calls (-want +got):\n%s", diff)
	}
	for _, name := range got {
		t.Run(name, func(t *testing.T) {
			for _, p := range narrowed(hooks[name](), agent.ForTool("rm")).Points() {
				for _, h := range slices.Concat(p.Hooks(), p.Observers()) {
					if !slices.Equal(h.Keys, []any{"rm"}) || h.Name != name {
						t.Errorf("at %s, %s is registered for %v", p.Name, h.Name, h.Keys)
					}
				}
			}
		})
	}
}

// narrowed returns new Hooks with a hook.
func narrowed(hook agent.Hook, opts ...hookkit.UseOption) *agent.Hooks {
	hooks := new(agent.Hooks)
	hooks.Use(hook, opts...)
	return hooks
}

func TestHooksDoNotReportToolsOfAgent(t *testing.T) {
	for name, hook := range namingTools(t, "refund") {
		t.Run(name, func(t *testing.T) {
			if log := warningsWith(t, "refund", func(h *agent.Hooks) { h.Use(hook) }); log != "" {
				t.Error(log)
			}
		})
	}
}

func TestDeclaredHooksReportToolsThatNobodyHas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hooks.json")
	text := `{"hooks": [{"name": "guard", "at": ["OnPermission"], "tools": ["refund"], "command": ["true"],
		"on_failure": "refuse"}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file := &declared.File{Path: path}
	log := warningsWith(t, "desk__refund", func(h *agent.Hooks) {
		if err := file.Load(h); err != nil {
			t.Fatal(err)
		}
	})
	if strings.Count(log, "\n") != 1 || !strings.Contains(log, "guard") ||
		!strings.Contains(log, "at=tools[0] name=refund") {
		t.Error(log)
	}
}

func TestReportsWaitForToolsOfHooks(t *testing.T) {
	late := func(_ context.Context, run *agent.Run, _ agent.RunStart) (agent.OnRunStartOutcome, error) {
		return nil, run.Env.Tools.Add(&looptest.Tool{Name: "refund"})
	}
	log := warningsWith(t, "desk__refund", func(h *agent.Hooks) {
		h.Use(&permission.Confirm{Tools: []string{"refund"}})
		h.OnRunStart.AddFunc(late)
	})
	if log != "" {
		t.Error(log)
	}
}
