package langchaingo_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"
	"go.uber.org/goleak"

	"github.com/hookgen/hookgen/contrib/langchaingo"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/adapt"
	"github.com/hookgen/hookgen/loop/adapt/adapttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A player is a model with tool calls: one reply per turn, then "done". It keeps its requests.
type player struct {
	turns    [][]llms.ToolCall
	fail     func(ctx context.Context) error
	requests [][]llms.MessageContent
}

func (p *player) Call(ctx context.Context, prompt string, opts ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, p, prompt, opts...)
}

func (p *player) GenerateContent(
	ctx context.Context, in []llms.MessageContent, _ ...llms.CallOption,
) (*llms.ContentResponse, error) {
	p.requests = append(p.requests, in)
	if p.fail != nil {
		return nil, p.fail(ctx)
	}
	c := &llms.ContentChoice{GenerationInfo: map[string]any{"PromptTokens": 5, "InputTokens": int64(5)}}
	if turn := len(p.requests) - 1; turn < len(p.turns) {
		c.ToolCalls = p.turns[turn]
	} else {
		c.Content = "done"
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{c}}, nil
}

func calls(names ...string) (all []llms.ToolCall) {
	for _, name := range names {
		all = append(all, llms.ToolCall{
			ID: "call_" + name, Type: "function",
			FunctionCall: &llms.FunctionCall{Name: name, Arguments: `{"__arg1":"x"}`},
		})
	}
	return all
}

// A named tool returns its input, or what run returns.
type named struct {
	name string
	run  func(ctx context.Context, input string) (string, error)
}

func (n named) Name() string      { return n.name }
func (named) Description() string { return "a tool" }

func (n named) Call(ctx context.Context, input string) (string, error) {
	if n.run == nil {
		return "ran " + input, nil
	}
	return n.run(ctx, input)
}

func run(ctx context.Context, h *adapt.Host, p *player, all ...tools.Tool) (agent.AgentResult, error) {
	a := agents.NewOpenAIFunctionsAgent(langchaingo.Model(h, p), langchaingo.Tools(h, all...))
	executor := agents.NewExecutor(a)
	return h.Run(ctx, adapt.Task{Text: "go"}, func(ctx context.Context, task adapt.Task) (string, error) {
		return chains.Run(ctx, executor, task.Text)
	})
}

// outputs returns the results of tools in a request, in call order.
func outputs(request []llms.MessageContent) (all []string) {
	for _, m := range request {
		for _, p := range m.Parts {
			if r, ok := p.(llms.ToolCallResponse); ok {
				all = append(all, r.Content)
			}
		}
	}
	return all
}

func deny(name string) agent.OnPermissionFunc {
	return func(_ context.Context, _ *agent.Run, c agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		if c.Name == name {
			return agent.Deny{Reason: "never"}, nil
		}
		return nil, nil
	}
}

func TestDeniedCallIsAResultForModel(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	h.Hooks.OnPermission.AddFunc(deny("b"))
	b := named{"b", func(context.Context, string) (string, error) { t.Error("b ran"); return "", nil }}
	p := &player{turns: [][]llms.ToolCall{calls("a", "b")}}
	result, err := run(t.Context(), h, p, named{name: "a"}, b)
	if err != nil || result.Reply != "done" || result.ModelCalls != 2 || result.Usage.Input != 10 {
		t.Fatalf("%+v, %v", result, err)
	}
	want := []string{"ran x", "error: Permission denied for tool 'b': never"}
	if diff := cmp.Diff(want, outputs(p.requests[1])); diff != "" {
		t.Error(diff)
	}
}

func TestHooksChangeRequestsRepliesAndResults(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	h.Hooks.BeforeLLM.AddFunc(func(_ context.Context, _ *agent.Run, req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
		req.Messages = append([]agent.Message{{Role: agent.RoleSystem, Content: "be brief"}}, req.Messages...)
		for i, m := range req.Messages {
			if m.Role == agent.RoleTool || len(m.ToolCalls) > 0 {
				req.Messages[i].Content += "!"
			}
		}
		return agent.ReplaceBeforeLLM(req, ""), nil
	})
	h.Hooks.BeforeTool.AddFunc(func(_ context.Context, _ *agent.Run, c agent.ToolCallRequest) (
		agent.BeforeToolOutcome, error,
	) {
		if string(c.Args) != `{"input":"x"}` {
			t.Errorf("the arguments are %s", c.Args)
		}
		c.Args = []byte(`{"input":"y"}`)
		return agent.ReplaceBeforeTool(c, ""), nil
	})
	h.Hooks.AfterTool.AddFunc(func(_ context.Context, _ *agent.Run, r agent.ToolCallResult) (
		agent.AfterToolOutcome, error,
	) {
		r.Output = strings.ToUpper(r.Output)
		return agent.ReplaceAfterTool(r, ""), nil
	})
	h.Hooks.AfterLLM.AddFunc(func(_ context.Context, _ *agent.Run, r agent.LLMResponse) (agent.AfterLLMOutcome, error) {
		r.Content += "."
		return agent.ReplaceAfterLLM(r, ""), nil
	})
	p := &player{turns: [][]llms.ToolCall{calls("a")}}
	result, err := run(t.Context(), h, p, named{name: "a"})
	if err != nil || result.Reply != "done." {
		t.Fatal(result.Reply, err)
	}
	last := p.requests[1]
	if diff := cmp.Diff([]string{"RAN Y!"}, outputs(last)); diff != "" {
		t.Error(diff)
	}
	var roles []llms.ChatMessageType
	for _, m := range last {
		roles = append(roles, m.Role)
	}
	want := []llms.ChatMessageType{"system", "system", "human", "ai", "tool"}
	if diff := cmp.Diff(want, roles); diff != "" || last[0].Parts[0] != (llms.TextContent{Text: "be brief"}) {
		t.Error(diff, last)
	}
	if call, ok := last[3].Parts[1].(llms.ToolCall); !ok || call.ID != "call_a" || call.FunctionCall.Name != "a" {
		t.Error(last[3])
	}
}

