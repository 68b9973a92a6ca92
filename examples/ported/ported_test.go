package ported_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/examples/ported"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// prompts returns the briefing of each prompt of a run.
func prompts(ran *looptest.Ran) []string {
	var texts []string
	for _, fired := range hooktest.PayloadsOf[agent.LLMRequest](ran.Recorder, "BeforeLLM") {
		text := ""
		for _, m := range fired.Messages {
			if m.Name == agent.BriefingName {
				text = m.Content
			}
		}
		texts = append(texts, text)
	}
	return texts
}

func TestPortedHooksAddTextsToThePrompt(t *testing.T) {
	search := looptest.Call("search", nil)
	failing := &looptest.Tool{Name: "search", Err: errors.New("down")}
	working := &looptest.Tool{Name: "search", Result: "1"}
	for name, c := range map[string]struct {
		hook  agent.Hook
		tool  *looptest.Tool
		turns []looptest.Turn
		max   int
		want  []string
	}{
		"brief note": {
			ported.BriefNote{}, working, []looptest.Turn{search, looptest.Reply("x")}, 0, []string{
				"Remember: be brief.", "Remember: be brief.",
			},
		},
		"progress": {
			ported.Progress{}, failing, []looptest.Turn{search, looptest.Reply("x")}, 0, []string{"", "⚠ search failed: down"},
		},
		"dedup": {
			&ported.Dedup{}, working, []looptest.Turn{search, search, looptest.Reply("x")}, 0, []string{
				"", "", "⚠ DUPLICATE: You already called search with these args. Try different parameters or a different tool.",
			},
		},
		"theory": {
			&ported.Theory{}, working, []looptest.Turn{looptest.Call("search", map[string]string{"__theory__": "rain"}),
				looptest.Reply("x")}, 0, []string{"Current working theory: No theory yet", "Current working theory: rain"},
		},
		"budget": {
			ported.Budget{}, working, []looptest.Turn{search, looptest.Reply("x")}, 3, []string{
				"Budget alert: 3 steps remaining.", "⚠ CRITICAL: Only 2 steps left. Wrap up NOW.",
			},
		},
		"stages": {
			ported.CodeReviewGuidance{}, working, []looptest.Turn{search, search, looptest.Reply("x")}, 0, []string{
				"Start by listing all changed files to understand scope.", "",
				"Focus on security-sensitive patterns: auth, crypto, SQL.",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ran := looptest.Harness{Turns: c.turns, Tools: []agent.Tool{c.tool}, Hooks: []agent.Hook{c.hook},
				Agent: &loop.Agent{Limits: loop.Limits{Steps: c.max}}}.Run(t, "go")
			if diff := cmp.Diff(c.want, prompts(ran)); diff != "" {
				t.Errorf("briefings (-want +got):\n%s", diff)
			}
			for _, m := range ran.Messages {
				if c.want[0] != "" && strings.Contains(m.Content, c.want[0]) {
					t.Error("a text for one prompt is in the stored conversation")
				}
			}
		})
	}
}

func TestDenyShellKeepsTheToolFromRunning(t *testing.T) {
	bash := &looptest.Tool{Name: "bash", Result: "boom"}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("bash", nil), looptest.Reply("x")}, Tools: []agent.Tool{bash},
		Hooks: []agent.Hook{ported.DenyShell{}},
	}.Run(t, "go")
	if bash.Count() != 0 || ran.Calls[0].Reason != "Shell tools disabled" {
		t.Errorf("ran %d times; %+v", bash.Count(), ran.Calls[0])
	}
}

func TestMinimumEvidenceRejectsAnEarlyAnswer(t *testing.T) {
	ran := looptest.Harness{Turns: []looptest.Turn{
		looptest.Reply("early"), looptest.Call("search", nil), looptest.Reply("late"),
	},
		Tools: []agent.Tool{&looptest.Tool{Name: "search", Result: "1"}}, Hooks: []agent.Hook{
			ported.MinimumEvidence{MinTools: 1},
		}}.Run(t, "go")
	ran.Recorder.Decided(t, "CheckDone", "ported.MinimumEvidence", "RejectDone", "minimum_evidence")
	if ran.Reply != "late" {
		t.Errorf("reply %q", ran.Reply)
	}
}

func TestMonitorCountsAndDecisionAuditWritesDown(t *testing.T) {
	monitor, out := &ported.Monitor{}, &bytes.Buffer{}
	looptest.Harness{Turns: []looptest.Turn{looptest.Call("search", nil), looptest.Call("bash", nil), looptest.Reply("x")},
		Tools: []agent.Tool{&looptest.Tool{Name: "search", Result: "1"}, &looptest.Tool{Name: "bash"}},
		Hooks: []agent.Hook{monitor, ported.DenyShell{}, &ported.DecisionAudit{Writer: out}}}.Run(t, "go")
	if diff := cmp.Diff(map[string][2]int{"search": {1, 0}, "bash": {1, 1}}, monitor.Calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	var line map[string]string
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line["hook"] != "ported.DenyShell" ||
		line["reason"] != "Shell tools disabled" {
		t.Errorf("the audit says %s (%v)", out, err)
	}
}

func TestGuardStopsARun(t *testing.T) {
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Call("search", nil), looptest.Reply("never")},
		Tools: []agent.Tool{&looptest.Tool{Name: "search", Result: "1"}}, Hooks: []agent.Hook{
			ported.Guard{MaxSteps: 1},
		}}.Run(t, "go")
	if ran.Stop.Message != "Step limit reached: 1/1" {
		t.Errorf("stopped by %+v", ran.Stop)
	}
}

// TestEachHookIsShort checks the promise of the package comment: ten to thirty lines of code per hook.
func TestEachHookIsShort(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "doc.go" {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				continue
			}
			lines += fset.Position(d.End()).Line - fset.Position(d.Pos()).Line + 1
		}
		if lines > 30 {
			t.Errorf("%s has %d lines of code", name, lines)
		}
	}
}
