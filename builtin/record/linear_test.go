package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestRecordsOfManyCallsNeedLinearMemory records one reply with many calls, and the step that runs them, by every view.
// The bytes that are allocated count the bytes that are copied.
func TestRecordsOfManyCallsNeedLinearMemory(t *testing.T) {
	allocated := func(calls int) uint64 {
		dir := t.TempDir()
		var hooks agent.Hooks
		hooks.HandleFailures(func(_ context.Context, f *hookkit.Failure) { t.Error(f) })
		for _, hook := range []agent.Hook{
			&record.Provenance{Dir: dir, MaxChars: limit.None}, &record.Metrics{}, &record.Timing{},
			&record.Audit{Path: dir + "/audit", Points: []string{"AfterLLM", "AfterStep"}}, &record.History{},
			&record.Tree{Dir: dir + "/tree"}, &record.Summary{Dir: dir + "/pages"},
			&record.Episodes{Store: &memory.Facts{Share: share.Everyone}},
		} {
			hooks.Use(hook)
		}
		hooks.ObserveAny(agent.Record(hooklog.Lines(io.Discard)))
		reply := agent.LLMResponse{Reasoning: "search everywhere"}
		step := agent.StepResult{Step: agent.Step{Number: 1}, Response: &reply}
		for i := range calls {
			call := agent.ToolCallRequest{ID: fmt.Sprint(i), Name: "search", Args: json.RawMessage(`{"text": "trains"}`)}
			reply.ToolCalls = append(reply.ToolCalls, call)
			step.Results = append(step.Results, agent.ToolCallResult{Call: call, Output: "3 trains were found"})
		}
		run, ctx := agent.NewRun(&agent.Env{Conversation: talk("c")}), context.Background()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = hooks.OnRunStart.Fire(ctx, run, new(agent.RunStart))
		_, _ = hooks.BeforeLLM.Fire(ctx, run, &agent.LLMRequest{Step: 1})
		_, _ = hooks.AfterLLM.Fire(ctx, run, &reply)
		for _, result := range step.Results {
			_, _ = hooks.AfterTool.Fire(ctx, run, &result)
		}
		hooks.AfterStep.Fire(ctx, run, step)
		hooks.OnRunEnd.Fire(ctx, run, agent.AgentResult{})
		runtime.ReadMemStats(&after)
		if steps := trajectory(t, dir+"/"+run.Root()).Steps; len(steps) != 1 || len(steps[0].ToolCalls) != calls {
			t.Fatalf("%d steps are recorded", len(steps))
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := allocated(2_500), allocated(10_000)
	if many > 6*few {
		t.Errorf("%d bytes are allocated for 2500 calls, and %d for 10,000", few, many)
	}
}

// talk is a conversation with a name.
type talk string

func (t talk) ID() string              { return string(t) }
func (talk) Messages() []agent.Message { return nil }

// Each step of a run fires points with the whole conversation.
func TestRecordsAreLinearInTheStepsOfARun(t *testing.T) {
	size := func(steps int) (log, audit int) {
		var text bytes.Buffer
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		hooks := new(agent.Hooks)
		hooks.ObserveAny(agent.Record(hooklog.Lines(&text)))
		hooks.ObserveAny(agent.Record(&record.Audit{Path: path}))
		ran := looptest.Harness{
			Agent: &loop.Agent{Hooks: hooks, Limits: loop.Limits{Steps: -1}}, Turns: fixture.Work(steps - 1),
			Tools: fixture.Worker(),
		}.Run(t, "go")
		if ran.Steps != steps {
			t.Fatalf("%d steps, %v", ran.Steps, ran.Failed)
		}
		var metrics record.Metrics
		pages := t.TempDir()
		if err := record.Read(t.Context(), hooklog.Read(bytes.NewReader(text.Bytes())), &metrics); err != nil {
			t.Fatal(err)
		}
		if r := metrics.Report(); r.Steps != steps || r.LLMCalls != steps {
			t.Errorf("the record has %+v", r)
		}
		if steps <= 50 { // the prompts of a run are together as long as the square of its conversation
			provenance := &record.Provenance{Dir: pages, OneRun: true, OnError: func(err error) { t.Error(err) }}
			if err := record.Read(t.Context(), hooklog.Read(bytes.NewReader(text.Bytes())), provenance); err != nil {
				t.Fatal(err)
			}
			prompt := string(fixture.ReadFile(t, filepath.Join(pages, fmt.Sprintf("call_%02d_prompt.txt", steps-1))))
			if n := strings.Count(prompt, "-> work {}"); n != steps-1 {
				t.Errorf("the last prompt has %d calls, want %d", n, steps-1)
			}
		}
		return text.Len(), len(fixture.ReadFile(t, path))
	}
	few := 50
	if testing.Short() {
		few = 20
	}
	shortLog, shortAudit := size(few)
	longLog, longAudit := size(10 * few)
	t.Logf("%d steps: %d and %d bytes; ten times as many: %d and %d", few, shortLog, shortAudit, longLog, longAudit)
	if longLog > 11*shortLog || longAudit > 11*shortAudit {
		t.Errorf("after ten times %d steps, the records have %d and %d bytes instead of %d and %d", few, longLog,
			longAudit, shortLog, shortAudit)
	}
}

// Log rotation moves the file of an audit log during a run, and somebody removes it.
func TestEachFileOfAnAuditLogIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	hooks := new(agent.Hooks)
	hooks.ObserveAny(agent.Record(&record.Audit{Path: path}))
	hooks.AfterStep.ObserveFunc(func(_ context.Context, _ *agent.Run, f agent.AfterStepFired[agent.StepResult]) {
		if f.Payload.Step.Number == 20 {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		}
	})
	looptest.Harness{
		Agent: &loop.Agent{Hooks: hooks}, Turns: fixture.Work(30), Tools: fixture.Worker(),
	}.Run(t, "go")
	requests := 0
	for e, err := range hooklog.Read(bytes.NewReader(fixture.ReadFile(t, path))) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Point == "BeforeLLM" {
			requests++
		}
		if unknown := e.Whole().Omitted; len(unknown) > 0 && requests < 2 {
			t.Errorf("the event %d of %s lacks %+v", e.Seq, e.Point, unknown)
		}
	}
	if requests < 10 {
		t.Errorf("the file has %d requests", requests)
	}
}

