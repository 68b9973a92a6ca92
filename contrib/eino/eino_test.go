package eino_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hookgen/hookgen/contrib/eino"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/adapt"
	"github.com/hookgen/hookgen/loop/adapt/adapttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A player is a model that calls the tools in turn, all of a turn at once, and then says "done". It keeps its requests.
type player struct {
	*recorded
	turns [][]string
	tools []*schema.ToolInfo
	fail  func(ctx context.Context) error
}

type recorded struct {
	mu       sync.Mutex
	requests [][]*schema.Message
	offered  [][]string
}

func (p player) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, in)
	var names []string
	for _, t := range model.GetCommonOptions(&model.Options{Tools: p.tools}, opts...).Tools {
		names = append(names, t.Name)
	}
	p.offered = append(p.offered, names)
	if p.fail != nil {
		return nil, p.fail(ctx)
	}
	turn := 0
	for _, m := range in {
		if len(m.ToolCalls) > 0 {
			turn++
		}
	}
	if turn >= len(p.turns) {
		return schema.AssistantMessage("done", nil), nil
	}
	m := schema.AssistantMessage("", nil)
	for _, name := range p.turns[turn] {
		m.ToolCalls = append(m.ToolCalls, schema.ToolCall{
			ID: "call_" + name, Type: "function", Function: schema.FunctionCall{Name: name, Arguments: `{"n":1}`},
		})
	}
	m.ResponseMeta = &schema.ResponseMeta{FinishReason: "tool_calls", Usage: &schema.TokenUsage{PromptTokens: 5}}
	m.Extra = map[string]any{"signature": "s"}
	return m, nil
}

func (p player) Stream(
	ctx context.Context, in []*schema.Message, opts ...model.Option,
) (*schema.StreamReader[*schema.Message], error) {
	m, err := p.Generate(ctx, in, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

func (p player) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	p.tools = tools
	return p, nil
}

type info string

func (i info) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: string(i), Desc: "a tool"}, nil
}

// A text tool returns text, or what run returns.
type text struct {
	info
	run func(ctx context.Context, args string) (string, error)
}

func (t text) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	if t.run == nil {
		return "ran " + args, nil
	}
	return t.run(ctx, args)
}

// A streaming tool returns chunks.
type streaming struct {
	info
	err error // after the first chunk
}

func (s streaming) StreamableRun(
	_ context.Context, args string, _ ...tool.Option,
) (*schema.StreamReader[string], error) {
	r, w := schema.Pipe[string](3)
	w.Send("ran ", nil)
	w.Send(args, s.err)
	w.Close()
	return r, nil
}

// An opened tool streams what open returns.
type opened struct {
	info
	open func() (*schema.StreamReader[string], error)
}

func (o opened) StreamableRun(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
	return o.open()
}

type picture struct{ info }

func (picture) InvokableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
	panic("a tool that hooks cannot see ran")
}

// run runs a react agent and returns the result and the last request to the model.
func run(
	t *testing.T, ctx context.Context, h *adapt.Host, p player, stream bool, tools ...tool.BaseTool,
) (agent.AgentResult, []*schema.Message, error) {
	t.Helper()
	p.recorded = new(recorded)
	a, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: eino.Model(h, p), ToolsConfig: compose.ToolsNodeConfig{Tools: eino.Tools(h, tools...)},
	})
	if err != nil {
		t.Fatal(err)
	}
	result, err := h.Run(ctx, adapt.Task{Text: "go"}, func(ctx context.Context, task adapt.Task) (string, error) {
		in := []*schema.Message{schema.UserMessage(task.Text)}
		if !stream {
			reply, err := a.Generate(ctx, in)
			if err != nil {
				return "", err
			}
			return reply.Content, nil
		}
		out, err := a.Stream(ctx, in)
		if err != nil {
			return "", err
		}
		reply, err := schema.ConcatMessageStream(out)
		if err != nil {
			return "", err
		}
		return reply.Content, nil
	})
	if len(p.requests) == 0 {
		return result, nil, err
	}
	return result, p.requests[len(p.requests)-1], err
}

// outputs returns the tool messages, in call order.
func outputs(request []*schema.Message) (all []string) {
	for _, m := range request {
		if m.Role == schema.Tool {
			all = append(all, m.ToolCallID+": "+m.Content)
		}
	}
	return all
}

