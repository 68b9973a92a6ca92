package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func play(t *testing.T, input string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), args, strings.NewReader(input), &out, false); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestEveryDecisionIsShownWithItsReason(t *testing.T) {
	out := play(t, "y\n")
	for _, want := range []string{
		"Deny: removing files is not allowed",
		"SkipTool: loop_hint by repair.LoopDetector",
		"Ask: run_command needs a confirmation by permission.Confirm",
		"ok: build -cache rebuild",
		"beBrief Collect",
		"reply The cache was full",
		"stopped by completed",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the screen does not show %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestQuietShowsQuestionsAndReply(t *testing.T) {
	out := play(t, "", "-yes", "-quiet")
	if strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "The cache was full") {
		t.Errorf("the screen shows %q", out)
	}
	out = play(t, "y\n", "-quiet")
	if !strings.Contains(out, "run_command") || strings.Contains(out, "BeforeTool") {
		t.Errorf("the screen shows %q", out)
	}
}

func TestEveryPointThatFiresIsShown(t *testing.T) {
	out := play(t, "", "-yes")
	for _, point := range []string{
		"OnRunStart", "ShouldStop", "BeforeStep", "ShouldCompact", "Briefing", "BeforeLLM", "AroundLLM", "AfterLLM",
		"BeforeTool",
		"OnPermission", "OnPermissionDenied", "AroundTool", "AfterTool", "AfterStep", "CheckDone", "OnDoneAccepted",
		"OnStop", "BeforeRunEnd", "OnRunEnd",
	} {
		if !strings.Contains(out, "\n"+point+" ") {
			t.Errorf("the screen does not show %s", point)
		}
	}
}

func TestNoCommandRunsWithoutAYes(t *testing.T) {
	for _, answer := range []string{"n\n", "\n", ""} {
		if out := play(t, answer); strings.Contains(out, "ok: build") {
			t.Errorf("the answer %q ran the command", answer)
		}
	}
}

func TestExplainShowsTheOrderAndRunsNothing(t *testing.T) {
	out := play(t, "", "-explain")
	first, second := strings.Index(out, "permission.Confirm"), strings.Index(out, "denyRemoval")
	if first < 0 || second < first {
		t.Errorf("want Confirm before denyRemoval:\n%s", out)
	}
	for _, p := range new(agent.Hooks).Points() {
		if !strings.Contains(out, p.Name+"(") {
			t.Errorf("%s is not explained", p.Name)
		}
	}
	if strings.Contains(out, "reply") {
		t.Error("the agent ran")
	}
}

func TestTraceAndAuditAreValidJSONLines(t *testing.T) {
	trace, audit := filepath.Join(t.TempDir(), "trace"), filepath.Join(t.TempDir(), "audit")
	play(t, "", "-yes", "-trace", trace, "-audit", audit)
	for _, path := range []string{trace, audit} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
		if len(lines) < 10 {
			t.Errorf("%s has %d lines", filepath.Base(path), len(lines))
		}
		for _, l := range lines {
			if !json.Valid(l) {
				t.Errorf("%s: not JSON: %s", filepath.Base(path), l)
			}
		}
	}
}

func TestOutputsOfToolsCannotCommandTheTerminal(t *testing.T) {
	if got := summary("a\x1b[2Jb\u202ec"); strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("%q reaches the terminal", got)
	}
}
