package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func manifest(t testing.TB, dir string) (calls []record.ModelCall) {
	t.Helper()
	for line := range strings.Lines(string(fixture.ReadFile(t, filepath.Join(dir, "manifest.jsonl")))) {
		var c record.ModelCall
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		calls = append(calls, c)
	}
	return calls
}

func trajectory(t testing.TB, dir string) record.TrajectoryRun {
	t.Helper()
	r, err := record.ReadTrajectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestProvenanceWritesPromptsRepliesAndSteps(t *testing.T) {
	dir := t.TempDir()
	clock := looptest.NewClock(time.Unix(1_700_000_000, 0))
	tool := &looptest.Tool{Name: "search", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
		clock.Advance(30 * time.Millisecond)
		return "3 trains", nil
	}}
	provenance := &record.Provenance{Dir: dir, OneRun: true, Snapshot: true}
	n := 0
	hooks := []agent.Hook{provenance, provenance,
		agent.BriefingFunc(func(_ context.Context, _ *agent.Run, s agent.Step) ([]string, error) {
			return []string{fmt.Sprint("briefing of step ", s.Number)}, nil
		}),
		agent.CheckDoneFunc(func(context.Context, *agent.Run, agent.DoneRequest) (agent.CheckDoneOutcome, error) {
			if n++; n == 1 {
				return agent.RejectDone{Feedback: "say more"}, nil
			}
			return nil, nil
		}),
	}
	warm := 0.5
	looptest.Harness{
		Agent: &loop.Agent{Name: "clerk", Clock: clock, Instructions: "You are a clerk.",
			Request: agent.LLMRequest{Temperature: &warm, Model: "m1"}},
		Turns: []looptest.Turn{
			looptest.Calls(looptest.Call("search", `{"q":"x"}`),
				looptest.Call("nothing", nil)).Says("I look").Uses(agent.Usage{Input: 10, Output: 3}),
			looptest.Reply("soon"), looptest.Call("search", `{"q":"y"}`), looptest.Reply("at noon")},
		Tools: []agent.Tool{tool},
		Hooks: hooks,
	}.Run(t, "when?")

	calls := manifest(t, dir)
	if len(calls) != 4 {
		t.Fatalf("%d calls", len(calls))
	}
	for i, c := range calls {
		if c.Index != i || c.StepNum != i+1 || c.Method != "generate_with_tools" || c.Temperature == nil ||
			*c.Temperature != 0.5 || c.ToolCount != 1 ||
			c.Error != nil || c.Scope != "" || c.PromptChars == 0 || c.Timestamp < 1.7e9 || c.Metadata["agent"] != "clerk" {
			t.Errorf("call %d: %+v", i, c)
		}
	}
	if c := calls[0]; c.ResponseBlocks != 3 || c.ResponseChars != 6 {
		t.Errorf("call: %+v", c)
	}
	prompt := string(fixture.ReadFile(t, filepath.Join(dir, "call_00_prompt.txt")))
	if !strings.Contains(prompt, "[system]\nYou are a clerk.\n") || !strings.Contains(prompt, "[user]\nwhen?\n") ||
		!strings.Contains(prompt, "[tools] search\n") {
		t.Errorf("prompt: %s", prompt)
	}
	want := "I look\n-> search {\"q\":\"x\"} call_1_1\n-> nothing {} call_1_2\n"
	if reply := string(fixture.ReadFile(t, filepath.Join(dir, "call_00_response.txt"))); reply != want {
		t.Errorf("reply: %q", reply)
	}

	r := trajectory(t, dir)
	if r.Task != "when?" || r.Reply != "at noon" || r.TerminationReason != "completed" || r.StepCount != 4 ||
		r.LLMCallCount != 4 || r.Agent != "clerk" ||
		r.Summary != "4 steps, 1 failed, done, 0.1s" || len(r.LLMCalls) != 4 || r.EndedAt <= r.StartedAt {
		t.Errorf("trajectory: %+v", r)
	}
	for i, s := range r.Steps {
		if s.StepNum != i+1 || s.ContextBefore != fmt.Sprint("briefing of step ", i+1) ||
			!reflect.DeepEqual(s.LLMCallIndices, []int{i}) {
			t.Errorf("step %d: %+v", i, s)
		}
		var stored record.TrajectoryStep
		if err := json.Unmarshal(fixture.ReadFile(t, filepath.Join(dir, "steps", fmt.Sprintf("step_%02d.json", i+1))),
			&stored); err != nil || stored.Pretty != s.Pretty {
			t.Errorf("step file %d: %+v, %v", i, stored, err)
		}
	}
	if s := r.Steps[0]; s.ToolCall != nil || len(s.ToolCalls) != 2 || s.ToolCalls[0].Reasoning != "I look" ||
		s.ToolResults[0].Data != "3 trains" ||
		s.ToolResults[0].DurationMS != 30 || s.ToolResults[1].Error == "" || s.ToolResults[1].Status != "failed" {
		t.Errorf("step with two calls: %+v", s)
	}
	if s := r.Steps[1]; s.Rejected != "say more" || s.Reply != "soon" || s.ToolCall != nil {
		t.Errorf("rejected step: %+v", s)
	}
	if s := r.Steps[2]; s.ToolCall == nil || string(s.ToolCall.Args) != `{"q":"y"}` &&
		!strings.Contains(string(s.ToolCall.Args), `"y"`) || s.ToolCall.CallID != "call_3_1" || len(s.ToolCalls) != 0 {
		t.Errorf("step with one call: %+v", s)
	}
	want = "#2 soon ✗ rejected: say more\n#3 search({\"q\":\"y\"}) → 3 trains\n#4 at noon"
	if !strings.HasSuffix(r.SessionLogText, want) {
		t.Errorf("log:\n%s\nwant at its end:\n%s", r.SessionLogText, want)
	}
	if s := r.Snapshot; s == nil || s.SchemaVersion != 2 || s.SystemPrompt != "You are a clerk." || s.Model != "m1" ||
		len(s.Tools) != 1 || s.Tools[0].Name != "search" || s.Limits["max_steps"] != 50.0 {
		t.Errorf("snapshot: %+v", s)
	}
	for _, path := range []string{"manifest.jsonl", "trajectory.json", "call_00_prompt.txt", "steps/step_01.json"} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestRunIsRecordedHoweverItEnds(t *testing.T) {
	for name, c := range map[string]struct {
		steps  int
		turn   looptest.Turn
		hook   agent.Hook
		reason string
		word   string
	}{
		"model error": {turn: looptest.Error(errors.New("no line")), reason: "error: ", word: "failed"},
		"model panic": {turn: looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			panic("oh")
		}), reason: "error: ", word: "failed"},
		"step limit": {steps: 1, turn: looptest.Call("x", nil), reason: "steps_limit: Step limit reached: 1/1",
			word: "steps_limit"},
		"end turn": {turn: looptest.Reply("hi"),
			hook: agent.AfterLLMFunc(func(context.Context, *agent.Run, agent.LLMResponse) (agent.AfterLLMOutcome, error) {
				return agent.EndTurn{Reason: "enough"}, nil
			}), reason: "stop_requested: enough", word: "stop_requested"},
		"cancel": {turn: looptest.Func(func(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
			fixture.CancelOf(ctx)()
			<-ctx.Done()
			return agent.LLMResponse{}, ctx.Err()
		}), reason: "user_requested: ", word: "user_requested"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			hooks := []agent.Hook{&record.Provenance{Dir: dir, OneRun: true}}
			if c.hook != nil {
				hooks = append(hooks, c.hook)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			looptest.Harness{Agent: &loop.Agent{Limits: loop.Limits{Steps: c.steps}}, Turns: []looptest.Turn{c.turn},
				Hooks: hooks, Tools: []agent.Tool{&looptest.Tool{Name: "x"}}}.
				Do(t, context.WithValue(ctx, fixture.CancelKey{}, cancel), loop.Request{Task: "go"})
			r := trajectory(t, dir)
			if !strings.HasPrefix(r.TerminationReason, c.reason) || len(r.Steps) != 1 ||
				!strings.Contains(r.Summary, ", "+c.word+",") {
				t.Errorf("%q %q, %d steps", r.TerminationReason, r.Summary, len(r.Steps))
			}
			if calls := manifest(t, dir); len(calls) != 1 ||
				(calls[0].Error != nil) != (strings.HasPrefix(name, "model") || name == "cancel") {
				t.Errorf("calls: %+v", calls)
			}
		})
	}
}

