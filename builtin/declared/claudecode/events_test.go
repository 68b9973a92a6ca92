package claudecode_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/declared/claudecode"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// noTools are the tools of a host that has none.
type noTools struct{ agent.ToolTable }

func (noTools) Lookup(string) (agent.ToolSchema, bool) { return agent.ToolSchema{}, false }

// outcome renders the exit and the error of a point.
func outcome(exit any, err error) string {
	switch {
	case err != nil && strings.Contains(err.Error(), "exit status 1"):
		return "failed"
	case err != nil:
		return err.Error()
	case exit == nil:
		return "nothing"
	}
	return fmt.Sprintf("%T %+v", exit, exit)
}

// TestEventsOfPoints fires each point with one script that fails, decides or says nothing.
func TestEventsOfPoints(t *testing.T) {
	call := agent.ToolCallRequest{ID: "1", Name: "shell", Args: []byte(`{"cmd":"ls"}`), Step: 1}
	other := agent.ToolCallRequest{ID: "1", Name: "other", Args: []byte(`{"command":"ls"}`), Step: 1}
	ask := func(c agent.ToolCallRequest) func(*testing.T, *agent.Hooks, *agent.Run) string {
		return func(t *testing.T, all *agent.Hooks, run *agent.Run) string {
			exit, err := all.BeforeAsk.Fire(t.Context(), run, agent.Question{Call: c})
			if approve, ok := exit.(agent.Approve); ok {
				return fmt.Sprintf("approve %s %s", approve.Args, approve.Remember)
			}
			if refuse, ok := exit.(agent.Refuse); ok {
				return fmt.Sprintf("refuse %q %t", refuse.Reason, refuse.StopRun)
			}
			return outcome(exit, err)
		}
	}
	start := func(s agent.RunStart) func(*testing.T, *agent.Hooks, *agent.Run) string {
		return func(t *testing.T, all *agent.Hooks, run *agent.Run) string {
			exit, err := all.OnRunStart.Fire(t.Context(), run, &s)
			return outcome(exit, err) + ", task " + s.Task
		}
	}
	permission := func(t *testing.T, all *agent.Hooks, run *agent.Run) string {
		exit, err := all.OnPermission.Fire(t.Context(), run, call)
		signals, _ := all.ShouldStop.Fire(t.Context(), run, agent.Step{})
		return fmt.Sprintf("%s, %d stops", outcome(exit, err), len(signals))
	}
	after := func(t *testing.T, all *agent.Hooks, run *agent.Run) string {
		result := agent.ToolCallResult{Call: call, Output: "x", Attempts: 1, Status: agent.CallSucceeded}
		exit, err := all.AfterTool.Fire(t.Context(), run, &result)
		signals, _ := all.ShouldStop.Fire(t.Context(), run, agent.Step{})
		return fmt.Sprintf("%s, %q, %d stops", outcome(exit, err), result.Context, len(signals))
	}
	step := func(results int) func(*testing.T, *agent.Hooks, *agent.Run) string {
		return func(t *testing.T, all *agent.Hooks, run *agent.Run) string {
			contributed := 0
			all.AfterStep.Fire(t.Context(), run, agent.StepResult{Results: make([]agent.ToolCallResult, results)})
			for range 2 { // the prompt may be built twice
				texts := all.Briefing.Fire(t.Context(), run, agent.Step{Number: 2})
				contributed += len(texts)
			}
			signals, _ := all.ShouldStop.Fire(t.Context(), run, agent.Step{})
			return fmt.Sprintf("%d texts, %v", contributed, signals)
		}
	}
	compacted := func(failure string) func(*testing.T, *agent.Hooks, *agent.Run) string {
		return func(t *testing.T, all *agent.Hooks, run *agent.Run) string {
			err := all.AfterCompact.Fire(t.Context(), run, &agent.Compacted{Err: failure, Summary: "short"})
			return fmt.Sprint(outcome(nil, err), " ", all.Briefing.Fire(t.Context(), run, agent.Step{Number: 1}))
		}
	}
	failed := func(where, why string) func(*testing.T, *agent.Hooks, *agent.Run) string {
		return func(t *testing.T, all *agent.Hooks, run *agent.Run) string {
			exit, err := all.OnRunError.Fire(t.Context(), run, agent.RunError{Where: where, Err: why})
			return outcome(exit, err)
		}
	}
	compact := func(t *testing.T, all *agent.Hooks, run *agent.Run) string {
		exit, err := all.BeforeCompact.Fire(t.Context(), run, agent.Compaction{Reason: agent.CompactRequested})
		return outcome(exit, err)
	}
	denied := func(t *testing.T, all *agent.Hooks, run *agent.Run) string {
		failures := 0
		all.HandleFailures(func(context.Context, *hookkit.Failure) { failures++ })
		all.OnPermissionDenied.Fire(t.Context(), run, agent.Denial{Call: call, Reason: "rule"})
		return fmt.Sprintf("%d failures", failures)
	}
	done := func(t *testing.T, all *agent.Hooks, run *agent.Run) string {
		exit, err := all.CheckDone.Fire(t.Context(), run, &agent.DoneRequest{Answer: "x"})
		if reject, ok := exit.(agent.RejectDone); ok {
			return reject.Feedback
		}
		return outcome(exit, err)
	}
	const fail, stop = "echo down >&2; exit 1", `{"continue":false,"stopReason":"enough"}`
	keeps := func(event string) string { return "cat >seen; " + specific(event, `"additionalContext":"mind"`) }
	for _, c := range []struct {
		name, event, text string
		fire              func(*testing.T, *agent.Hooks, *agent.Run) string
		want              string
		seen              string // what the script has read, if it keeps it
		reported          int    // failures
	}{
		{"ask fails", "PermissionRequest", fail, ask(call), "failed", "", 0},
		{"ask stops", "PermissionRequest", say(stop), ask(call), `refuse "enough" true`, "", 0},
		{"ask says nothing", "PermissionRequest", "exit 0", ask(call), "nothing", "", 0},
		{"ask allows", "PermissionRequest", specific("PermissionRequest",
			`"decision":{"behavior":"allow","updatedInput":{"command":"a"}}`), ask(call), `approve {"cmd":"a"} `, "", 0},
		{"ask allows a tool without other names", "PermissionRequest", specific("PermissionRequest",
			`"decision":{"behavior":"allow","updatedInput":{"command":"a"}}`), ask(other), `approve {"command":"a"} `, "", 0},
		{"ask keeps no rule", "PermissionRequest", specific("PermissionRequest", `"decision":{"behavior":"allow",`+
			`"updatedPermissions":[{"type":"addRules"}]}`), ask(call), "approve  ", "", 1},
		{"denial", "PermissionDenied", "cat >seen", denied, "0 failures", `"reason":"rule"`, 0},
		{"denial fails", "PermissionDenied", fail, denied, "1 failures", "", 0},
		{"session fails", "SessionStart", fail, start(agent.RunStart{Task: "x"}), "failed, task x", "", 0},
		{"prompt fails", "UserPromptSubmit", fail, start(agent.RunStart{Task: "x"}), "failed, task x", "", 0},
		{"prompt of a resumed run", "UserPromptSubmit", fail, start(agent.RunStart{Resumed: "r"}), "nothing, task ", "", 0},
		{"initial prompt", "SessionStart", specific("SessionStart", `"initialUserMessage":"begin"`),
			start(agent.RunStart{}), "nothing, task begin", "", 0},
		{"initial prompt and a task", "SessionStart", specific("SessionStart", `"initialUserMessage":"begin"`),
			start(agent.RunStart{Task: "x"}), "nothing, task x", "", 0},
		{"permission of an unknown call", "PreToolUse", specific("PreToolUse", `"permissionDecision":"allow"`), permission,
			"agent.Allow {Reason:}, 0 stops", "", 0},
		{"permission asks", "PreToolUse", specific("PreToolUse", `"permissionDecision":"ask"`), permission,
			"agent.Ask {Prompt: Reason: Choices:[]}, 0 stops", "", 0},
		{"permission with an update", "PreToolUse", specific("PreToolUse", `"updatedInput":{"command":"a"}`), permission,
			"agent.Deny {Reason:a PreToolUse hook would change the arguments once more}, 0 stops", "", 0},
		{"permission stops", "PreToolUse", say(stop), permission, "agent.Deny {Reason:enough}, 1 stops", "", 0},
		{"permission fails", "PreToolUse", fail, permission, "failed, 0 stops", "", 0},
		{"result fails", "PostToolUse", fail, after, `failed, [], 0 stops`, "", 0},
		{"result stops", "PostToolUse", say(stop),
			after, `agent.EndTurn {Reply:enough Reason:a PostToolUse hook stopped the run}, [], 0 stops`, "", 0},
		{"result stops with a text", "PostToolUse", say(`{"continue":false,"hookSpecificOutput":{"additionalContext":"c"}}`),
			after, `nothing, ["c"], 1 stops`, "", 0},
		{"no calls", "PostToolBatch", "echo x >seen", step(0), "0 texts, []", "", 0},
		{"a step with a text", "PostToolBatch", keeps("PostToolBatch"), step(1), "2 texts, []",
			`"tool_calls":[{"tool_input":{},"tool_name":""`, 0},
		{"a step that blocks", "PostToolBatch", say(`{"decision":"block","reason":"lint"}`), step(1),
			"0 texts, [{stop_requested lint map[] }]", "", 0},
		{"compaction", "PreCompact", "cat >seen", compact, "nothing", `"trigger":"manual"`, 0},
		{"compaction that is refused", "PreCompact", say(`{"decision":"block","reason":"later"}`), compact,
			"agent.SkipCompaction {Reason:later}", "", 0},
		{"compaction fails", "PreCompact", fail, compact, "failed", "", 0},
		{"after a compaction", "SessionStart", keeps("SessionStart"), compacted(""), "nothing [mind]",
			`"source":"compact"`, 0},
		{"after a failed compaction", "SessionStart", keeps("SessionStart"), compacted("no"), "nothing []", "", 0},
		{"end of a compaction", "PostCompact", "cat >seen", compacted(""), "nothing []", `"compact_summary":"short"`, 0},
		{"end of a compaction fails", "PostCompact", fail, compacted(""), "nothing []", "", 0},
		{"model fails", "StopFailure", "cat >seen", failed("LLM", "down"), "nothing", `"error_details":"down"`, 0},
		{"model is busy", "StopFailure", "cat >seen", failed("LLM", "openai: status 429 Too Many Requests"), "nothing",
			`"error":"rate_limit"`, 0},
		{"model is broken", "StopFailure", "cat >seen", failed("LLM", "openai: status 502 Bad Gateway"), "nothing",
			`"error":"server_error"`, 0},
		{"tool fails", "StopFailure", "cat >seen", failed("BeforeTool", "down"), "nothing", "", 0},
		{"model and script fail", "StopFailure", fail, failed("LLM", "down"), "nothing", "", 0},
		{"answer is refused without a reason", "Stop", say(`{"decision":"block"}`), done,
			"A Stop hook refused to stop. Continue.", "", 0},
		{"answer is refused with a context", "Stop", specific("Stop", `"additionalContext":"more"`), done, "more", "", 0},
		{"answer fails", "Stop", fail, done, "failed", "", 0},
		{"answer stops", "Stop", say(stop), done, "nothing", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, reported := hooks(t, script{c.event, "", c.text, ""}), 0
			h.FailClosed, h.OnError = true, func(error) { reported++ }
			all := new(agent.Hooks)
			all.Use(h)
			if got := c.fire(t, all, agent.NewRun(new(agent.Env))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if seen := read(t, h, "seen"); !strings.Contains(seen, c.seen) || c.seen == "" && seen != "" {
				t.Errorf("the script read %s", seen)
			}
			if reported != c.reported {
				t.Errorf("%d failures were reported", reported)
			}
		})
	}
	t.Run("in the background", func(t *testing.T) {
		h, failed := hooks(t, script{"PreToolUse", "", "exit 7", `, "async": true`}), make(chan error)
		h.OnError = func(err error) { failed <- err }
		all := new(agent.Hooks)
		all.Use(h)
		if got := permission(t, all, agent.NewRun(nil)); got != "nothing, 0 stops" {
			t.Errorf("it decided %s", got)
		}
		if err := <-failed; !strings.Contains(err.Error(), "exit status 7") {
			t.Errorf("reported %v", err)
		}
	})
	t.Run("context of a call", func(t *testing.T) {
		h := hooks(t, script{"PreToolUse", "", specific("PreToolUse", `"additionalContext":"mind"`), ""})
		all, run, before := new(agent.Hooks), agent.NewRun(nil), call
		all.Use(h)
		if exit, err := all.BeforeTool.Fire(t.Context(), run, &before); exit != nil || err != nil {
			t.Fatal(exit, err)
		}
		for _, want := range []string{`nothing, ["mind"], 0 stops`, `nothing, [], 0 stops`} { // once
			if got := after(t, all, run); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
	t.Run("a sub-agent fails", func(t *testing.T) {
		h := hooks(t, script{"SubagentStart", "", fail, ""})
		h.FailClosed = true
		all := new(agent.Hooks)
		all.Use(h)
		inner := hookkit.ResumeRun(new(agent.Env), "2", "1", "1")
		if exit, err := all.OnRunStart.Fire(t.Context(), inner, &agent.RunStart{Task: "x"}); outcome(exit, err) != "failed" {
			t.Errorf("it started: %v, %v", exit, err)
		}
	})
	t.Run("an unknown tool", func(t *testing.T) {
		h := hooks(t, script{"PreToolUse", "", "echo never >&2; exit 2", ""})
		all, unknown := new(agent.Hooks), call
		all.Use(h)
		exit, err := all.BeforeTool.Fire(t.Context(), agent.NewRun(&agent.Env{Tools: noTools{}}), &unknown)
		if exit != nil || err != nil {
			t.Errorf("a script judged it: %v, %v", exit, err)
		}
	})
	t.Run("no scripts", func(t *testing.T) {
		all := new(agent.Hooks)
		all.Use(new(claudecode.Hooks))
		if n := len(all.BeforeTool.List()) + len(all.CheckDone.List()); n != 0 {
			t.Errorf("%d hooks without a script", n)
		}
	})
}
