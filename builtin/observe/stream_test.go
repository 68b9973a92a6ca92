package observe_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// events collects the events of a stream.
type events struct {
	mu  sync.Mutex
	all []observe.StreamEvent
}

func (e *events) emit(_ context.Context, ev observe.StreamEvent) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
	return nil
}

func (e *events) types() []string {
	var types []string
	for _, ev := range e.all {
		types = append(types, ev.Type)
	}
	return types
}

func TestStreamSendsEventsOfTheProgram(t *testing.T) {
	secret := map[string]any{"level": "ok", "nested": map[string]any{"password": "kIw83nd0Q"}}
	for name, c := range map[string]struct {
		redact *redact.Redactor
		data   any
		want   []map[string]any
		err    string
	}{
		"a struct": {data: struct {
			Level  string `json:"level"`
			Tokens int    `json:"tokens"`
		}{"warning", 900}, want: []map[string]any{{"level": "warning", "tokens": 900.0}}},
		"a secret, kept": {data: secret, want: []map[string]any{secret}},
		"a secret, redacted": {redact: &redact.Redactor{}, data: secret, want: []map[string]any{
			{"level": "ok", "nested": map[string]any{"password": redact.Redacted}},
		}},
		"no data":    {data: nil, want: []map[string]any{{}}},
		"a list":     {data: []int{1}, err: `event "own": the data is not an object of JSON: json: cannot unmarshal array`},
		"a function": {data: func() {}, err: `event "own": the data is not an object of JSON: json: unsupported type`},
	} {
		t.Run(name, func(t *testing.T) {
			var got events
			var failed error
			stream := &observe.Stream{Emit: got.emit, Redact: c.redact, OnError: func(err error) { failed = err }}
			stream.Send(agent.NewRun(&agent.Env{Agent: "writer"}), "own", c.data)
			if err := stream.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			var data []map[string]any
			for _, e := range got.all {
				if e.Type != "own" || e.Agent != "writer" {
					t.Errorf("event %+v", e)
				}
				data = append(data, e.Data)
			}
			if diff := cmp.Diff(c.want, data, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
			if (failed == nil) != (c.err == "") || failed != nil && !strings.HasPrefix(failed.Error(), c.err) {
				t.Errorf("OnError received %v, want %q", failed, c.err)
			}
		})
	}
}

func TestStreamEmitsEachEventOnceInOrder(t *testing.T) {
	var got events
	stream := &observe.Stream{Emit: got.emit}
	hint := agent.BriefingFunc(func(context.Context, *agent.Run, agent.Step) ([]string, error) { return nil, nil })
	skip := agent.BeforeToolFunc(func(_ context.Context, _ *agent.Run, c agent.ToolCallRequest) (agent.BeforeToolOutcome,
		error) {
		if c.Name == "b" {
			return agent.SkipTool{Result: agent.ToolCallResult{Err: "not now"}, Reason: "later"}, nil
		}
		return nil, nil
	})
	looptest.Harness{Turns: []looptest.Turn{looptest.Calls(looptest.Call("a", nil), looptest.Call("b", nil)),
		looptest.Reply("two words")},
		Tools: []agent.Tool{&looptest.Tool{Name: "a", Result: "1"}, &looptest.Tool{Name: "b"}},
		Hooks: []agent.Hook{stream, hint, skip}}.Run(t, "go")
	if err := stream.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"loop_start", "step_start", "llm_start", "llm_end", "hook", "tool_dispatch", "tool_result", "tool_result", "step_end",
		"step_start", "llm_start", "llm_chunk", "llm_chunk", "llm_end", "step_end", "loop_end",
	}
	if diff := cmp.Diff(want, got.types()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, e := range got.all {
		var flat map[string]any
		text, err := json.Marshal(e)
		if err != nil || json.Unmarshal(text, &flat) != nil || flat["event_type"] != e.Type || flat["agent"] != "tested" ||
			flat["run"] == "" {
			t.Errorf("event %s (%v)", text, err)
		}
	}
	last := got.all[len(got.all)-1]
	if last.Data["total_steps"] != 2 || last.Data["reason"] != "completed" {
		t.Errorf("loop_end %v", last.Data)
	}
}

func TestToolResultDoesNotWaitForOtherCalls(t *testing.T) {
	returned := make(chan struct{})
	var results []any
	stream := &observe.Stream{Emit: func(_ context.Context, e observe.StreamEvent) error {
		if e.Type == observe.StreamToolResult {
			results = append(results, e.Data["tool_name"], e.Data["has_error"])
			if e.Data["tool_name"] == "cheap" {
				close(returned)
			}
		}
		return nil
	}}
	slow := &looptest.Tool{Name: "slow", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
		select {
		case <-returned:
		case <-ctx.Done():
		}
		return "", ctx.Err()
	}}
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Calls(looptest.Call("slow", nil), looptest.Call("cheap", nil),
			looptest.Call("unknown", nil)), looptest.Reply("ok")},
		Tools: []agent.Tool{
			loop.Concurrent(slow), loop.Concurrent(&looptest.Tool{Name: "cheap", Err: errors.New("down")}),
		},
		Hooks: []agent.Hook{stream},
	}.Run(t, "go")
	if err := stream.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"cheap", true, "slow", false, "unknown", true}, results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestFailingToolIsNotAHookDecision(t *testing.T) {
	var got events
	stream := &observe.Stream{Emit: got.emit}
	looptest.Harness{Turns: []looptest.Turn{looptest.Call("a", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "a", Err: errors.New("down")}}, Hooks: []agent.Hook{stream}}.Run(t, "go")
	if err := stream.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if types := got.types(); slices.Contains(types, "hook") || !slices.Contains(types, "tool_result") {
		t.Errorf("events %v", types)
	}
}