func TestProvenanceRedactsRecordsAndPrompts(t *testing.T) {
	const task = "password=hunter2 for bob@example.org in project Nemesis"
	nemesis := redact.Redactor{Patterns: []*regexp.Regexp{regexp.MustCompile("Nemesis")}}
	for name, c := range map[string]struct {
		redact   redact.Redactor
		upstream record.SendRedacted
		sent     string
		kept     string
	}{
		"by default": {redact.Redactor{}, 0, task, "password=[REDACTED] for [REDACTED:email] in project Nemesis"},
		"own": {nemesis, 0, "password=hunter2 for bob@example.org in project [REDACTED]",
			"password=[REDACTED] for [REDACTED:email] in project [REDACTED]"},
		"all": {nemesis, record.RedactAll, "password=[REDACTED] for [REDACTED:email] in project [REDACTED]",
			"password=[REDACTED] for [REDACTED:email] in project [REDACTED]"},
		"nothing": {nemesis, record.RedactNothing, task,
			"password=[REDACTED] for [REDACTED:email] in project [REDACTED]"},
		"not redacted": {redact.Redactor{KeepSecrets: true, KeepPersonal: true}, record.RedactAll, task, task},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := &record.Provenance{Dir: dir, OneRun: true, Redact: c.redact, SendRedacted: c.upstream}
			ran := looptest.Harness{
				Turns: []looptest.Turn{looptest.Call("x", map[string]any{"token": "hunter2"}).Says(task), looptest.Reply(task)},
				Tools: []agent.Tool{&looptest.Tool{Name: "x", Result: task}},
				Hooks: []agent.Hook{p},
			}.Run(t, task)
			if sent := ran.Script.Requests()[0].Messages[0].Content; sent != c.sent {
				t.Errorf("sent %q, want %q", sent, c.sent)
			}
			if ran.Reply != task {
				t.Errorf("the reply was changed: %q", ran.Reply)
			}
			r := trajectory(t, dir)
			if r.Task != c.kept || r.Steps[0].ToolResult.Data != c.kept || r.Steps[0].Reply != c.kept {
				t.Errorf("kept %q and %+v, want %q", r.Task, r.Steps[0], c.kept)
			}
			err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() && name != "not redacted" &&
					strings.Contains(string(fixture.ReadFile(t, path)), "hunter2") {
					t.Errorf("%s holds the secret", path)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLongTextsAreTruncatedWithMark(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("ä", 1000)
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply(long)},
		Hooks: []agent.Hook{&record.Provenance{Dir: dir, OneRun: true, MaxChars: 100}},
	}.Run(t, strings.Repeat("x", 5<<20))
	want := strings.Repeat("ä", 100) + "[truncated 900 chars]"
	if got := string(fixture.ReadFile(t, filepath.Join(dir, "call_00_response.txt"))); !strings.HasPrefix(got,
		strings.Repeat("ä", 100)+"[truncated ") {
		t.Errorf("reply: %s", got)
	}
	if r := trajectory(t, dir); r.Reply != want ||
		r.Task != strings.Repeat("x", 99)+fmt.Sprintf("[truncated %d chars]", 5<<20-99) {
		t.Errorf("reply %q, task %q", r.Reply, r.Task)
	}
	if prompt := fixture.ReadFile(t, filepath.Join(dir, "call_00_prompt.txt")); len(prompt) > 300 {
		t.Errorf("the prompt has %d bytes: %s", len(prompt), prompt)
	}
	if calls := manifest(t, dir); calls[0].PromptChars != 5<<20 || calls[0].ResponseChars != 1000 {
		t.Errorf("calls: %+v", calls)
	}
}

func TestWrapRecordsCallsOfHooksAndTools(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	var reported []string
	p := &record.Provenance{Dir: dir, OneRun: true, OnError: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		reported = append(reported, err.Error())
	}}
	script := looptest.NewScript(looptest.Reply("from a hook"), looptest.Call("think", nil), looptest.Reply("from a tool"),
		looptest.Reply("done"), looptest.Reply("outside"))
	model := p.Wrap(script)
	ask := agent.OnRunStartFunc(func(ctx context.Context, run *agent.Run, _ agent.RunStart) (agent.OnRunStartOutcome,
		error) {
		_, err := run.Env.Model.Generate(ctx, agent.LLMRequest{})
		return nil, err
	})
	think := &looptest.Tool{Name: "think", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
		reply, err := model.Generate(ctx, agent.LLMRequest{})
		return reply.Content, err
	}}
	looptest.Harness{Agent: &loop.Agent{Model: model}, Tools: []agent.Tool{think}, Hooks: []agent.Hook{p, ask}}.Run(t,
		"go")
	var scopes []string
	for _, c := range manifest(t, dir) {
		scopes = append(scopes, c.Scope)
	}
	if !slices.Equal(scopes, []string{"hook", "", "tool:think", ""}) {
		t.Errorf("scopes: %q", scopes)
	}
	if _, err := model.Generate(t.Context(), agent.LLMRequest{}); err != nil || len(reported) == 0 ||
		!strings.Contains(reported[len(reported)-1], "is not recorded") {
		t.Errorf("outside a run: %v, reported %q", err, reported)
	}
}