func TestDeniedCallIsAResultForModel(t *testing.T) {
	for _, stream := range []bool{false, true} {
		h := &adapt.Host{Hooks: new(agent.Hooks)}
		h.Hooks.OnPermission.AddFunc(func(_ context.Context, _ *agent.Run, c agent.ToolCallRequest) (
			agent.OnPermissionOutcome, error,
		) {
			if c.Name == "b" {
				return agent.Deny{Reason: "never"}, nil
			}
			return nil, nil
		})
		ran := text{"b", func(context.Context, string) (string, error) { t.Error("b ran"); return "", nil }}
		result, last, err := run(t, t.Context(), h, player{turns: [][]string{{"a", "b", "c"}}}, stream,
			text{info: "a"}, ran, streaming{info: "c"})
		if err != nil || result.Reply != "done" || result.ModelCalls != 2 || result.Usage.Input != 5 {
			t.Fatalf("%+v, %v", result, err)
		}
		want := []string{
			`call_a: ran {"n":1}`, "call_b: error: Permission denied for tool 'b': never", `call_c: ran {"n":1}`,
		}
		if diff := cmp.Diff(want, outputs(last)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestUnchangedMessagesKeepTheirExtras(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	_, last, err := run(t, t.Context(), h, player{turns: [][]string{{"a"}}}, false, text{info: "a"})
	if err != nil || len(last) != 3 || last[1].Extra["signature"] != "s" {
		t.Error(last, err)
	}
}

func TestHooksChangeRequestsRepliesAndResults(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	h.Hooks.BeforeLLM.AddFunc(func(_ context.Context, _ *agent.Run, req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
		req.Messages = append([]agent.Message{{Role: agent.RoleSystem, Content: "be brief"}}, req.Messages...)
		req.Tools = req.Tools[:1]
		return agent.ReplaceBeforeLLM(req, ""), nil
	})
	h.Hooks.BeforeTool.AddFunc(func(_ context.Context, _ *agent.Run, c agent.ToolCallRequest) (
		agent.BeforeToolOutcome, error,
	) {
		c.Args = []byte(`{"n":2}`)
		return agent.ReplaceBeforeTool(c, ""), nil
	})
	h.Hooks.AfterTool.AddFunc(func(_ context.Context, _ *agent.Run, r agent.ToolCallResult) (
		agent.AfterToolOutcome, error,
	) {
		r.Output = strings.ToUpper(r.Output)
		return agent.ReplaceAfterTool(r, ""), nil
	})
	h.Hooks.AfterLLM.AddFunc(func(_ context.Context, _ *agent.Run, r agent.LLMResponse) (agent.AfterLLMOutcome, error) {
		if r.Content == "done" {
			r.Content = "edited"
			return agent.ReplaceAfterLLM(r, ""), nil
		}
		return nil, nil
	})
	p := player{turns: [][]string{{"a"}}, recorded: new(recorded)}
	result, last, err := run(t, t.Context(), h, p, false, text{info: "a"}, text{info: "b"})
	if err != nil || result.Reply != "edited" {
		t.Fatal(result.Reply, err)
	}
	if last[0].Content != "be brief" || last[2].Extra["signature"] != "s" {
		t.Error(last)
	}
	if diff := cmp.Diff([]string{`call_a: RAN {"N":2}`}, outputs(last)); diff != "" {
		t.Error(diff)
	}
}

func TestHooksRemoveTools(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	h.Hooks.BeforeLLM.AddFunc(func(_ context.Context, _ *agent.Run, req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
		req.Tools = req.Tools[1:]
		return agent.ReplaceBeforeLLM(req, ""), nil
	})
	p := player{recorded: new(recorded)}
	m, err := eino.Model(h, p).WithTools([]*schema.ToolInfo{{Name: "a"}, {Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Run(t.Context(), adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
		_, err := m.Generate(ctx, []*schema.Message{schema.UserMessage("go")})
		return "", err
	})
	if diff := cmp.Diff([][]string{{"b"}}, p.offered); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestHooksEndTheRunWithAReply(t *testing.T) {
	for _, stream := range []bool{false, true} {
		h := &adapt.Host{Hooks: new(agent.Hooks)}
		h.Hooks.BeforeTool.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			return agent.EndTurn{Reply: "bye", Reason: "enough"}, nil
		})
		result, _, err := run(t, t.Context(), h, player{turns: [][]string{{"a"}}}, stream, text{info: "a"})
		if err != nil || result.Reply != "bye" || result.Stop.Cause != agent.CauseStopRequested {
			t.Errorf("%+v, %v", result, err)
		}
	}
}

// Each case fails another part. The error reaches the caller, and the run ends in order.
func TestFailuresOfOtherToolsReachTheCaller(t *testing.T) {
	lost := errors.New("connection lost")
	for _, c := range []struct {
		name string
		tool tool.BaseTool
		want string
	}{
		{"stream breaks", streaming{"a", io.ErrUnexpectedEOF}, "unexpected EOF"},
		{"stream does not begin", opened{"a", func() (*schema.StreamReader[string], error) { return nil, lost }},
			"connection lost"},
		{"stream panics", opened{"a", func() (*schema.StreamReader[string], error) { panic("oops") }}, "oops"},
		{"stream is missing", opened{"a", func() (*schema.StreamReader[string], error) { return nil, nil }}, "panic"},
		{"enhanced tool", picture{"a"}, "returns no text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &adapt.Host{Hooks: new(agent.Hooks)}
			h.Hooks.HandleFailures(func(context.Context, *hookkit.Failure) {})
			ended := 0
			h.Hooks.OnRunEnd.ObserveFunc(func(context.Context, *agent.Run, agent.OnRunEndFired[agent.AgentResult]) { ended++ })
			p := player{turns: [][]string{{"a"}}}
			result, _, err := run(t, t.Context(), h, p, false, c.tool)
			if err == nil || !strings.Contains(err.Error(), c.want) || result.Err == "" || ended != 1 {
				t.Errorf("%v, %+v", err, result)
			}
		})
	}
}

// nothing is a model that replies with neither a message nor an error.
type nothing struct{ player }

func (nothing) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	return nil, nil
}

func TestMissingReplyIsAnError(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	m := eino.Model(h, nothing{})
	result, err := h.Run(t.Context(), adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
		_, err := m.Generate(ctx, []*schema.Message{schema.UserMessage("go")})
		return "", err
	})
	if err == nil || result.Stop.Cause != agent.CauseError {
		t.Errorf("%v, %+v", err, result)
	}
}

// A caller that reads no more of a stream leaves no goroutine.
func TestClosedStreamEndsTheRun(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	p := player{turns: [][]string{{"a"}}, recorded: new(recorded)}
	a, err := react.NewAgent(t.Context(), &react.AgentConfig{
		ToolCallingModel: eino.Model(h, p), ToolsConfig: compose.ToolsNodeConfig{Tools: eino.Tools(h, text{info: "a"})},
	})
	if err != nil {
		t.Fatal(err)
	}
	result, err := h.Run(t.Context(), adapt.Task{Text: "go"}, func(ctx context.Context, task adapt.Task) (string, error) {
		out, err := a.Stream(ctx, []*schema.Message{schema.UserMessage(task.Text)})
		if err == nil {
			out.Close()
		}
		return "closed", err
	})
	if err != nil || result.Reply != "closed" || result.ModelCalls != 2 {
		t.Errorf("%v, %+v", err, result)
	}
}

// stubbed runs a react agent with the parts of a stub.
func stubbed(t *testing.T, stream bool) adapttest.Run {
	return func(ctx context.Context, h *adapt.Host, stub adapttest.Stub) (agent.AgentResult, error) {
		a := text{"a", func(ctx context.Context, _ string) (string, error) {
			if stub.Tool != nil {
				if err := stub.Tool(ctx); err != nil {
					return "", err
				}
			}
			return "ran", nil
		}}
		result, _, err := run(t, ctx, h, player{turns: [][]string{{"a"}}, fail: stub.Model}, stream, a)
		return result, err
	}
}

func TestFailuresReachTheCaller(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream %t", stream), func(t *testing.T) { adapttest.CheckFailures(t, stubbed(t, stream)) })
	}
}