func TestStreamReportsRecoveries(t *testing.T) {
	shorter := agent.Compacted{
		Reason: agent.CompactTooLong, Before: agent.Size{Messages: 2}, After: agent.Size{Messages: 1},
	}
	undone, useless, early := shorter, shorter, shorter
	undone.Err, useless.After, early.Reason = "undone", shorter.Before, agent.CompactProactive
	answers := agent.OnRunErrorFunc(func(
		_ context.Context, _ *agent.Run, e agent.RunError,
	) (agent.OnRunErrorOutcome, error) {
		if e.Err == "answered" {
			return agent.EndTurn{Reply: "sorry"}, nil
		}
		return nil, nil
	})
	for _, c := range []struct {
		name string
		fire func(ctx context.Context, h *agent.Hooks, run *agent.Run) error
		want string
	}{
		{"a retry", func(ctx context.Context, h *agent.Hooks, run *agent.Run) error {
			h.OnToolError.Fire(ctx, run, agent.ToolFailure{WillRetry: true})
			return nil
		}, "retry false"},
		{"the last attempt", func(ctx context.Context, h *agent.Hooks, run *agent.Run) error {
			h.OnToolError.Fire(ctx, run, agent.ToolFailure{})
			return nil
		}, ""},
		{"a retry that succeeded", func(ctx context.Context, h *agent.Hooks, run *agent.Run) error {
			_, err := h.AfterTool.Fire(ctx, run, &agent.ToolCallResult{Attempts: 2})
			return err
		}, "retry true"},
		{"the first attempt", func(ctx context.Context, h *agent.Hooks, run *agent.Run) error {
			_, err := h.AfterTool.Fire(ctx, run, &agent.ToolCallResult{Attempts: 1})
			return err
		}, ""},
		{"a retry that failed", func(ctx context.Context, h *agent.Hooks, run *agent.Run) error {
			_, err := h.AfterTool.Fire(ctx, run, &agent.ToolCallResult{Attempts: 2, Err: "down"})
			return err
		}, ""},
		{"a compaction", func(ctx context.Context, h *agent.Hooks, run *agent.Run) error {
			return h.AfterCompact.Fire(ctx, run, &shorter)
		}, "compaction true"},
		{"an undone compaction", func(ctx context.Context, h *agent.Hooks, run *agent.Run) error {
			return h.AfterCompact.Fire(ctx, run, &undone)
		}, "compaction false"},
		{"a compaction without effect", func(ctx context.Context, h *agent.Hooks, run *agent.Run) error {
			return h.AfterCompact.Fire(ctx, run, &useless)
		}, "compaction false"},
		{"a compaction in time", func(ctx context.Context, h *agent.Hooks, run *agent.Run) error {
			return h.AfterCompact.Fire(ctx, run, &early)
		}, ""},
		{"a reply", func(ctx context.Context, h *agent.Hooks, run *agent.Run) error {
			_, err := h.OnRunError.Fire(ctx, run, agent.RunError{Err: "answered"})
			return err
		}, "reply true"},
		{"an error", func(ctx context.Context, h *agent.Hooks, run *agent.Run) error {
			_, err := h.OnRunError.Fire(ctx, run, agent.RunError{Err: "down"})
			return err
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got events
			stream := &observe.Stream{Emit: got.emit}
			var hooks agent.Hooks
			hooks.Use(stream)
			hooks.Use(answers)
			if err := c.fire(t.Context(), &hooks, agent.NewRun(nil)); err != nil {
				t.Fatal(err)
			}
			if err := stream.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			var recoveries []string
			for _, e := range got.all {
				if e.Type == observe.StreamRecovery {
					recoveries = append(recoveries, fmt.Sprint(e.Data["strategy"], " ", e.Data["success"]))
				}
			}
			if text := strings.Join(recoveries, ", "); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

func TestARefusedCallStaysRefusedInTheStream(t *testing.T) {
	var got events
	stream := &observe.Stream{Emit: got.emit}
	var hooks agent.Hooks
	hooks.Use(stream)
	hooks.Use(forgive)
	result := agent.ToolCallResult{
		Call: agent.ToolCallRequest{ID: "1", Name: "gone", Step: 2}, Err: "no such tool", Status: agent.CallRefused,
	}
	_, _ = hooks.AfterTool.Fire(t.Context(), agent.NewRun(nil), &result)
	if err := stream.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := got.all[len(got.all)-1]
	if last.Type != observe.StreamToolResult || last.Data["tool_name"] != "gone" || last.Data["has_error"] != true {
		t.Errorf("the last event is %+v", last)
	}
}

func TestDecisionsOfHooksAreSent(t *testing.T) {
	for reason, want := range map[string]string{"": "SkipTool", "known": "SkipTool: known"} {
		t.Run(want, func(t *testing.T) {
			var got events
			stream := &observe.Stream{Emit: got.emit}
			var hooks agent.Hooks
			hooks.Use(stream)
			hooks.Use(agent.BeforeToolFunc(func(
				context.Context, *agent.Run, agent.ToolCallRequest,
			) (agent.BeforeToolOutcome, error) {
				return agent.SkipTool{Reason: reason}, nil
			}))
			_, _ = hooks.BeforeTool.Fire(t.Context(), agent.NewRun(nil), &agent.ToolCallRequest{Name: "a"})
			if err := stream.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			if e := got.all[0]; e.Type != observe.StreamHook || e.Data["message"] != want || e.Data["method"] != "BeforeTool" {
				t.Errorf("event %+v", e)
			}
		})
	}
}

func TestEventsAreFlatObjects(t *testing.T) {
	e := observe.StreamEvent{
		Type: "own", Time: time.Unix(0, 0), Run: "r", Identity: agent.Identity{User: "ann"}, Agent: "clerk",
		Data: map[string]any{"level": "ok", "run": "forged"},
	}
	got, err := json.Marshal(e)
	const want = `{"agent":"clerk","event_type":"own","level":"ok","run":"r",` +
		`"timestamp":"1970-01-01T00:00:00Z","user":"ann"}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestBusReceivesTheFailureOfARun(t *testing.T) {
	b := &bus{}
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Error(errors.New("no line"))}, Hooks: []agent.Hook{&observe.EventBridge{Bus: b}},
	}.Run(t, "go")
	at := slices.IndexFunc(b.events, func(e observe.BusEvent) bool { return e.Type == "agent" && e.Action == "error" })
	if at < 0 || b.events[at].Context["error"] != "no line" || b.events[at].Context["where"] != "LLM" {
		t.Errorf("events %+v", b.events)
	}
}

func TestTheEndOfARunIsSentOnce(t *testing.T) {
	var got events
	stream := &observe.Stream{Emit: got.emit}
	fails := agent.BeforeRunEndFunc(func(
		context.Context, *agent.Run, agent.AgentResult,
	) (agent.BeforeRunEndOutcome, error) {
		return nil, errors.New("the filter is down")
	})
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("done")}, Hooks: []agent.Hook{stream, fails}}.Run(t, "go")
	if err := stream.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := got.all[len(got.all)-1]
	if n := strings.Count(strings.Join(got.types(), " "), observe.StreamLoopEnd); n != 1 ||
		last.Type != observe.StreamLoopEnd || last.Data["reason"] != "error" {
		t.Errorf("%d ends, the last event is %+v", n, last)
	}
}

func TestStreamClassifiesSteps(t *testing.T) {
	for _, c := range []struct {
		name     string
		classify func(agent.StepResult) (string, int)
		want     []any
	}{
		{"default", nil, []any{"error", 0}},
		{"own", func(s agent.StepResult) (string, int) { return "found after " + s.Err, 3 }, []any{"found after down", 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got events
			stream := &observe.Stream{Emit: got.emit, Classify: c.classify}
			var hooks agent.Hooks
			hooks.Use(stream)
			hooks.AfterStep.Fire(t.Context(), agent.NewRun(nil), agent.StepResult{Err: "down"})
			if err := stream.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			data := got.all[0].Data
			if diff := cmp.Diff(c.want, []any{data["classification"], data["new_entities_count"]}); diff != "" {
				t.Errorf("step_end (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSlowEmitterDoesNotDelayRun(t *testing.T) {
	var told []error
	var mu sync.Mutex
	var got events
	release := make(chan struct{})
	stream := &observe.Stream{
		Emit: observe.Emitters(
			func(context.Context, observe.StreamEvent) error { <-release; return nil },
			func(context.Context, observe.StreamEvent) error { panic("boom") },
			func(context.Context, observe.StreamEvent) error { return errors.New("down") },
			got.emit),
		OnError: func(err error) { mu.Lock(); told = append(told, err); mu.Unlock() },
	}
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("done")}, Hooks: []agent.Hook{stream}}.Run(t,
		"go") // while the first emitter waits
	if ran.Reply != "done" {
		t.Errorf("reply %q", ran.Reply)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := stream.Drain(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Drain returned %v while events wait", err)
	}
	close(release)
	if err := stream.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(got.all) == 0 || len(told) != len(got.all) || !strings.Contains(fmt.Sprint(told[0]), "boom") ||
		!strings.Contains(fmt.Sprint(told[0]), "down") {
		t.Errorf("%d events, told %v", len(got.all), told)
	}
}

func TestStreamCountsDroppedEvents(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	n, last := 0, 0
	stream := &observe.Stream{Emit: func(_ context.Context, e observe.StreamEvent) error {
		if n == 0 {
			close(begun)
		}
		<-release
		n, last = n+1, e.Data["step_num"].(int)
		return nil
	}}
	var hooks agent.Hooks
	hooks.Use(stream)
	run := agent.NewRun(nil)
	hooks.BeforeStep.Fire(t.Context(), run, agent.Step{Number: 0})
	<-begun // if the emitter began later, there would be room for a later event
	for i := 1; i < 2000; i++ {
		hooks.BeforeStep.Fire(t.Context(), run, agent.Step{Number: i})
	}
	close(release)
	if err := stream.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if uint64(n)+stream.Dropped() != 2000 || stream.Dropped() == 0 || last != n-1 {
		t.Errorf("%d emitted, the last one %d, %d dropped", n, last, stream.Dropped())
	}
}

// bus records events and returns the configured vetoes.
type bus struct {
	mu     sync.Mutex
	events []observe.BusEvent
	veto   map[string]string // by type:action
	fail   error
}

func (b *bus) Publish(_ context.Context, e observe.BusEvent) (bool, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, e)
	reason, veto := b.veto[e.Type+":"+e.Action]
	return veto, reason, b.fail
}

func TestEventBridgeAppliesVetoOfTool(t *testing.T) {
	b := &bus{veto: map[string]string{"tool:before_call": "closed today"}}
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Call("a", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "a"}},
		Hooks: []agent.Hook{&observe.EventBridge{Bus: b}}}.Run(t, "go")
	var names []string
	for _, e := range b.events {
		names = append(names, e.Type+":"+e.Action)
		if e.AgentID != "tested" || e.Task == "" || e.Timestamp.IsZero() {
			t.Errorf("event %+v", e)
		}
	}
	want := []string{"agent:start", "llm:before_call", "llm:after_call", "tool:before_call", "tool:after_call",
		"llm:before_call", "llm:after_call", "agent:stop"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if ran.Calls[0].Reason != "closed today" || b.events[4].Context["ok"] != false ||
		!strings.Contains(fmt.Sprint(b.events[4].Context["error"]), "closed today") {
		t.Errorf("call %+v, event %+v", ran.Calls[0], b.events[4])
	}
}

func TestBusReceivesErrorsOfHooks(t *testing.T) {
	b := &bus{}
	var hooks agent.Hooks
	hooks.Use(&observe.EventBridge{Bus: b})
	hooks.Use(agent.AfterLLMFunc(func(context.Context, *agent.Run, agent.LLMResponse) (agent.AfterLLMOutcome, error) {
		return nil, errors.New("the filter is down")
	}))
	if _, err := hooks.AfterLLM.Fire(t.Context(), agent.NewRun(nil), &agent.LLMResponse{}); err == nil {
		t.Error("the hook did not fail")
	}
	if len(b.events) != 1 || b.events[0].Context["ok"] != false ||
		!strings.Contains(fmt.Sprint(b.events[0].Context["error"]), "the filter is down") {
		t.Errorf("events %+v", b.events)
	}
}

func TestFailingBusRefusesModelCall(t *testing.T) {
	b := &bus{veto: map[string]string{"llm:before_call": "no budget"}}
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("never")},
		Hooks: []agent.Hook{&observe.EventBridge{Bus: b}}}.Run(t, "go")
	if ran.Stop.Message != "no budget" || len(ran.Script.Calls()) != 0 {
		t.Errorf("stopped by %+v after %d calls", ran.Stop, len(ran.Script.Calls()))
	}
	var hooks agent.Hooks
	hooks.Use(&observe.EventBridge{Bus: &bus{fail: errors.New("gone")}, OnError: func(error) {}})
	if _, err := hooks.OnPermission.Fire(t.Context(), agent.NewRun(nil), agent.ToolCallRequest{Name: "a"}); err == nil {
		t.Error("a failing bus let the call through")
	}
}

func TestStreamWithoutEmitterPanicsInBind(t *testing.T) {
	for want, hook := range map[string]agent.Hook{"Emit is nil": &observe.Stream{}, "Bus is nil": &observe.EventBridge{}} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, want) {
					t.Errorf("panicked with %q, want %q in it", r, want)
				}
			}()
			new(agent.Hooks).Use(hook)
		})
	}
}

func ExampleStream() {
	var hooks agent.Hooks
	stream := &observe.Stream{Emit: func(_ context.Context, e observe.StreamEvent) error {
		fmt.Println(e.Type, e.Data["step_num"])
		return nil
	}}
	hooks.Use(stream)
	hooks.BeforeStep.Fire(context.Background(), agent.NewRun(nil), agent.Step{Number: 1})
	stream.Drain(context.Background())
	// Output: step_start 1
}

func TestStreamRedactsAcrossChunks(t *testing.T) {
	reply := strings.Repeat("some words ", 120) + "machine example.org login bob password hunter2 and " +
		strings.Repeat("more words ", 120)
	for name, c := range map[string]struct {
		redact *redact.Redactor
		want   string
	}{
		"kept":     {nil, reply},
		"redacted": {&redact.Redactor{}, strings.Replace(reply, "hunter2", redact.Redacted, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			var got events
			stream := &observe.Stream{Emit: got.emit, Redact: c.redact}
			looptest.Harness{
				Turns: []looptest.Turn{looptest.Call("a", `{"api_key":"hunter2"}`), looptest.Reply(reply)},
				Tools: []agent.Tool{&looptest.Tool{Name: "a", Err: errors.New("token=hunter2")}},
				Hooks: []agent.Hook{stream},
			}.Run(t, "password=hunter2")
			if err := stream.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			chunks := 0
			for _, e := range got.all {
				if e.Type == observe.StreamLLMChunk {
					if e.Data["chunk_index"] != chunks {
						t.Errorf("chunk %d is %v", chunks, e.Data)
					}
					text.WriteString(e.Data["chunk"].(string))
					chunks++
				}
				if strings.Contains(fmt.Sprint(e.Data), "hunter2") != (c.redact == nil) && e.Type == observe.StreamLoopStart {
					t.Errorf("event %+v", e)
				}
				if c.redact != nil && strings.Contains(fmt.Sprint(e), "hunter2") {
					t.Errorf("a secret is in %+v", e)
				}
			}
			if text.String() != c.want || chunks < 2 {
				t.Errorf("%d chunks: %q", chunks, text.String())
			}
		})
	}
}

func TestStreamUnsubscribesAtTheEndOfARun(t *testing.T) {
	stream := &observe.Stream{Emit: new(events).emit}
	var hooks agent.Hooks
	hooks.Use(stream)
	ended := 0
	run := agent.NewRun(&agent.Env{Subscribe: func(func(agent.Chunk)) func() { return func() { ended++ } }})
	_, _ = hooks.OnRunStart.Fire(t.Context(), run, &agent.RunStart{})
	if ended != 0 {
		t.Error("the stream unsubscribed at the start")
	}
	hooks.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{})
	if ended != 1 {
		t.Errorf("the stream unsubscribed %d times", ended)
	}
	if err := stream.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestARepeatedReplyBeginsAnew(t *testing.T) {
	var got events
	stream := &observe.Stream{Emit: got.emit, Redact: &redact.Redactor{}}
	var hooks agent.Hooks
	hooks.Use(stream)
	var send func(agent.Chunk)
	run := agent.NewRun(&agent.Env{Subscribe: func(f func(agent.Chunk)) func() {
		send = f
		return func() {}
	}})
	_, _ = hooks.OnRunStart.Fire(t.Context(), run, &agent.RunStart{})
	chunk := func(attempt int, text string) {
		c := agent.Chunk{Step: 1, Attempt: attempt}
		c.Delta.Content = text
		send(c)
	}
	chunk(1, "half a re")
	chunk(2, "a whole reply")
	_, _ = hooks.AfterLLM.Fire(t.Context(), run, &agent.LLMResponse{Content: "a whole reply"})
	chunk(2, "another") // in the same step and attempt
	_, _ = hooks.AfterLLM.Fire(t.Context(), run, &agent.LLMResponse{Content: "another"})
	if err := stream.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	var sent []string
	for _, e := range got.all {
		sent = append(sent, fmt.Sprint(e.Type, " ", e.Data["chunk"], " ", e.Data["chunk_index"]))
	}
	want := []string{"loop_start <nil> <nil>", "llm_chunk a whole reply 0", "llm_end <nil> <nil>", "llm_chunk another 0",
		"llm_end <nil> <nil>"}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestBusReceivesSuccessfulCalls(t *testing.T) {
	b := &bus{}
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("a", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "a", Result: "1"}}, Hooks: []agent.Hook{&observe.EventBridge{Bus: b}},
	}.Run(t, "go")
	after := 0
	for _, e := range b.events {
		if e.Action != "after_call" {
			continue
		}
		if after++; e.Context["ok"] != true || e.Context["error"] != "" {
			t.Errorf("event %+v", e)
		}
	}
	if after != 3 {
		t.Errorf("%d calls", after)
	}
}

func TestStreamRedactsWhatModelChose(t *testing.T) {
	var got events
	stream := &observe.Stream{Emit: got.emit, Redact: &redact.Redactor{}}
	call := agent.ToolCallRequest{ID: "token=hunter2", Name: "a", Args: json.RawMessage(`{"password":"hunter2"}`)}
	looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
				return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{call, {ID: "2", Name: "password=hunter2"}}}, nil
			}),
			looptest.Reply("done"),
		},
		Tools: []agent.Tool{&looptest.Tool{Name: "a", Result: "1"}},
		Hooks: []agent.Hook{stream},
	}.Run(t, "go")
	if err := stream.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, e := range got.all {
		if text := fmt.Sprint(e); strings.Contains(text, "hunter2") {
			t.Errorf("a secret is in %s", text)
		}
		if strings.Contains(fmt.Sprint(e.Data), redact.Redacted) {
			seen[e.Type]++
		}
	}
	if seen[observe.StreamToolDispatch] != 1 || seen[observe.StreamToolResult] != 2 {
		t.Errorf("events with redacted texts: %v", seen)
	}
}