func TestReplayUsesNewToolsAndHooks(t *testing.T) {
	dir := t.TempDir()
	written := &record.Provenance{Dir: dir, OneRun: true}
	helper := func() *loop.Agent { return &loop.Agent{Name: "helper"} } // with the model of the run that starts it
	tools := func(n *looptest.Tool) []agent.Tool { return []agent.Tool{n, loop.Subagent(helper())} }
	script := looptest.NewScript(looptest.Call("x", `{"n":1}`), looptest.Call("helper", `{"task":"a"}`),
		looptest.Reply("helped"),
		looptest.Reply("done").Uses(agent.Usage{Input: 5, Output: 1}))
	looptest.Harness{Agent: &loop.Agent{Model: script}, Tools: tools(&looptest.Tool{Name: "x", Result: "first"}),
		Hooks: []agent.Hook{written}}.Run(t, "go")

	for _, without := range []string{"", "manifest.jsonl"} {
		t.Run("without "+without, func(t *testing.T) {
			if without != "" {
				if err := os.Remove(filepath.Join(dir, without)); err != nil {
					t.Fatal(err)
				}
			}
			model, err := record.Replay(dir)
			if err != nil {
				t.Fatal(err)
			}
			fresh := &looptest.Tool{Name: "x", Result: "second"}
			ran := looptest.Harness{Agent: &loop.Agent{Model: model}, Tools: tools(fresh)}.Run(t, "go")
			if ran.Failed != nil || ran.Reply != "done" || ran.Usage.Input != 5 || fresh.Count() != 1 ||
				ran.Calls[0].Output != "second" || ran.Calls[1].Output != "helped" {
				t.Errorf("replayed: %+v, %v", ran.AgentResult, ran.Failed)
			}
			if model.Remaining() != 0 || ran.Recorder.Count("AfterLLM") != 4 {
				t.Errorf("%d calls remain, %d replies", model.Remaining(), ran.Recorder.Count("AfterLLM"))
			}
			_, err = model.Generate(t.Context(), agent.LLMRequest{})
			if err == nil || !strings.Contains(err.Error(), "one run more") {
				t.Errorf("another run: %v", err)
			}
		})
	}
}

