package otel_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	global "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookgen/hookgen/contrib/otel"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// transport makes a span for each request, as the instrumentation of net/http does.
type transport struct{ trace.Tracer }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, span := t.Start(r.Context(), r.Method)
	defer span.End()
	return http.DefaultTransport.RoundTrip(r.WithContext(ctx))
}

// fetcher returns a function that sends a request with an instrumented client.
func fetcher(t *testing.T, s *sink) func(ctx context.Context) error {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	client := &http.Client{Transport: transport{s.tracer()}}
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
}

func TestSpansFormOneTree(t *testing.T) {
	s := newSink(t)
	fetch := fetcher(t, s)
	asking := func(turn looptest.Turn) looptest.Turn {
		return looptest.Func(func(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
			return turn.Response(), fetch(ctx)
		})
	}
	researcher := &loop.Agent{Name: "researcher", Model: looptest.NewScript(
		looptest.Call("fetch", "{}"), looptest.Reply("found"))}
	get := loop.Tool("fetch", "fetches", func(ctx context.Context, _ struct{}) (string, error) {
		return "page", fetch(ctx)
	})
	researcher.Tools = []agent.Tool{get}
	closer := &loop.Agent{Name: "closer", Model: looptest.NewScript(looptest.Reply("bye"))}
	a := &loop.Agent{
		Name: "main", Hooks: loop.Hooks(s.hook()), Tools: []agent.Tool{get, loop.Subagent(researcher)},
		Handoffs: []*loop.Agent{closer},
		Model: looptest.NewScript(
			asking(looptest.Call("fetch", "{}")),
			looptest.Call("researcher", `{"task":"look it up"}`),
			looptest.Call("transfer_to_closer", "{}"),
		),
	}
	ctx, span := s.tracer().Start(t.Context(), "request")
	if _, err := a.Run(ctx, "go"); err != nil {
		t.Fatal(err)
	}
	span.End()
	want := `request
  invoke_agent main
    chat
      GET
    execute_tool fetch
      GET
    chat
    execute_tool researcher
      invoke_agent researcher
        chat
        execute_tool fetch
          GET
        chat
    chat
    invoke_agent closer
      chat
`
	if diff := cmp.Diff(want, s.tree(t)); diff != "" {
		t.Error(diff)
	}
}

func TestRunWithoutCallerStartsATrace(t *testing.T) {
	s := newSink(t)
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("hi")}, Hooks: []agent.Hook{s.hook()}}.Run(t, "go")
	if diff := cmp.Diff("invoke_agent tested\n  chat\n", s.tree(t)); diff != "" {
		t.Error(diff)
	}
}

// A hook outside of Telemetry may start a span of its own for a call.
func TestSpanOfAnOuterHookIsKept(t *testing.T) {
	s := newSink(t)
	outer := guard(func(h *agent.Hooks) {
		h.AroundLLM.AddFunc(func(
			ctx context.Context, _ *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
		) (hookkit.Answer[agent.LLMResponse], error) {
			ctx, span := s.tracer().Start(ctx, "wait for a slot")
			defer span.End()
			return next.Call(ctx, req)
		}, hookkit.Priority(hookkit.Safety))
	})
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("hi")}, Hooks: []agent.Hook{s.hook(), outer},
	}.Run(t, "go")
	if want := "invoke_agent tested\nwait for a slot\n  chat\n"; want != s.tree(t) {
		t.Error(s.tree(t))
	}
}

func TestRetryHasASpanForEachAttempt(t *testing.T) {
	s := newSink(t)
	retry := guard(func(h *agent.Hooks) {
		h.AroundTool.AddFunc(func(
			ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
		) (hookkit.Answer[agent.ToolCallResult], error) {
			if answer, err := next.Call(ctx, call); err == nil {
				return answer, nil
			}
			return next.Call(ctx, call)
		}, hookkit.Priority(hookkit.Mutation))
	})
	calls := 0
	flaky := loop.Tool("flaky", "fails once", func(context.Context, struct{}) (string, error) {
		if calls++; calls == 1 {
			return "", errors.New("no route")
		}
		return "ok", nil
	})
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("flaky", "{}"), looptest.Reply("done")}, Tools: []agent.Tool{flaky},
		Hooks: []agent.Hook{s.hook(), retry},
	}.Run(t, "go")
	want := "invoke_agent tested\n  chat\n  execute_tool flaky\n  execute_tool flaky\n  chat\n"
	if got := s.tree(t); got != want {
		t.Error(got)
	}
}

