package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/contrib/mcp"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
)

// Hooks of the points around a tool, without the parameters that the tests do not need.
func beforeTool(f func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error)) agent.Hook {
	return agent.BeforeToolFunc(func(
		_ context.Context, _ *agent.Run, c agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		return f(c)
	})
}

func skip(r agent.ToolCallResult) agent.Hook {
	return beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		return agent.SkipTool{Result: r}, nil
	})
}

func permission(f func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error)) agent.Hook {
	return agent.OnPermissionFunc(func(
		_ context.Context, _ *agent.Run, c agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		return f(c)
	})
}

func vote(exit agent.OnPermissionOutcome, err error) agent.Hook {
	return permission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) { return exit, err })
}

func aroundTool(
	f func(c agent.ToolCallRequest, next func(agent.ToolCallRequest) (hookkit.Answer[agent.ToolCallResult], error),
	) (hookkit.Answer[agent.ToolCallResult], error),
) agent.Hook {
	return agent.AroundToolFunc(func(
		ctx context.Context, _ *agent.Run, c agent.ToolCallRequest, next agent.AroundToolNext,
	) (hookkit.Answer[agent.ToolCallResult], error) {
		return f(c, func(c agent.ToolCallRequest) (hookkit.Answer[agent.ToolCallResult], error) { return next.Call(ctx, c) })
	})
}

func afterTool(f func(agent.ToolCallResult) (agent.AfterToolOutcome, error)) agent.Hook {
	return agent.AfterToolFunc(func(
		_ context.Context, _ *agent.Run, r agent.ToolCallResult,
	) (agent.AfterToolOutcome, error) {
		return f(r)
	})
}

// changed returns a hook of AfterTool that replaces the result.
func changed(f func(*agent.ToolCallResult)) agent.Hook {
	return afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
		f(&r)
		return agent.ReplaceAfterTool(r, "changed"), nil
	})
}

// client returns a session with a server that the hooks guard.
func client(t *testing.T, server *sdk.Server, hooks *agent.Hooks, opts mcp.MiddlewareOptions) *sdk.ClientSession {
	t.Helper()
	server.AddReceivingMiddleware(mcp.Middleware(hooks, opts))
	return session(t, server)
}

func session(t *testing.T, server *sdk.Server) *sdk.ClientSession {
	t.Helper()
	ours, theirs := sdk.NewInMemoryTransports()
	serving, err := server.Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "v1"}, nil).Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		serving.Close()
	})
	return s
}

// do calls a tool and returns the texts of the result, after "error: " if it is one.
func do(t *testing.T, s *sdk.ClientSession, name, args string) (string, *sdk.CallToolResult) {
	t.Helper()
	result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range result.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			out = append(out, c.Text)
		}
	}
	text := strings.Join(out, "\n")
	if result.IsError {
		return "error: " + text, result
	}
	return text, result
}

type approver func(context.Context, agent.Question) (agent.Approval, error)

func (f approver) Approve(ctx context.Context, q agent.Question) (agent.Approval, error) {
	return f(ctx, q)
}