func TestCancellationEndsTheRun(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream %t", stream), func(t *testing.T) { adapttest.CheckCancellation(t, stubbed(t, stream)) })
	}
}

func TestCancellationDuringTheStreamOfATool(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream %t", stream), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			h := &adapt.Host{Hooks: new(agent.Hooks)}
			a := slow{"a", func(ctx context.Context) error {
				cancel()
				<-ctx.Done()
				return ctx.Err()
			}}
			result, _, err := run(t, ctx, h, player{turns: [][]string{{"a"}}}, stream, a)
			if !errors.Is(err, context.Canceled) || result.Stop.Cause != agent.CauseUserRequested || result.Reply != "" {
				t.Errorf("%v, %+v, %q", err, result.Stop, result.Reply)
			}
		})
	}
}

// A slow tool streams one chunk, and then the error of end, from a goroutine of its own.
type slow struct {
	info
	end func(ctx context.Context) error
}

func (s slow) StreamableRun(ctx context.Context, _ string, _ ...tool.Option) (*schema.StreamReader[string], error) {
	r, w := schema.Pipe[string](1)
	go func() {
		defer w.Close()
		w.Send("ran ", nil)
		w.Send("", s.end(ctx))
	}()
	return r, nil
}

func TestChatModelAgentFiresTheHooks(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	h.Hooks.OnPermission.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (
		agent.OnPermissionOutcome, error,
	) {
		return agent.Deny{Reason: "never"}, nil
	})
	p := player{turns: [][]string{{"a"}}, recorded: new(recorded)}
	a, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "works", Model: eino.Model(h, p), ToolsConfig: adk.ToolsConfig{
			ToolsNodeConfig: compose.ToolsNodeConfig{Tools: eino.Tools(h, text{info: "a"})},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: a})
	result, err := h.Run(t.Context(), adapt.Task{Text: "go"}, func(ctx context.Context, task adapt.Task) (string, error) {
		reply := ""
		for events := runner.Query(ctx, task.Text); ; {
			e, ok := events.Next()
			if !ok {
				return reply, nil
			}
			if e.Err != nil {
				return "", e.Err
			}
			reply = e.Output.MessageOutput.Message.Content
		}
	})
	if err != nil || result.Reply != "done" || result.Calls[0].Status != agent.CallRefused {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestInterruptionReachesTheCaller(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	ask := text{"a", func(ctx context.Context, _ string) (string, error) {
		return "", compose.Interrupt(ctx, "which file?")
	}}
	_, _, err := run(t, t.Context(), h, player{turns: [][]string{{"a"}}}, false, ask)
	if got, ok := compose.ExtractInterruptInfo(err); !ok || len(got.InterruptContexts) != 1 {
		t.Errorf("%v, %v", err, got)
	}
}