// The agent and its sub-agent both use the hook, so that it fires twice in the sub-run.
func TestHookBoundTwiceRecordsOnce(t *testing.T) {
	s := newSink(t)
	hook := s.hook()
	inner := &loop.Agent{Name: "inner", Hooks: loop.Hooks(hook), Model: looptest.NewScript(looptest.Reply("in"))}
	outer := &loop.Agent{
		Name: "outer", Hooks: loop.Hooks(hook), Tools: []agent.Tool{loop.Subagent(inner)},
		Model: looptest.NewScript(looptest.Call("inner", `{"task":"x"}`), looptest.Reply("out")),
	}
	if _, err := outer.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	want := "invoke_agent outer\n  chat\n  execute_tool inner\n    invoke_agent inner\n      chat\n  chat\n"
	if got := s.tree(t); got != want {
		t.Error(got)
	}
	calls := s.points(t, "gen_ai.client.operation.duration")
	if got := calls["gen_ai.operation.name=chat,gen_ai.provider.name=test"]; got != "3" {
		t.Errorf("%s model calls are counted", got)
	}
}

// Each case ends a run in another way. No span may stay open.
func TestSpansEndHoweverTheRunEnds(t *testing.T) {
	tool := func(f func(ctx context.Context) (string, error)) agent.Tool {
		return loop.Tool("work", "works", func(ctx context.Context, _ struct{}) (string, error) { return f(ctx) })
	}
	model := func(f func(ctx context.Context) error) looptest.Turn {
		return looptest.Func(func(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
			return agent.LLMResponse{}, f(ctx)
		})
	}
	work := looptest.Call("work", "{}")
	abandoned := make(chan struct{})
	t.Cleanup(func() { close(abandoned) })
	for _, c := range []struct {
		name   string
		turn   looptest.Turn
		tool   func(ctx context.Context) (string, error)
		hook   guard
		cancel bool   // cancel the run in the model or the tool
		span   string // that has the error; "" for none
		class  string
	}{
		{name: "model error", turn: model(func(context.Context) error { return errors.New("429") }), span: "chat",
			class: "_OTHER"},
		{name: "model panic", turn: model(func(context.Context) error { panic("model") }), span: "chat",
			class: "panic"},
		{name: "model goexit", turn: model(func(context.Context) error { runtime.Goexit(); return nil }), span: "chat",
			class: "panic"},
		{name: "model too long", turn: model(func(context.Context) error { return &agent.PromptTooLong{} }), span: "chat",
			class: "prompt_too_long"},
		{name: "model cancelled", turn: model(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }),
			cancel: true, span: "chat", class: "cancelled"},
		{name: "tool error", turn: work, tool: func(context.Context) (string, error) { return "", errors.New("404") },
			span: "execute_tool work", class: "_OTHER"},
		{name: "tool kind", turn: work, tool: func(context.Context) (string, error) {
			return "", &agent.ToolError{Kind: agent.FailTimeout}
		}, span: "execute_tool work", class: "timeout"},
		{name: "tool invents a kind", turn: work, tool: func(context.Context) (string, error) {
			return "", &agent.ToolError{Kind: "kind-4711"}
		}, span: "execute_tool work", class: "_OTHER"},
		{name: "tool panic", turn: work, tool: func(context.Context) (string, error) { panic("tool") },
			span: "execute_tool work", class: "panic"},
		{name: "tool goexit", turn: work, tool: func(context.Context) (string, error) { runtime.Goexit(); return "", nil },
			span: "execute_tool work", class: "panic"},
		{name: "tool cancelled", turn: work, tool: func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}, cancel: true, span: "execute_tool work", class: "cancelled"},
		{name: "tool abandoned", turn: work, tool: func(context.Context) (string, error) { <-abandoned; return "", nil },
			cancel: true, span: "execute_tool work", class: "cancelled"},
		{name: "hook error at the start", hook: func(h *agent.Hooks) {
			h.OnRunStart.AddFunc(func(context.Context, *agent.Run, agent.RunStart) (agent.OnRunStartOutcome, error) {
				return nil, errors.New("no")
			})
		}, span: "invoke_agent tested", class: "_OTHER"},
		{name: "hook goexit before the model", hook: func(h *agent.Hooks) {
			h.BeforeLLM.AddFunc(func(context.Context, *agent.Run, agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
				runtime.Goexit()
				return nil, nil
			})
		}, span: "invoke_agent tested", class: "_OTHER"},
		{name: "inner hook panics", turn: work, tool: func(context.Context) (string, error) { return "", nil },
			hook: func(h *agent.Hooks) {
				h.AroundTool.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest, agent.AroundToolNext) (
					hookkit.Answer[agent.ToolCallResult], error,
				) {
					panic("hook")
				})
			}, span: "execute_tool work", class: "hook"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSink(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			h := looptest.Harness{
				Turns: []looptest.Turn{c.turn, looptest.Reply("done")}, Hooks: []agent.Hook{s.hook()},
				Agent: &loop.Agent{Name: "tested", Limits: loop.Limits{Grace: time.Nanosecond}},
			}
			if c.hook != nil {
				h.Hooks = append(h.Hooks, c.hook)
			}
			if c.cancel { // when the call has begun
				h.Hooks = append(h.Hooks, guard(func(h *agent.Hooks) {
					if c.tool == nil {
						h.AroundLLM.AddFunc(func(ctx context.Context, _ *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext) (
							hookkit.Answer[agent.LLMResponse], error,
						) {
							cancel()
							return next.Call(ctx, req)
						})
						return
					}
					h.AroundTool.AddFunc(func(
						ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
					) (hookkit.Answer[agent.ToolCallResult], error) {
						cancel()
						return next.Call(ctx, call)
					})
				}))
			}
			if c.tool != nil {
				h.Tools = []agent.Tool{tool(c.tool)}
			}
			ran := h.Make()
			done := make(chan struct{})
			go func() { // a hook may end the goroutine
				defer close(done)
				_, _ = ran.Agent.Do(ctx, loop.Request{Task: "go"})
			}()
			<-done
			s.checkEnded(t)
			if c.span != "" {
				got := s.spans.Ended()
				for _, span := range got {
					if span.Name() == c.span && span.Status().Code == codes.Error {
						if class := values(span.Attributes())["error.type"]; class != c.class {
							t.Errorf("the class is %q", class)
						}
						return
					}
				}
				t.Errorf("no span %s has an error: %s", c.span, s.everything())
			}
		})
	}
}

