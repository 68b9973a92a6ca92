package observe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// tree renders the spans with children below their parents, in the order of their start. It checks that each span
// ended exactly once.
func tree(t testing.TB, r *observe.SpanRecorder) string {
	t.Helper()
	children := make(map[string][]observe.Span)
	started, ended := r.Started(), r.Ended()
	if len(started) != len(ended) {
		t.Errorf("%d spans started, %d ended", len(started), len(ended))
	}
	ids := make(map[string]bool)
	for _, s := range started {
		at := slices.IndexFunc(ended, func(e observe.Span) bool { return e.SpanID == s.SpanID })
		if at < 0 || ids[s.SpanID] {
			t.Errorf("the span %s was started twice or not ended", s.Name)
			continue
		}
		ids[s.SpanID] = true
		children[s.ParentSpanID] = append(children[s.ParentSpanID], ended[at])
	}
	var b strings.Builder
	var draw func(parent, indent string)
	draw = func(parent, indent string) {
		for _, s := range children[parent] {
			fmt.Fprintf(&b, "%s%s %s\n", indent, s.Name, s.Status)
			draw(s.SpanID, indent+"  ")
		}
	}
	draw("", "")
	for parent := range children {
		if parent != "" && !ids[parent] {
			fmt.Fprintf(&b, "from outside:\n")
			draw(parent, "  ")
		}
	}
	return b.String()
}

func TestRunIsTreeOfSpans(t *testing.T) {
	clock := looptest.NewClock(time.Unix(1000, 0))
	slow := func(name string) agent.Tool {
		return &looptest.Tool{Name: name, Func: func(context.Context, agent.ToolCallRequest) (string, error) {
			if name == "bad" {
				return "", errors.New("no disk, password=hunter2")
			}
			return "fünf!", nil
		}}
	}
	model := looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
		clock.Advance(20 * time.Millisecond)
		return agent.LLMResponse{Content: "fertig", Model: "m2", FinishReason: "stop",
			Usage: agent.Usage{Input: 4, Output: 2}}, nil
	})
	var spans observe.SpanRecorder
	tracing := &observe.Tracing{Exporter: &spans, Service: "desk"}
	looptest.Harness{
		Agent: &loop.Agent{Name: "clerk", Clock: clock, Request: agent.LLMRequest{Model: "m1"}},
		Turns: []looptest.Turn{looptest.Calls(looptest.Call("good", nil), looptest.Call("bad", nil),
			looptest.Call("rm", nil)), model},
		Tools: []agent.Tool{slow("good"), slow("bad"), slow("rm")},
		Hooks: []agent.Hook{tracing, tracing, fixture.DenyTool("rm", "never")},
	}.Run(t, "go")
	if err := tracing.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := tree(t, &spans)
	const badFirst, goodFirst = "    execute_tool bad error\n    execute_tool good ok\n",
		"    execute_tool good ok\n    execute_tool bad error\n"
	if a := strings.Replace(got, badFirst, goodFirst, 1); a != `invoke_agent clerk ok
  step 1 ok
    chat m1 ok
    execute_tool good ok
    execute_tool bad error
  step 2 ok
    chat m1 ok
` {
		t.Errorf("got\n%s", got)
	}
	trace := spans.Started()[0].TraceID
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(trace) {
		t.Errorf("trace %q", trace)
	}
	for _, s := range spans.Ended() {
		if s.TraceID != trace || s.Service != "desk" || s.Agent != "clerk" ||
			!regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(s.SpanID) {
			t.Errorf("span: %+v", s)
		}
		switch {
		case s.Kind == observe.SpanRun:
			if s.ReplyLen != 6 || s.Duration != 20*time.Millisecond || s.StopReason != "completed" || s.Usage.Input != 4 {
				t.Errorf("run: %+v", s)
			}
		case s.Tool == "bad":
			if !s.HasError || s.Err != "no disk, password=[REDACTED]" || s.Step != 1 || s.CallID != "call_1_2" {
				t.Errorf("tool: %+v", s)
			}
		case s.Tool == "good":
			if s.HasError || s.ReplyLen != 5 {
				t.Errorf("tool: %+v", s)
			}
		case s.Kind == observe.SpanModel && s.Step == 2:
			if s.Model != "m2" || s.ReplyLen != 6 || s.FinishReason != "stop" || s.Duration != 20*time.Millisecond {
				t.Errorf("model: %+v", s)
			}
		}
	}
}