// The first file of a record was removed, and with it the beginning of the conversation.
func TestViewsSayWhatIsNotInTheRecord(t *testing.T) {
	var text bytes.Buffer
	hooks := new(agent.Hooks)
	hooks.ObserveAny(agent.Record(hooklog.Lines(&text)))
	looptest.Harness{
		Agent: &loop.Agent{Hooks: hooks}, Turns: fixture.Work(30), Tools: fixture.Worker(),
	}.Run(t, "go")
	lines := bytes.SplitAfter(text.Bytes(), []byte("\n"))
	rest := bytes.Join(lines[len(lines)/2:], nil)
	dir := t.TempDir()
	provenance := &record.Provenance{Dir: dir, OneRun: true, OnError: func(err error) { t.Error(err) }}
	if err := record.Read(t.Context(), hooklog.Read(bytes.NewReader(rest)), provenance); err != nil {
		t.Fatal(err)
	}
	prompt := string(fixture.ReadFile(t, filepath.Join(dir, "call_02_prompt.txt")))
	if !strings.Contains(prompt, "messages are not in the record)") {
		t.Errorf("the prompt is %s", prompt)
	}
	if same, missing := replayed(t, text.Bytes()); same != len(lines)-1 || missing > 0 {
		t.Errorf("of the whole record, %d of %d events are the same, and %d lack messages", same, len(lines)-1, missing)
	}
	if _, missing := replayed(t, rest); missing < 10 {
		t.Errorf("%d events of the rest lack messages", missing)
	}
}

// replayed counts the events of a record that no hook decides otherwise, and those whose messages are not in it.
func replayed(t *testing.T, record []byte) (same, missing int) {
	t.Helper()
	points := new(agent.Hooks).Points()
	for c, err := range hooklog.Replay(t.Context(), hooklog.Read(bytes.NewReader(record)), points) {
		switch {
		case err != nil:
			t.Fatal(err)
		case c.Status == hooklog.Same:
			same++
		case strings.Contains(c.Why, "elements of its list messages are in an event that is missing"):
			missing++
		}
	}
	return same, missing
}