func TestSpansHaveTheAttributesOfTheConventions(t *testing.T) {
	s := newSink(t)
	work := loop.Tool("work", "works", func(context.Context, struct{}) (string, error) { return "ok", nil })
	h := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Call("work", "{}").ID("call_7"),
			looptest.Reply("done").Uses(agent.Usage{Input: 12, Output: 3, CacheRead: 8}).Finish("stop"),
		},
		Tools: []agent.Tool{work}, Hooks: []agent.Hook{s.hook()},
		Agent: &loop.Agent{Name: "planner", Request: agent.LLMRequest{Model: "gpt-9", MaxTokens: 100}},
	}
	ran := h.Do(t, t.Context(), loop.Request{
		Task: "go", Conversation: "c1", User: "ann", Tenant: "acme", ID: "r1",
	})
	if ran.Failed != nil {
		t.Fatal(ran.Failed)
	}
	owner := map[string]string{
		"gen_ai.provider.name": "test", "gen_ai.conversation.id": "c1", "user.id": "ann", "hookgen.tenant": "acme",
		"hookgen.run.id": "r1",
	}
	chats := s.spans.Ended()
	for name, want := range map[string]map[string]string{
		"invoke_agent planner": {
			"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "planner", "gen_ai.usage.input_tokens": "12",
			"gen_ai.usage.output_tokens": "3", "gen_ai.usage.cache_read.input_tokens": "8", "hookgen.run.steps": "2",
			"hookgen.run.model_calls": "2", "hookgen.run.stop.cause": "completed",
		},
		"chat gpt-9": {
			"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-9", "gen_ai.request.max_tokens": "100",
			"gen_ai.usage.input_tokens": "12", "gen_ai.usage.output_tokens": "3",
			"gen_ai.usage.cache_read.input_tokens": "8", "gen_ai.response.finish_reasons": `["stop"]`, "hookgen.step": "2",
		},
		"execute_tool work": {
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "work", "gen_ai.tool.type": "function",
			"gen_ai.tool.call.id": "call_7", "hookgen.step": "1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range owner {
				want[key] = value
			}
			var got map[string]string
			for _, span := range chats { // the last one of the name
				if span.Name() == name {
					got = values(span.Attributes())
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if kind := s.span(t, "execute_tool work").SpanKind(); kind != trace.SpanKindInternal {
		t.Errorf("the kind of the tool's span is %v", kind)
	}
}

func TestMetricsCountCallsAndTokens(t *testing.T) {
	s := newSink(t)
	fail := loop.Tool("fail", "fails", func(context.Context, struct{}) (string, error) { return "", errors.New("x") })
	h := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Calls(looptest.Call("fail", "{}"), looptest.Call("invented", "{}")).Uses(agent.Usage{Input: 5, Output: 1}),
			looptest.Reply("done").Uses(agent.Usage{Input: 7, Output: 2}),
		},
		Tools: []agent.Tool{fail}, Hooks: []agent.Hook{s.hook()},
		Agent: &loop.Agent{Name: "planner", Request: agent.LLMRequest{Model: "m"}},
	}
	if ran := h.Run(t, "go"); ran.Failed != nil {
		t.Fatal(ran.Failed)
	}
	if diff := cmp.Diff(map[string]string{
		"gen_ai.operation.name=chat,gen_ai.provider.name=test,gen_ai.request.model=m,gen_ai.token.type=input":  "2 12",
		"gen_ai.operation.name=chat,gen_ai.provider.name=test,gen_ai.request.model=m,gen_ai.token.type=output": "2 3",
	}, s.points(t, "gen_ai.client.token.usage")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{
		"gen_ai.operation.name=chat,gen_ai.provider.name=test,gen_ai.request.model=m":                          "2",
		"gen_ai.agent.name=planner,gen_ai.operation.name=invoke_agent,gen_ai.provider.name=test":               "1",
		"error.type=_OTHER,gen_ai.operation.name=execute_tool,gen_ai.provider.name=test,gen_ai.tool.name=fail": "1",
	}, s.points(t, "gen_ai.client.operation.duration")); diff != "" {
		t.Error(diff)
	}
}