func TestSubRunsAndHandoffsShareOneTree(t *testing.T) {
	var spans observe.SpanRecorder
	tracing := &observe.Tracing{Exporter: &spans}
	other := &loop.Agent{Name: "other",
		Model: looptest.NewScript(looptest.Call("look", nil), looptest.Reply("from the other")),
		Tools: []agent.Tool{&looptest.Tool{Name: "look"}}}
	helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(looptest.Call("transfer_to_other", nil)),
		Handoffs: []*loop.Agent{other}, Use: []agent.Hook{tracing}}
	ran := looptest.Harness{
		Agent: &loop.Agent{Name: "clerk"},
		Turns: []looptest.Turn{looptest.Call("helper", `{"task":"x"}`), looptest.Reply("done")},
		Tools: []agent.Tool{loop.Subagent(helper)},
		Hooks: []agent.Hook{tracing},
	}.Make()
	ctx := observe.WithTraceParent(t.Context(), "0123456789abcdef0123456789abcdef", "00000000000000ff")
	if _, err := ran.Agent.Run(ctx, "go"); err != nil {
		t.Fatal(err)
	}
	_ = tracing.Flush(t.Context())
	if got := tree(t, &spans); got != `from outside:
  invoke_agent clerk ok
    step 1 ok
      chat ok
      execute_tool helper ok
        invoke_agent helper ok
          step 1 ok
            chat ok
            invoke_agent other ok
              step 1 ok
                chat ok
                execute_tool look ok
              step 2 ok
                chat ok
    step 2 ok
      chat ok
` {
		t.Errorf("got\n%s", got)
	}
	for _, s := range spans.Started() {
		if s.TraceID != "0123456789abcdef0123456789abcdef" {
			t.Errorf("%s is in the trace %s", s.Name, s.TraceID)
		}
	}
}

func TestCallsBetweenStepsBelongToTheRun(t *testing.T) {
	var spans observe.SpanRecorder
	tracing := &observe.Tracing{Exporter: &spans}
	var hooks agent.Hooks
	hooks.Use(tracing)
	run := agent.NewRun(nil)
	if _, err := hooks.OnRunStart.Fire(t.Context(), run, &agent.RunStart{}); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if i == 1 {
			hooks.BeforeStep.Fire(t.Context(), run, agent.Step{Number: 1})
		}
		if _, err := hooks.AroundLLM.Fire(t.Context(), run, agent.LLMRequest{},
			func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
				return agent.LLMResponse{}, nil
			}); err != nil {
			t.Fatal(err)
		}
	}
	hooks.AfterStep.Fire(t.Context(), run, agent.StepResult{})
	hooks.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{})
	_ = tracing.Flush(t.Context())
	if got, want := tree(t, &spans), "invoke_agent  ok\n  chat ok\n  step 1 ok\n    chat ok\n"; got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestAnOpenStepEndsOnceWithItsRun(t *testing.T) {
	var spans observe.SpanRecorder
	tracing := &observe.Tracing{Exporter: &spans}
	var hooks agent.Hooks
	hooks.Use(tracing)
	run := agent.NewRun(nil)
	_, _ = hooks.OnRunStart.Fire(t.Context(), run, &agent.RunStart{})
	hooks.BeforeStep.Fire(t.Context(), run, agent.Step{Number: 1})
	for range 2 {
		hooks.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{})
	}
	_ = tracing.Flush(t.Context())
	if got, want := tree(t, &spans), "invoke_agent  ok\n  step 1 ok\n"; got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestSpansEndHoweverRunEnds(t *testing.T) {
	for name, turn := range map[string]looptest.Turn{
		"an error": looptest.Error(errors.New("no line")),
		"a panic":  looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) { panic("oh") }),
		"a cancellation": looptest.Func(func(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
			fixture.CancelOf(ctx)()
			return agent.LLMResponse{}, ctx.Err()
		}),
	} {
		t.Run(name, func(t *testing.T) {
			var spans observe.SpanRecorder
			tracing := &observe.Tracing{Exporter: &spans}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			looptest.Harness{Turns: []looptest.Turn{turn}, Hooks: []agent.Hook{tracing}}.
				Do(t, context.WithValue(ctx, fixture.CancelKey{}, cancel), loop.Request{Task: "go"})
			_ = tracing.Flush(t.Context())
			got := tree(t, &spans)
			if !strings.Contains(got, "step 1 error\n    chat error\n") {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

func TestToolKnowsItsSpan(t *testing.T) {
	var spans observe.SpanRecorder
	tracing := &observe.Tracing{Exporter: &spans}
	var trace, span string
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("x", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "x",
			Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
				trace, span = observe.TraceParent(ctx)
				return "", nil
			}}},
		Hooks: []agent.Hook{tracing},
	}.Run(t, "go")
	_ = tracing.Flush(t.Context())
	found := slices.ContainsFunc(spans.Started(), func(s observe.Span) bool {
		return s.Kind == observe.SpanTool && s.TraceID == trace && s.SpanID == span
	})
	if !found {
		t.Errorf("the tool was told %q, %q", trace, span)
	}
	for _, id := range []string{"", "0", strings.Repeat("0", 32), strings.Repeat("A", 32)} {
		t.Run(id, func(t *testing.T) {
			if trace, _ := observe.TraceParent(observe.WithTraceParent(t.Context(), id, "00000000000000ff")); trace != "" {
				t.Errorf("%q was taken for a trace", id)
			}
		})
	}
}

func TestTracingDoesNotAffectRun(t *testing.T) {
	// Without an exporter, Tracing does nothing.
	var hooks agent.Hooks
	hooks.Use(&observe.Tracing{})
	for _, p := range hooks.Points() {
		if list := p.Hooks(); len(list) != 0 {
			t.Errorf("hooks of %s: %v", p.Name, list)
		}
	}
	// Ends without starts, and empty payloads, are ignored.
	var spans observe.SpanRecorder
	tracing := &observe.Tracing{Exporter: &spans}
	hooks.Use(tracing)
	run := agent.NewRun(nil)
	hooks.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{})
	hooks.AfterStep.Fire(t.Context(), run, agent.StepResult{})
	_, _ = hooks.AroundLLM.Fire(t.Context(), run, agent.LLMRequest{},
		func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			return agent.LLMResponse{}, nil
		})
	_ = tracing.Flush(t.Context())
	if got := tree(t, &spans); got != "chat ok\n" {
		t.Errorf("got %q", got)
	}
	fixture.MustPanic(t, "Queue is -1", func() { hooks.Use(&observe.Tracing{Queue: -1}) })
}

