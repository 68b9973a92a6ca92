package systems

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// textOf reads a file.
func textOf(t testing.TB, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// modelCalls reads the manifest of a recorded run.
func modelCalls(t testing.TB, dir string) (calls []record.ModelCall) {
	t.Helper()
	for line := range strings.Lines(textOf(t, dir, "manifest.jsonl")) {
		var c record.ModelCall
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		calls = append(calls, c)
	}
	return calls
}

// trajectoryOf reads the trajectory of a recorded run.
func trajectoryOf(t testing.TB, dir string) record.TrajectoryRun {
	t.Helper()
	r, err := record.ReadTrajectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// plain is a model that cannot stream.
type plain struct{ agent.Model }

func TestEveryPromptAndReplyIsRecorded(t *testing.T) {
	dir := t.TempDir()
	ran := looptest.Harness{
		Turns: all(looptest.Call("work", `{"n":1}`).Says("I look"), looptest.Error(errBoom)),
		Tools: all[agent.Tool](work()),
		Hooks: all[agent.Hook](&record.Provenance{Dir: dir, OneRun: true}),
	}.Run(t, "when?")
	calls := modelCalls(t, dir)
	if len(calls) != 2 || calls[0].Error != nil || calls[1].Error == nil || !strings.HasSuffix(*calls[1].Error, "boom") ||
		calls[0].Method != "generate_with_tools" || calls[0].StepNum != 1 {
		t.Fatalf("recorded %+v", calls)
	}
	if !errors.Is(ran.Failed, errBoom) {
		t.Errorf("the model's error is not passed on: %v", ran.Failed)
	}
	contains(t, textOf(t, dir, "call_00_prompt.txt"), "[user]\nwhen?")
	contains(t, textOf(t, dir, "call_00_response.txt"), "I look", `work {"n":1}`)

	dir = t.TempDir() // without tools, and more than is kept
	looptest.Harness{
		Turns: working(0),
		Hooks: all[agent.Hook](&record.Provenance{Dir: dir, OneRun: true, MaxChars: 100}),
	}.Run(t, strings.Repeat("ä", 500_000))
	if calls := modelCalls(t, dir); calls[0].Method != "generate" || calls[0].ToolCount != 0 ||
		calls[0].PromptChars != 500_000 {
		t.Errorf("recorded %+v", calls)
	}
	if text := textOf(t, dir, "call_00_prompt.txt"); len(text) > 300 || !strings.Contains(text, "[truncated ") {
		t.Errorf("the prompt is kept in %d bytes", len(text))
	}
	var recorder record.Provenance
	if _, streams := recorder.Wrap(plain{looptest.NewScript()}).(agent.StreamingModel); streams {
		t.Error("a model that cannot stream can when it is recorded")
	}
	if _, streams := recorder.Wrap(looptest.NewScript()).(agent.StreamingModel); !streams {
		t.Error("a model that can stream cannot when it is recorded")
	}

	const task = "password=hunter2 for project Nemesis"
	own := redact.Redactor{Patterns: all(regexp.MustCompile("Nemesis"))}
	for name, c := range map[string]struct {
		redact     redact.Redactor
		upstream   record.SendRedacted
		sent, kept string
	}{
		"by default": {redact.Redactor{}, 0, task, "password=[REDACTED] for project Nemesis"},
		"upstream": {
			own,
			record.RedactAll,
			"password=[REDACTED] for project [REDACTED]",
			"password=[REDACTED] for project [REDACTED]",
		},
		"disk only": {own, record.RedactNothing, task, "password=[REDACTED] for project [REDACTED]"},
		"off":       {redact.Redactor{KeepSecrets: true, KeepPersonal: true}, record.RedactAll, task, task},
	} {
		dir := t.TempDir()
		ran := looptest.Harness{
			Turns: working(0),
			Hooks: all[agent.Hook](&record.Provenance{Dir: dir, OneRun: true, Redact: c.redact, SendRedacted: c.upstream}),
		}.Run(t, task)
		if sent := requestText(t, ran, 0); sent != c.sent || !strings.Contains(textOf(t, dir, "call_00_prompt.txt"), c.kept) {
			t.Errorf("%s: sent %q, kept %q", name, sent, textOf(t, dir, "call_00_prompt.txt"))
		}
	}
}

func TestATrajectoryHasEveryStepAndCause(t *testing.T) {
	dir, rejected := t.TempDir(), false
	p := &record.Provenance{Dir: dir, OneRun: true}
	gate := checkDone(func(agent.DoneRequest) (agent.CheckDoneOutcome, error) {
		if !rejected {
			rejected = true
			return agent.RejectDone{Feedback: "say more"}, nil
		}
		return nil, nil
	})
	var run *agent.Run
	ends := agent.OnRunEndFunc(func(_ context.Context, r *agent.Run, _ agent.AgentResult) error { run = r; return nil })
	looptest.Harness{
		Turns: all(looptest.Call("work", `{"n":1}`), looptest.Reply("soon"), looptest.Reply("at noon")),
		Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](p, gate, ends),
	}.Run(t, "when?")
	p.SetMetadata(run, "graded", "late")
	r := trajectoryOf(t, dir)
	if r.StepCount != 3 || len(r.Steps) != 3 || r.TerminationReason != "completed" || r.Reply != "at noon" ||
		r.LLMCallCount != 3 || r.Metadata["graded"] != "late" {
		t.Errorf("got %+v", r)
	}
	if r.Steps[0].ToolCall.Tool != "work" || r.Steps[0].ToolResult.Data != "done" || r.Steps[1].Rejected != "say more" ||
		r.Steps[1].Reply != "soon" || r.Steps[2].Reply != "at noon" {
		t.Errorf("the steps are %+v", r.Steps)
	}
	var again record.TrajectoryRun
	text, err := json.Marshal(r)
	if err != nil || json.Unmarshal(text, &again) != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if twice, err := json.Marshal(again); err != nil || string(twice) != string(text) {
		t.Errorf("after a round trip: %s, %v, was %s", twice, err, text)
	}
	for _, name := range []string{
		"manifest.jsonl", "trajectory.json", "call_00_prompt.txt", "call_02_response.txt", "steps/step_01.json",
		"steps/step_03.json",
	} {
		textOf(t, dir, name)
	}

	dir = t.TempDir() // a custom tool that ends the run
	submit := afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
		return agent.EndTurn{Reply: r.Output, Reason: "submitted"}, nil
	})
	looptest.Harness{
		Turns: working(1),
		Tools: all[agent.Tool](work()),
		Hooks: all[agent.Hook](&record.Provenance{Dir: dir, OneRun: true}, submit),
	}.Run(t, "x")
	if r := trajectoryOf(t, dir); r.TerminationReason != "stop_requested: submitted" || len(r.Steps) != 1 ||
		r.Reply != "done" {
		t.Errorf("got %+v", r)
	}
}