// A server names another model in each reply.
func TestMetricsHaveABoundedNumberOfSeries(t *testing.T) {
	s := newSink(t)
	h := new(agent.Hooks)
	h.Use(s.hook())
	run := agent.NewRun(&agent.Env{})
	for i := range 1000 {
		name := fmt.Sprint("model-", i)
		_, err := h.AroundLLM.Fire(t.Context(), run, agent.LLMRequest{Model: name}, func(
			context.Context, agent.LLMRequest,
		) (agent.LLMResponse, error) {
			return agent.LLMResponse{Model: name}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.AroundTool.Fire(t.Context(), run, agent.ToolCallRequest{Name: name}, func(
			context.Context, agent.ToolCallRequest,
		) (agent.ToolCallResult, error) {
			return agent.ToolCallResult{}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	series := s.points(t, "gen_ai.client.operation.duration")
	if len(series) != 202 {
		t.Errorf("%d series", len(series))
	}
	if n := series["gen_ai.operation.name=execute_tool,gen_ai.provider.name=test,gen_ai.tool.name=_OTHER"]; n != "1000" {
		t.Errorf("%s calls of tools that are not in the table", n)
	}
}

// broken panics in all of its methods.
type broken struct{}

func (broken) OnStart(context.Context, sdktrace.ReadWriteSpan) { panic("start") }
func (broken) OnEnd(sdktrace.ReadOnlySpan)                     { panic("end") }
func (broken) Shutdown(context.Context) error                  { return nil }
func (broken) ForceFlush(context.Context) error                { return nil }

func TestPanicOfTheSDKAffectsNoRun(t *testing.T) {
	var reported []error
	global.SetErrorHandler(global.ErrorHandlerFunc(func(err error) { reported = append(reported, err) }))
	s := newSink(t)
	s.traces.RegisterSpanProcessor(broken{})
	work := loop.Tool("work", "works", func(context.Context, struct{}) (string, error) { return "ok", nil })
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("work", "{}"), looptest.Reply("done")}, Tools: []agent.Tool{work},
		Hooks: []agent.Hook{s.hook()},
	}.Run(t, "go")
	if ran.Failed != nil || ran.Reply != "done" || !ran.Calls[0].OK() {
		t.Error(ran.Failed, ran.Reply, ran.Calls)
	}
	if len(reported) == 0 || !strings.Contains(reported[0].Error(), "panic: start") {
		t.Errorf("reported: %v", reported)
	}
}

func TestWithoutAnSDKNothingIsRecorded(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("done")}, Hooks: []agent.Hook{new(otel.Telemetry)},
	}.Run(t, "go")
	if ran.Failed != nil || ran.Reply != "done" {
		t.Error(ran.Failed, ran.Reply)
	}
}

func TestTelemetryPassesTheChecksOfHooks(t *testing.T) {
	looptest.Check(t, func() agent.Hook { return newSink(t).hook() })
}