type badExporter struct{ hold chan struct{} }

func (b badExporter) StartSpan(observe.Span) { <-b.hold }

func (b badExporter) EndSpan(observe.Span) { panic("full") }

func TestSlowExporterDoesNotDelayRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		tracing := &observe.Tracing{Exporter: badExporter{hold}, Queue: 2}
		ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("done")}, Hooks: []agent.Hook{tracing}}.Run(t, "go")
		if ran.Failed != nil || tracing.Dropped() == 0 {
			t.Errorf("%v, dropped %d", ran.Failed, tracing.Dropped())
		}
		close(hold)
		if err := tracing.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestSpansAreLogged(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	tracing := &observe.Tracing{Exporter: observe.SlogSpans(logger)}
	looptest.Harness{Turns: []looptest.Turn{looptest.Error(errors.New("no line"))}, Hooks: []agent.Hook{tracing}}.Run(t,
		"go")
	_ = tracing.Flush(t.Context())
	if got := log.String(); strings.Count(got, "\n") != 3 || !strings.Contains(got, `level=WARN msg=chat`) ||
		!strings.Contains(got, `error="no line"`) {
		t.Errorf("log: %s", got)
	}
}

func ExampleTracing() {
	var spans observe.SpanRecorder // or SlogSpans(nil)
	tracing := &observe.Tracing{Exporter: &spans}
	a := &loop.Agent{
		Name: "clerk", Request: agent.LLMRequest{Model: "small"}, Tools: []agent.Tool{&looptest.Tool{Name: "search"}},
		Model: looptest.NewScript(looptest.Call("search", nil), looptest.Reply("done")),
		Use:   []agent.Hook{tracing},
	}
	ctx := context.Background()
	_, _ = a.Run(ctx, "go")
	_ = tracing.Flush(ctx)
	for _, s := range spans.Ended() {
		fmt.Println(s.Name, s.Status)
	}
	// Output:
	// chat small ok
	// execute_tool search ok
	// step 1 ok
	// chat small ok
	// step 2 ok
	// invoke_agent clerk ok
}