func TestARunIsReplayedFromFiles(t *testing.T) {
	dir := t.TempDir()
	looptest.Harness{
		Turns: working(2),
		Tools: all[agent.Tool](work()),
		Hooks: all[agent.Hook](&record.Provenance{Dir: dir, OneRun: true}),
	}.Run(t, "x")
	for _, without := range []string{"", "manifest.jsonl", "trajectory.json"} {
		if without != "" {
			if err := os.Remove(filepath.Join(dir, without)); err != nil {
				t.Fatal(err)
			}
		}
		model, err := record.Replay(dir)
		if err != nil {
			t.Fatal(err)
		}
		var d diary
		tool := &looptest.Tool{Name: "work", Result: "fresh"}
		ran := looptest.Harness{
			Agent: &loop.Agent{Model: model}, Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](d.noting("fired")),
		}.Run(t, "x")
		if ran.Reply != "ok" || ran.Steps != 3 || tool.Count() != 2 || ran.Calls[1].Output != "fresh" ||
			model.Remaining() != 0 || ran.Failed != nil {
			t.Errorf("without %q: %+v, %v", without, ran.AgentResult, ran.Failed)
		}
		if got := tool.Calls()[1]; string(got.Args) != `{"n":2}` {
			t.Errorf("the second call is %s", got.Args)
		}
		d.want(t, "fired", "fired")
	}
	for _, bad := range []string{filepath.Join(dir, "missing"), t.TempDir()} {
		if _, err := record.Replay(bad); err == nil {
			t.Errorf("%s was replayed", bad)
		}
	}
}