func TestReplayRefusesDifferentRuns(t *testing.T) {
	dir := t.TempDir()
	if _, err := record.Replay(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing directory was replayed")
	}
	if _, err := record.Replay(dir); err == nil || !strings.Contains(err.Error(), "has no recorded call") {
		t.Errorf("an empty directory: %v", err)
	}
	long := &agent.PromptTooLong{Tokens: 10, Window: 5}
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Error(long)},
		Hooks: []agent.Hook{&record.Provenance{Dir: dir, OneRun: true}},
	}.Run(t, "go")
	model, err := record.Replay(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.Generate(t.Context(), agent.LLMRequest{Tools: []agent.ToolSchema{{}}}); err == nil ||
		!strings.Contains(err.Error(), "generate_with_tools") {
		t.Errorf("another method: %v", err)
	}
	var again *agent.PromptTooLong
	if _, err := model.Generate(t.Context(), agent.LLMRequest{}); !errors.As(err, &again) || *again != *long {
		t.Errorf("the recorded error: %v", err)
	}
	if _, err := model.Generate(t.Context(), agent.LLMRequest{}); err == nil ||
		!strings.Contains(err.Error(), "asked for one more") {
		t.Errorf("one call more: %v", err)
	}
	for name, text := range map[string]string{"call_00_response.json": "{}", "call_02_response.json": `{"response":{}}`} {
		t.Run(name, func(t *testing.T) {
			broken := t.TempDir()
			if err := os.WriteFile(filepath.Join(broken, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := record.Replay(broken); err == nil {
				t.Errorf("%s was replayed", name)
			}
		})
	}
	plain := t.TempDir()
	if err := os.WriteFile(filepath.Join(plain, "call_00_response.txt"), []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	model, err = record.Replay(plain)
	if err != nil {
		t.Fatal(err)
	}
	if reply, err := model.Generate(t.Context(), agent.LLMRequest{}); reply.Content != "hello" || err != nil {
		t.Errorf("from the text alone: %+v, %v", reply, err)
	}
}

func TestConcurrentRunsHaveSeparateDirectories(t *testing.T) {
	dir := t.TempDir()
	p := &record.Provenance{Dir: dir}
	var hooks agent.Hooks
	hooks.Use(p)
	a := &loop.Agent{Hooks: &hooks, Model: looptest.NewScript(looptest.Call("x", nil), looptest.Reply("ok")).ForEachRun(),
		Tools: []agent.Tool{&looptest.Tool{Name: "x"}}}
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			if _, err := a.Run(t.Context(), fmt.Sprint("task ", i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	entries, _ := os.ReadDir(dir)
	tasks := make(map[string]bool)
	for _, e := range entries {
		r := trajectory(t, filepath.Join(dir, e.Name()))
		tasks[r.Task] = true
		if r.RunID != e.Name() || len(r.Steps) != 2 || len(manifest(t, filepath.Join(dir, e.Name()))) != 2 {
			t.Errorf("%s: %+v", e.Name(), r)
		}
	}
	if len(tasks) != 10 {
		t.Errorf("%d runs in %d directories", len(tasks), len(entries))
	}
}

func TestMetadataCanBeSetAtAnyTime(t *testing.T) {
	dir := t.TempDir()
	p := &record.Provenance{Dir: dir, OneRun: true}
	var run *agent.Run
	grab := agent.OnRunStartFunc(func(_ context.Context, r *agent.Run, _ agent.RunStart) (agent.OnRunStartOutcome, error) {
		run = r
		p.SetMetadata(r, "early", 1)
		return nil, nil
	})
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("x")}, Hooks: []agent.Hook{p, grab}}.Run(t, "go")
	p.SetMetadata(run, "late", map[string]any{"password": "hunter2"})
	p.SetMetadata(run, "token", "hunter2")
	want := map[string]any{"early": 1.0, "late": map[string]any{"password": "[REDACTED]"}, "token": "[REDACTED]"}
	if r := trajectory(t, dir); !reflect.DeepEqual(r.Metadata, want) || r.Snapshot != nil {
		t.Errorf("metadata: %+v", r.Metadata)
	}
}

func TestUnwritableDirectoryDoesNotStopRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	n := 0
	p := &record.Provenance{Dir: file, OnError: func(error) { n++ }}
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("x")}, Hooks: []agent.Hook{p}}.Run(t, "go")
	if ran.Failed != nil || ran.Reply != "x" || n != 3 {
		t.Errorf("%q, %v, %d reports", ran.Reply, ran.Failed, n)
	}
	for want, hook := range map[string]agent.Hook{
		"record.Provenance: Dir is empty": &record.Provenance{},
		"Hooks is for the snapshot":       &record.Provenance{Dir: "x", Hooks: new(agent.Hooks)},
	} {
		t.Run(want, func(t *testing.T) {
			fixture.MustPanic(t, want, func() { new(agent.Hooks).Use(hook) })
		})
	}
	for text := range map[string]bool{"{": true, "{}": true} {
		dir := t.TempDir()
		_ = os.WriteFile(filepath.Join(dir, "trajectory.json"), []byte(text), 0o600)
		if _, err := record.ReadTrajectory(dir); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}