func TestHooksGuardTheTools(t *testing.T) {
	type (
		Next    = func(agent.ToolCallRequest) (hookkit.Answer[agent.ToolCallResult], error)
		request = agent.ToolCallRequest
	)
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		hook agent.Hook
		tool string // "": look
		want string // the beginning of the text
	}{
		"no hook": {hook: vote(nil, nil), want: "rain in Oslo"},
		"allowed": {hook: vote(agent.Allow{}, nil), want: "rain in Oslo"},
		"failed":  {hook: vote(nil, nil), tool: "fail", want: "error: no weather in Oslo"},
		"changed arguments": {hook: beforeTool(func(c request) (agent.BeforeToolOutcome, error) {
			c.Args = json.RawMessage(`{"at":"Bergen"}`)
			return agent.ReplaceBeforeTool(c, "moved"), nil
		}), want: "rain in Bergen"},
		"changed tool": {hook: beforeTool(func(c request) (agent.BeforeToolOutcome, error) {
			c.Name = "fail"
			return agent.ReplaceBeforeTool(c, "other"), nil
		}), want: "error: error: the call is refused: "},
		"skipped": {hook: skip(agent.ToolCallResult{Output: "cached"}), want: "cached"},
		"refused": {hook: skip(agent.ToolCallResult{Err: "too often"}), want: "error: error: too often"},
		"end of the turn": {hook: beforeTool(func(request) (agent.BeforeToolOutcome, error) {
			return agent.EndTurn{Reason: "enough"}, nil
		}), want: "error: error: the call is refused: the run was ended (stop_requested): enough"},
		"failing hook": {hook: beforeTool(func(request) (agent.BeforeToolOutcome, error) {
			return nil, broken
		}), want: "error: error: the call is refused: "},
		"denied": {
			hook: vote(agent.Deny{Reason: "never"}, nil), want: "error: error: Permission denied for tool 'look': never",
		},
		"failing vote": {hook: vote(nil, broken), want: "error: error: Permission denied for tool 'look': "},
		"hook that ends its goroutine": {hook: permission(func(request) (agent.OnPermissionOutcome, error) {
			runtime.Goexit()
			return nil, nil
		}), want: "error: error: the call is refused: "},
		"nobody to ask": {
			hook: vote(agent.Ask{Reason: "it looks"}, nil),
			want: "error: error: Permission denied for tool 'look': there is nobody to ask: it looks",
		},
		"tried again": {tool: "flaky", hook: aroundTool(func(
			c request, next Next,
		) (hookkit.Answer[agent.ToolCallResult], error) {
			for {
				if r, err := next(c); err == nil {
					return r, nil
				}
			}
		}), want: "third time"},
		"changed after permission": {hook: aroundTool(func(
			c request, next Next,
		) (hookkit.Answer[agent.ToolCallResult], error) {
			c.Args = json.RawMessage(`{"at":"Bergen"}`)
			return next(c)
		}), want: "error: error: a hook changed the call after it was permitted"},
		"answered around": {hook: aroundTool(func(request, Next) (hookkit.Answer[agent.ToolCallResult], error) {
			return hookkit.Answered(agent.ToolCallResult{Output: "cached"}), nil
		}), want: "cached"},
		"redacted": {hook: changed(func(r *agent.ToolCallResult) {
			r.Output = strings.ReplaceAll(r.Output, "Oslo", "[city]")
		}), want: "rain in [city]"},
		"with context": {hook: changed(func(r *agent.ToolCallResult) {
			r.Context = []string{"It is winter."}
		}), want: "rain in Oslo\n\nIt is winter."},
		"rejected": {hook: changed(func(r *agent.ToolCallResult) {
			r.Output, r.Err = "", "not for you"
		}), want: "error: error: not for you"},
		"failure stays": {tool: "fail", hook: changed(func(r *agent.ToolCallResult) {
			r.Err, r.Output = "", "all is well"
		}), want: "error: all is well"},
		"withheld": {hook: afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			return nil, broken
		}), want: "error: error: the result is withheld: "},
		"end of the turn afterwards": {hook: afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			return agent.EndTurn{}, nil
		}), want: "rain in Oslo"},
	} {
		t.Run(name, func(t *testing.T) {
			hooks := new(agent.Hooks)
			hooks.Use(c.hook)
			server := newServer()
			times := 0
			add(server, "flaky", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				if times++; times < 3 {
					return &sdk.CallToolResult{IsError: true}, nil
				}
				return text("third time"), nil
			})
			tool := c.tool
			if tool == "" {
				tool = "look"
			}
			got, _ := do(t, client(t, server, hooks, mcp.MiddlewareOptions{}), tool, `{"at":"Oslo"}`)
			if !strings.HasPrefix(got, c.want) || strings.HasPrefix(c.want, "error") != strings.HasPrefix(got, "error") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestASkippedCallNeedsPermission(t *testing.T) {
	hooks := new(agent.Hooks)
	hooks.Use(skip(agent.ToolCallResult{Output: "cached"}))
	hooks.Use(vote(agent.Deny{Reason: "never"}, nil))
	got, _ := do(t, client(t, newServer(), hooks, mcp.MiddlewareOptions{}), "look", `{"at":"Oslo"}`)
	if got != "error: error: Permission denied for tool 'look': never" {
		t.Errorf("got %q", got)
	}
}

func TestAnApproverAnswers(t *testing.T) {
	const denied = "error: error: Permission denied for tool 'look': "
	for name, c := range map[string]struct {
		answer func() (agent.Approval, error)
		want   string
	}{
		"approved": {func() (agent.Approval, error) { return agent.Approval{Allow: true}, nil }, "rain in Oslo"},
		"later": {func() (agent.Approval, error) { return agent.Approval{Allow: true, Pending: true}, nil },
			denied + "the answer comes later"},
		"declined": {func() (agent.Approval, error) { return agent.Approval{Reason: "no"}, nil }, denied + "no"},
		"failing": {func() (agent.Approval, error) {
			return agent.Approval{Allow: true}, errors.New("away")
		}, denied + "the approver failed: away"},
		"panicking": {func() (agent.Approval, error) { panic("ouch") }, denied + "the approver failed: "},
		"other arguments": {func() (agent.Approval, error) {
			return agent.Approval{Allow: true, Args: json.RawMessage(`{"at":"Bergen"}`)}, nil
		}, "rain in Bergen"},
		"denied arguments": {func() (agent.Approval, error) {
			return agent.Approval{Allow: true, Args: json.RawMessage(`{"at":"Rome"}`)}, nil
		}, denied + "not Rome"},
		"invalid arguments": {func() (agent.Approval, error) {
			return agent.Approval{Allow: true, Args: json.RawMessage(`[]`)}, nil
		}, denied + "the approval changed the arguments: they are not a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			hooks := new(agent.Hooks)
			hooks.Use(permission(func(c agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
				if strings.Contains(string(c.Args), "Rome") {
					return agent.Deny{Reason: "not Rome"}, nil
				}
				return agent.Ask{Prompt: "May it?"}, nil
			}))
			var asked agent.Question
			s := client(t, newServer(), hooks, mcp.MiddlewareOptions{Approver: approver(func(
				_ context.Context, q agent.Question,
			) (agent.Approval, error) {
				asked = q
				return c.answer()
			})})
			if got, _ := do(t, s, "look", `{"at":"Oslo"}`); !strings.HasPrefix(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if asked.Prompt != "May it?" || asked.Call.Name != "look" || asked.Tool.Description != "Looks." {
				t.Errorf("the question was %+v", asked)
			}
		})
	}
}

func TestHooksAnswerInsteadOfThePerson(t *testing.T) {
	for name, c := range map[string]struct {
		exit agent.BeforeAskOutcome
		want string
	}{
		"approve": {agent.Approve{}, "rain in Oslo"},
		"refuse":  {agent.Refuse{Reason: "at night"}, "error: error: Permission denied for tool 'look': at night"},
	} {
		t.Run(name, func(t *testing.T) {
			hooks := new(agent.Hooks)
			hooks.Use(vote(agent.Ask{}, nil))
			hooks.BeforeAsk.AddFunc(func(context.Context, *agent.Run, agent.Question) (agent.BeforeAskOutcome, error) {
				return c.exit, nil
			})
			if got, _ := do(t, client(t, newServer(), hooks, mcp.MiddlewareOptions{}), "look", `{"at":"Oslo"}`); got != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestPointsFireOncePerCall(t *testing.T) {
	hooks := new(agent.Hooks)
	hooks.Use(vote(agent.Ask{}, nil))
	record := hooktest.Record(hooks.Points())
	s := client(t, newServer(), hooks, mcp.MiddlewareOptions{Approver: approver(func(
		_ context.Context, q agent.Question,
	) (agent.Approval, error) {
		return agent.Approval{Allow: q.Call.Name == "fail"}, nil
	})})
	do(t, s, "fail", `{"at":"Oslo"}`)
	do(t, s, "look", `{"at":"Oslo"}`)
	if _, err := s.ListTools(t.Context(), nil); err != nil {
		t.Error(err)
	}
	for point, times := range map[string]int{
		"BeforeTool": 2, "OnPermission": 2, "BeforeAsk": 2, "OnPermissionGranted": 1, "OnPermissionDenied": 1,
		"AroundTool": 1, "OnToolError": 1, "AfterTool": 2, "OnRunStart": 1, "BeforeLLM": 0,
	} {
		record.Times(t, point, times)
	}
}

func TestStructuredContentFollowsTheText(t *testing.T) {
	for name, c := range map[string]struct {
		tool       string
		output     func(string) string
		structured string
	}{
		"unchanged": {"measure", func(s string) string { return s }, `{"below":3,"sky":"grey over Oslo"}`},
		"redacted": {
			"measure", func(s string) string { return strings.ReplaceAll(s, "Oslo", "***") },
			`{"below":3,"sky":"grey over ***"}`,
		},
		"replaced": {"measure", func(string) string { return "withheld" }, `null`},
		"only text": {
			"read", func(s string) string { return strings.ReplaceAll(s, "Oslo", "***") }, `{"content":"the file of ***"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			hooks := new(agent.Hooks)
			hooks.Use(changed(func(r *agent.ToolCallResult) { r.Output = c.output(r.Output) }))
			server := newServer()
			add(server, "read", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				result := text("the file of Oslo")
				result.StructuredContent = map[string]string{"content": "the file of Oslo"}
				return result, nil
			})
			_, result := do(t, client(t, server, hooks, mcp.MiddlewareOptions{}), c.tool, `{"at":"Oslo"}`)
			if got, _ := json.Marshal(result.StructuredContent); string(got) != c.structured {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestImagesPassThroughTheHooks(t *testing.T) {
	for name, c := range map[string]struct {
		keep func(agent.Part) bool
		want string
	}{
		"unchanged": {func(agent.Part) bool { return true },
			"*mcp.TextContent *mcp.ImageContent *mcp.AudioContent *mcp.EmbeddedResource"},
		"no image": {func(p agent.Part) bool { return p.MediaType != "image/png" },
			"*mcp.TextContent *mcp.AudioContent *mcp.EmbeddedResource"},
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer()
			add(server, "draw", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				result := text("see")
				result.Content = append(result.Content, &sdk.ImageContent{MIMEType: "image/png", Data: []byte{1}},
					&sdk.AudioContent{MIMEType: "audio/wav", Data: []byte{2}},
					&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///a", Blob: []byte{3}}})
				return result, nil
			})
			hooks := new(agent.Hooks)
			hooks.Use(changed(func(r *agent.ToolCallResult) {
				r.Parts = slices.DeleteFunc(slices.Clone(r.Parts), func(p agent.Part) bool { return !c.keep(p) })
			}))
			_, result := do(t, client(t, server, hooks, mcp.MiddlewareOptions{}), "draw", `{}`)
			var kinds []string
			for _, content := range result.Content {
				kinds = append(kinds, fmt.Sprintf("%T", content))
			}
			if got := strings.Join(kinds, " "); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestUnknownToolIsAProtocolError(t *testing.T) {
	s := client(t, newServer(), nil, mcp.MiddlewareOptions{})
	if result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "none"}); err == nil {
		t.Errorf("got %+v", result)
	}
}

func TestASessionIsARun(t *testing.T) {
	var counts hookkit.PerRun[int]
	hooks := new(agent.Hooks)
	hooks.BeforeTool.AddFunc(func(
		_ context.Context, run *agent.Run, _ agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		n := 0
		counts.Do(run, func(c *int) { *c++; n = *c })
		tool, known := run.Env.Tools.Lookup("look")
		if len(run.Env.Tools.Schemas()) != 3 || !known || !tool.ReadOnly || run.Env.Agent != "mcp" {
			return nil, fmt.Errorf("the tools are %v", run.Env.Tools.Schemas())
		}
		return agent.SkipTool{Result: agent.ToolCallResult{Output: fmt.Sprint(n)}}, nil
	})
	server := newServer()
	first := client(t, server, hooks, mcp.MiddlewareOptions{})
	second := session(t, server)
	var got []string
	for _, s := range []*sdk.ClientSession{first, first, second, first} {
		text, _ := do(t, s, "look", `{"at":"Oslo"}`)
		got = append(got, text)
	}
	if want := []string{"1", "2", "1", "3"}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestRequestWithoutASessionIsARun(t *testing.T) {
	var counts hookkit.PerRun[int]
	hooks := new(agent.Hooks)
	hooks.BeforeTool.AddFunc(func(
		_ context.Context, run *agent.Run, _ agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		counts.Do(run, func(c *int) { *c++ })
		return agent.SkipTool{Result: agent.ToolCallResult{Output: fmt.Sprint(counts.Load(run))}}, nil
	})
	server := newServer()
	server.AddReceivingMiddleware(mcp.Middleware(hooks, mcp.MiddlewareOptions{}))
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{Stateless: true})
	s := connect(t, mcp.HTTP{URL: listening(t, handler).URL}, mcp.Options{})
	for range 2 {
		if out, err := tool(t, s, "look").Call(t.Context(), call(`{"at":"Oslo"}`)); out != "1" {
			t.Errorf("got %q, %v", out, err)
		}
	}
}

func TestAnEndedRunRefusesAllCalls(t *testing.T) {
	for name, hook := range map[string]agent.Hook{
		"at the start": agent.OnRunStartFunc(func(
			context.Context, *agent.Run, agent.RunStart,
		) (agent.OnRunStartOutcome, error) {
			return agent.EndTurn{Reason: "closed"}, nil
		}),
		"failing at the start": agent.OnRunStartFunc(func(
			context.Context, *agent.Run, agent.RunStart,
		) (agent.OnRunStartOutcome, error) {
			return nil, errors.New("closed")
		}),
		"before a tool": beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			return agent.EndTurn{Reply: "closed"}, nil
		}),
		"a hook that would never run": agent.CheckDoneFunc(func(
			context.Context, *agent.Run, agent.DoneRequest,
		) (agent.CheckDoneOutcome, error) {
			return nil, nil
		}),
	} {
		t.Run(name, func(t *testing.T) {
			hooks := new(agent.Hooks)
			hooks.Use(hook)
			s := client(t, newServer(), hooks, mcp.MiddlewareOptions{})
			for range 2 {
				got, _ := do(t, s, "look", `{"at":"Oslo"}`)
				if !strings.HasPrefix(got, "error: error: the call is refused: ") {
					t.Errorf("got %q", got)
				}
			}
		})
	}
}

func TestEndOfASessionEndsItsRun(t *testing.T) {
	hooks := new(agent.Hooks)
	ended := make(chan agent.AgentResult, 1)
	hooks.OnRunEnd.AddFunc(func(_ context.Context, _ *agent.Run, r agent.AgentResult) error {
		ended <- r
		return nil
	})
	s := client(t, newServer(), hooks, mcp.MiddlewareOptions{})
	do(t, s, "look", `{"at":"Oslo"}`)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if r := <-ended; len(r.Calls) != 1 || r.Stop.Cause != agent.CauseCompleted {
		t.Errorf("got %+v", r)
	}
}

func TestACancelledQuestionIsADenial(t *testing.T) {
	hooks := new(agent.Hooks)
	hooks.Use(vote(agent.Ask{}, nil))
	denied := make(chan agent.Denial, 1)
	hooks.OnPermissionDenied.AddFunc(func(_ context.Context, _ *agent.Run, d agent.Denial) error {
		denied <- d
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	s := client(t, newServer(), hooks, mcp.MiddlewareOptions{Approver: approver(func(
		ctx context.Context, _ agent.Question,
	) (agent.Approval, error) {
		cancel()
		<-ctx.Done()
		return agent.Approval{Allow: true}, nil
	})})
	_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "look", Arguments: place{At: "Oslo"}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if d := <-denied; d.Kind != agent.DeniedBySilence {
		t.Errorf("got %+v", d)
	}
}