func TestObjectsPassToToolsAsTheyAre(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	_, err := h.Run(t.Context(), adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
		for _, input := range []string{`{"city":"Oslo"}`, "Oslo", "", "{", `"x"`} {
			if out, err := langchaingo.Tools(h, named{name: "a"})[0].Call(ctx, input); err != nil || out != "ran "+input {
				t.Errorf("%q: %q, %v", input, out, err)
			}
		}
		return "", nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestHooksEndTheRunWithAReply(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	h.Hooks.BeforeTool.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		return agent.EndTurn{Reply: "bye", Reason: "enough"}, nil
	})
	result, err := run(t.Context(), h, &player{turns: [][]llms.ToolCall{calls("a")}}, named{name: "a"})
	if err != nil || result.Reply != "bye" || result.Stop.Cause != agent.CauseStopRequested {
		t.Errorf("%+v, %v", result, err)
	}
}

// stubbed runs an agent with the parts of a stub.
func stubbed(ctx context.Context, h *adapt.Host, stub adapttest.Stub) (agent.AgentResult, error) {
	a := named{"a", func(ctx context.Context, _ string) (string, error) {
		if stub.Tool != nil {
			if err := stub.Tool(ctx); err != nil {
				return "", err
			}
		}
		return "ran", nil
	}}
	return run(ctx, h, &player{turns: [][]llms.ToolCall{calls("a")}, fail: stub.Model}, a)
}

func TestFailuresReachTheCaller(t *testing.T) { adapttest.CheckFailures(t, stubbed) }

func TestCancellationEndsTheRun(t *testing.T) { adapttest.CheckCancellation(t, stubbed) }

// A streamer is a model that streams chunks until the streaming function fails.
type streamer struct{ llms.Model }

func (streamer) GenerateContent(
	ctx context.Context, _ []llms.MessageContent, opts ...llms.CallOption,
) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, opt := range opts {
		opt(&o)
	}
	for {
		if err := o.StreamingFunc(ctx, []byte("a")); err != nil {
			return nil, err
		}
	}
}

func TestCancellationDuringStreamingEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	chunks := 0
	result, err := h.Run(ctx, adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
		out, err := langchaingo.Model(h, streamer{}).GenerateContent(ctx, nil, llms.WithStreamingFunc(func(
			ctx context.Context, _ []byte,
		) error {
			if chunks++; chunks == 3 {
				cancel()
			}
			return ctx.Err()
		}))
		if out != nil {
			t.Errorf("a part is a reply: %+v", out)
		}
		return "", err
	})
	if !errors.Is(err, context.Canceled) || result.Stop.Cause != agent.CauseUserRequested || chunks != 3 {
		t.Errorf("%v, %+v after %d chunks", err, result.Stop, chunks)
	}
}

// nothing is a model that replies with neither a response nor an error.
type nothing struct{ llms.Model }

func (nothing) GenerateContent(
	context.Context, []llms.MessageContent, ...llms.CallOption,
) (*llms.ContentResponse, error) {
	return nil, nil
}

func TestMissingReplyIsAnError(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	result, err := h.Run(t.Context(), adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
		_, err := langchaingo.Model(h, nothing{}).GenerateContent(ctx, nil)
		return "", err
	})
	if err == nil || result.Stop.Cause != agent.CauseError {
		t.Errorf("%v, %+v", err, result)
	}
}

func TestReplyWithoutChoicesPasses(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	m := langchaingo.Model(h, empty{})
	_, err := h.Run(t.Context(), adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
		out, err := m.GenerateContent(ctx, nil)
		if err != nil || len(out.Choices) != 0 {
			t.Error(out, err)
		}
		return m.Call(ctx, "hello") //nolint:staticcheck // chains call it
	})
	if err == nil || !strings.Contains(err.Error(), "empty response") {
		t.Error(err)
	}
}

type empty struct{ llms.Model }

func (empty) GenerateContent(
	context.Context, []llms.MessageContent, ...llms.CallOption,
) (*llms.ContentResponse, error) {
	return &llms.ContentResponse{}, nil
}

// A model writes any input. The tool gets it as the model wrote it.
func FuzzInputsPassUnchanged(f *testing.F) {
	for _, input := range []string{"", "Oslo", `{"city":"Oslo"}`, `{"a":1,"a":2}`, "{", "null", `"x"`, "a\u2028<b>"} {
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input string) {
		if strings.ToValidUTF8(input, "") != input {
			return // JSON cannot hold it
		}
		h := &adapt.Host{Hooks: new(agent.Hooks)}
		h.Hooks.OnPermission.AddFunc(func(_ context.Context, _ *agent.Run, c agent.ToolCallRequest) (
			agent.OnPermissionOutcome, error,
		) {
			if !json.Valid(c.Args) {
				t.Errorf("the arguments are %q", c.Args)
			}
			return nil, nil
		})
		_, err := h.Run(t.Context(), adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
			return langchaingo.Tools(h, named{"a", func(_ context.Context, got string) (string, error) {
				if got != input {
					t.Errorf("%q, not %q", got, input)
				}
				return got, nil
			}})[0].Call(ctx, input)
		})
		if err != nil {
			t.Error(err)
		}
	})
}
