package builtin_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/builtin/declared"
	"github.com/hookgen/hookgen/builtin/declared/claudecode"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// namingTools returns hooks that name the tool, by the part of the report that says where.
func namingTools(t *testing.T, tool string) map[string]agent.Hook {
	t.Helper()
	names := []string{tool}
	rules := &permission.Rules{List: []permission.Rule{{Tool: tool, Decision: permission.Deny}}}
	hooks := map[string]agent.Hook{
		"permission.Confirm (Tools[0]":       &permission.Confirm{Tools: names},
		"permission.DenyTools (Deny[0]":      &permission.DenyTools{Deny: names},
		"permission.DenyTools (Allow[0]":     &permission.DenyTools{Allow: names},
		"permission.ReadOnly (Tools[0]":      &permission.ReadOnly{Tools: names},
		"permission.Rules (List[0].Tool":     rules,
		"limit.Throttle (Tools[0]":           &limit.Throttle{Tools: names},
		"limit.Tools (Limits[":               &limit.Tools{Limits: map[string]int{tool: 1}},
		"answer.SubmitOnce (Tool":            &answer.SubmitOnce{Tool: tool},
		"answer.Gate (Conditions[0]":         &answer.Gate{Conditions: []answer.Condition{answer.RequireTool(tool)}},
		"prompt.Skills (List[0].Tools[0]":    &prompt.Skills{List: []prompt.Skill{{Name: "pay back", Tools: names}}},
		"repair.LoopDetector (Poll[0]":       &repair.LoopDetector{Poll: names},
		"repair.Stagnation (Ignore[0]":       &repair.Stagnation{Ignore: names},
		"retry.Breaker (Tools[0]":            &retry.Breaker{Tools: names},
		"retry.Cache (Tools[0]":              &retry.Cache{Tools: names},
		"retry.Tools (Idempotent[0]":         &retry.Tools{Idempotent: names},
		"session.Results (Tools[0]":          &session.Results{Tools: names},
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

// warningsWith runs an agent with one tool and returns what its hooks log.
func warningsWith(t *testing.T, tool string, add func(h *agent.Hooks)) string {
	t.Helper()
	before := slog.Default()
	defer slog.SetDefault(before)
	var log bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	hooks := new(agent.Hooks)
	add(hooks)
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("ok")},
		Agent: &loop.Agent{Name: "desk", Hooks: hooks, Tools: []agent.Tool{&looptest.Tool{Name: tool}}},
	}.Run(t, "go")
	return log.String()
}

func TestHooksReportToolsThatNobodyHas(t *testing.T) {
	for name, hook := range namingTools(t, "refund") {
		who, where, _ := strings.Cut(name, " (")
		t.Run(name, func(t *testing.T) {
			log := warningsWith(t, "desk__refund", func(h *agent.Hooks) { h.Use(hook) })
			for _, part := range []string{"hook=" + who, where, "similar=desk__refund"} {
				plain := strings.NewReplacer(`\"`, "", `"`, "")
				if !strings.Contains(plain.Replace(log), plain.Replace(part)) || strings.Count(log, "\n") != 1 {
					t.Errorf("%s is not in the only warning: %s", part, log)
				}
			}
		})
	}
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