func TestASnapshotDescribesTheRun(t *testing.T) {
	dir, hooks := t.TempDir(), new(agent.Hooks)
	made := func(snapshot bool) record.TrajectoryRun {
		l := looptest.Harness{
			Turns: working(0),
			Tools: all[agent.Tool](work()),
			Agent: &loop.Agent{
				Hooks:        hooks,
				Instructions: strings.Repeat("é", 5000),
				Request:      agent.LLMRequest{Model: "m1"},
				Limits:       loop.Limits{Steps: 9},
			},
		}
		if snapshot {
			hooks.Use(&repair.LoopDetector{})
			l.Hooks = all[agent.Hook](&record.Provenance{Dir: dir, OneRun: true, Snapshot: true, Hooks: hooks})
		} else {
			l.Hooks = all[agent.Hook](&record.Provenance{Dir: dir, OneRun: true})
		}
		l.Run(t, "x")
		return trajectoryOf(t, dir)
	}
	if r := made(false); r.Snapshot != nil {
		t.Errorf("unasked there is %+v", r.Snapshot)
	}
	s := made(true).Snapshot
	if s == nil || !strings.HasPrefix(s.SystemPrompt, strings.Repeat("é", 3999)) || len([]rune(s.SystemPrompt)) > 4030 ||
		s.Model != "m1" || s.SchemaVersion != 2 || fmt.Sprint(s.Limits["max_steps"]) != "9" {
		t.Fatalf("the snapshot is %.200v", s)
	}
	if len(s.Tools) != 1 || s.Tools[0].Name != "work" || !slices.Contains(s.Hooks, "repair.LoopDetector") {
		t.Errorf("tools %v, hooks %v", s.Tools, s.Hooks)
	}
}

func TestRunsAreSavedOftenAndContinueThemselves(t *testing.T) {
	store := new(session.Map)
	run := func(turns ...looptest.Turn) *looptest.Ran {
		return looptest.Harness{
			Turns: turns,
			Tools: letters(),
			Hooks: all[agent.Hook](&session.Checkpoint{Store: store, Every: 2, Resume: true}),
		}.
			Do(t, t.Context(), loop.Request{Task: "the task", Conversation: "c"})
	}
	run(append(playing("abaab")[:5], looptest.Error(errBoom))...)
	keys, err := store.Keys(t.Context(), "")
	if err != nil ||
		!slices.Equal(keys, all("checkpoint///c/counters", "checkpoint///c/step/2", "checkpoint///c/step/4")) {
		t.Errorf("saved %q, %v", keys, err)
	}
	ran := run(playing("a")...)
	if got := ran.Script.Requests()[0].Messages; len(got) != 9 || got[0].Content != "the task" || ran.Reply != "ok" {
		t.Errorf("went on with %d messages: %+v", len(got), ran.AgentResult)
	}
	ran.Recorder.Decided(t, "OnRunStart", "session.Checkpoint", "Replace", "continues after step 4")
	ran.Recorder.InOrder(t, "OnRunStart", "BeforeStep", "BeforeLLM", "BeforeTool", "AfterTool", "AfterStep", "OnRunEnd")
	if keys, _ := store.Keys(t.Context(), ""); len(keys) != 0 {
		t.Errorf("when it is done there are %q", keys)
	}
}
