package adapt_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/adapt"
)

// foreign is a loop of a framework: it calls the model until a reply has no call. An error ends it, and the texts of
// results go back to the model.
type foreign struct {
	host  *adapt.Host
	model func(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error)
	tool  func(ctx context.Context, call agent.ToolCallRequest) (string, error)
}

// results are the tool messages of a run.
func (f foreign) run(ctx context.Context, task adapt.Task) (result agent.AgentResult, results []string, err error) {
	result, err = f.host.Run(ctx, task, func(ctx context.Context, task adapt.Task) (string, error) {
		messages := append(task.Messages, agent.Message{Role: agent.RoleUser, Content: task.Text})
		for {
			reply, err := f.host.Model(ctx, agent.LLMRequest{Messages: messages}, f.model)
			if err != nil {
				return "", err
			}
			messages = append(messages, reply.Message())
			if len(reply.ToolCalls) == 0 {
				return reply.Content, nil
			}
			for _, call := range reply.ToolCalls {
				result, err := f.host.Tool(ctx, call, f.tool)
				if err != nil {
					return "", err
				}
				results = append(results, result.Content())
				messages = append(messages, result.Message())
			}
		}
	})
	return result, results, err
}

// calling returns an agent whose model calls the tool work once and then answers.
func calling(hooks *agent.Hooks) foreign {
	return foreign{
		host: &adapt.Host{Hooks: hooks, Tools: []agent.ToolSchema{{Name: "work"}}},
		model: func(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
			if slices.ContainsFunc(req.Messages, func(m agent.Message) bool { return m.Role == agent.RoleTool }) {
				return agent.LLMResponse{Content: "done", Usage: agent.Usage{Input: 2}}, nil
			}
			return agent.LLMResponse{
				ToolCalls: []agent.ToolCallRequest{{ID: "c1", Name: "work", Args: json.RawMessage(`{"n":1}`)}},
				Usage:     agent.Usage{Input: 1},
			}, nil
		},
		tool: func(_ context.Context, call agent.ToolCallRequest) (string, error) { return string(call.Args), nil },
	}
}

// fires counts the fires of each point.
type fires struct {
	mu    sync.Mutex
	count map[string]int
}

func (f *fires) Observe(_ context.Context, _ *agent.Run, fired hookkit.AnyFired) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count[fired.Point]++
}

func TestRunFiresThePointsInOrder(t *testing.T) {
	h := new(agent.Hooks)
	var order []string
	h.ObserveAny(observer(func(f hookkit.AnyFired) { order = append(order, f.Point) }))
	result, results, err := calling(h).run(t.Context(), adapt.Task{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(`OnRunStart ShouldStop Briefing BeforeLLM AroundLLM AfterLLM BeforeTool OnPermission AroundTool
		AfterTool ShouldStop Briefing BeforeLLM AroundLLM AfterLLM OnStop BeforeRunEnd OnRunEnd`)
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`{"n":1}`}, results); diff != "" {
		t.Error(diff)
	}
	if result.Reply != "done" || result.Stop.Cause != agent.CauseCompleted || result.Usage.Input != 3 ||
		result.Steps != 2 || len(result.Calls) != 1 || result.Calls[0].Status != agent.CallSucceeded {
		t.Errorf("%+v", result)
	}
}

type observer func(hookkit.AnyFired)

func (o observer) Observe(_ context.Context, _ *agent.Run, f hookkit.AnyFired) { o(f) }

// A hook at a point that a Host does not fire would be a guard that never runs.
func TestRunRefusesHooksThatWouldNeverRun(t *testing.T) {
	fired := &fires{count: map[string]int{}}
	h := new(agent.Hooks)
	h.ObserveAny(fired)
	f := calling(h)
	asks := 0
	h.OnPermission.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (
		agent.OnPermissionOutcome, error,
	) {
		return agent.Ask{}, nil
	})
	f.host.Approver = approver(func() (agent.Approval, error) { asks++; return agent.Approval{Allow: true}, nil })
	h.OnStop.AddFunc(func(context.Context, *agent.Run, agent.Stopping) ([]agent.EndRun, error) { return nil, nil })
	f.tool = func(context.Context, agent.ToolCallRequest) (string, error) { return "", errors.New("tool") }
	if _, _, err := f.run(t.Context(), adapt.Task{}); err == nil || asks != 1 {
		t.Fatal(err, asks)
	}
	for _, p := range h.Points() {
		t.Run(p.Name, func(t *testing.T) {
			if p.Results == "" {
				return // only observed
			}
			other := new(agent.Hooks)
			for _, q := range other.Points() {
				if q.Name == p.Name {
					q.AddAny(func(context.Context, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) {
						return hookkit.AnyReply{}, nil
					})
				}
			}
			_, err := (&adapt.Host{Hooks: other}).Run(t.Context(), adapt.Task{}, nothing)
			if refused := err != nil && strings.Contains(err.Error(), p.Name); refused == (fired.count[p.Name] > 0) {
				t.Errorf("fired %d times, and: %v", fired.count[p.Name], err)
			}
		})
	}
}

func nothing(context.Context, adapt.Task) (string, error) { return "", nil }

type approver func() (agent.Approval, error)

func (a approver) Approve(context.Context, agent.Question) (agent.Approval, error) { return a() }

// Each case decides about the call of the tool. The model gets the wanted text, and the run continues.
func TestDecisionsAboutACallAreResults(t *testing.T) {
	permission := func(o agent.OnPermissionOutcome, err error) func(*agent.Hooks) {
		return func(h *agent.Hooks) {
			h.OnPermission.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (
				agent.OnPermissionOutcome, error,
			) {
				return o, err
			})
		}
	}
	before := func(f func(c agent.ToolCallRequest) (agent.BeforeToolOutcome, error)) func(*agent.Hooks) {
		return func(h *agent.Hooks) {
			h.BeforeTool.AddFunc(func(_ context.Context, _ *agent.Run, c agent.ToolCallRequest) (
				agent.BeforeToolOutcome, error,
			) {
				return f(c)
			})
		}
	}
	around := func(f agent.AroundToolFunc) func(*agent.Hooks) {
		return func(h *agent.Hooks) { h.AroundTool.AddFunc(f) }
	}
	after := func(f func(r agent.ToolCallResult) (agent.AfterToolOutcome, error)) func(*agent.Hooks) {
		return func(h *agent.Hooks) {
			h.AfterTool.AddFunc(func(_ context.Context, _ *agent.Run, r agent.ToolCallResult) (
				agent.AfterToolOutcome, error,
			) {
				return f(r)
			})
		}
	}
	beforeAsk := func(o agent.BeforeAskOutcome) func(*agent.Hooks) {
		return func(h *agent.Hooks) {
			permission(agent.Ask{Reason: "risky"}, nil)(h)
			h.BeforeAsk.AddFunc(func(context.Context, *agent.Run, agent.Question) (agent.BeforeAskOutcome, error) {
				return o, nil
			})
		}
	}
	boom := errors.New("boom")
	for _, c := range []struct {
		name     string
		bind     func(*agent.Hooks)
		approver agent.Approver
		want     string // a part of the text for the model
		status   agent.CallStatus
		ran      int
	}{
		{"deny", permission(agent.Deny{Reason: "never"}, nil), nil, "Permission denied for tool 'work': never",
			agent.CallRefused, 0},
		{"failing permission", permission(nil, boom), nil, "boom", agent.CallRefused, 0},
		{"ask nobody", permission(agent.Ask{Reason: "risky"}, nil), nil, "there is nobody to ask: risky",
			agent.CallRefused, 0},
		{"ask and no", permission(agent.Ask{}, nil), approver(func() (agent.Approval, error) {
			return agent.Approval{Reason: "not today"}, nil
		}), "not today", agent.CallRefused, 0},
		{"ask and later", permission(agent.Ask{}, nil), approver(func() (agent.Approval, error) {
			return agent.Approval{Allow: true, Pending: true}, nil
		}), "the answer comes later", agent.CallRefused, 0},
		{"ask and yes", permission(agent.Ask{}, nil), approver(func() (agent.Approval, error) {
			return agent.Approval{Allow: true}, nil
		}), `{"n":1}`, agent.CallSucceeded, 1},
		{"ask and an answer in place of the tool", permission(agent.Ask{}, nil), approver(func() (agent.Approval, error) {
			return agent.Approval{Allow: true, Output: "by telephone"}, nil
		}), "by telephone", agent.CallSkipped, 0},
		{"ask and an answer that is not offered", permission(agent.Ask{Choices: []agent.Choice{agent.ChooseDeny}}, nil),
			approver(func() (agent.Approval, error) { return agent.Approval{Allow: true}, nil }), `it takes ["deny"]`,
			agent.CallRefused, 0},
		{"ask and other arguments", beforeAsk(agent.Approve{Args: json.RawMessage(`{"n":2}`)}), nil, `{"n":2}`,
			agent.CallSucceeded, 1},
		{"ask and broken arguments", beforeAsk(agent.Approve{Args: json.RawMessage(`{`)}), nil, "not a JSON object",
			agent.CallRefused, 0},
		{"ask and a hook refuses", beforeAsk(agent.Refuse{Reason: "closed"}), nil, "closed", agent.CallRefused, 0},
		{"ask a broken approver", permission(agent.Ask{}, nil), approver(func() (agent.Approval, error) { panic("no") }),
			"the approver failed: panic: no", agent.CallRefused, 0},
		{"replace", before(func(c agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			c.Args = json.RawMessage(`{"n":3}`)
			return agent.ReplaceBeforeTool(c, ""), nil
		}), nil, `{"n":3}`, agent.CallSucceeded, 1},
		{"skip", before(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			return agent.SkipTool{Result: agent.ToolCallResult{Output: "cached"}}, nil
		}), nil, "cached", agent.CallSkipped, 0},
		{"skip with an error", before(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			return agent.SkipTool{Result: agent.ToolCallResult{Err: "gone"}}, nil
		}), nil, "error: gone", agent.CallRefused, 0},
		{"skip without permission", func(h *agent.Hooks) {
			permission(agent.Deny{Reason: "never"}, nil)(h)
			before(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
				return agent.SkipTool{Result: agent.ToolCallResult{Output: "cached"}}, nil
			})(h)
		}, nil, "never", agent.CallRefused, 0},
		{"failing before", before(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) { return nil, boom }), nil,
			"the call is refused", agent.CallRefused, 0},
		{"goexit before", before(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			runtime.Goexit()
			return nil, nil
		}), nil, "the call is refused", agent.CallRefused, 0},
		{"around answers", around(func(context.Context, *agent.Run, agent.ToolCallRequest, agent.AroundToolNext) (
			hookkit.Answer[agent.ToolCallResult], error,
		) {
			return hookkit.Answered(agent.ToolCallResult{Output: "cached"}), nil
		}), nil, "cached", agent.CallSkipped, 0},
		{"around refuses", around(func(context.Context, *agent.Run, agent.ToolCallRequest, agent.AroundToolNext) (
			hookkit.Answer[agent.ToolCallResult], error,
		) {
			return hookkit.Answer[agent.ToolCallResult]{}, errors.New("circuit open")
		}), nil, "circuit open", agent.CallFailed, 0},
		{"around changes the call", around(func(
			ctx context.Context, _ *agent.Run, c agent.ToolCallRequest, next agent.AroundToolNext,
		) (hookkit.Answer[agent.ToolCallResult], error) {
			c.Args = json.RawMessage(`{"n":9}`)
			return next.Call(ctx, c)
		}), nil, "a hook changed the call", agent.CallFailed, 0},
		{"around tries twice", around(func(
			ctx context.Context, _ *agent.Run, c agent.ToolCallRequest, next agent.AroundToolNext,
		) (hookkit.Answer[agent.ToolCallResult], error) {
			_, _ = next.Call(ctx, c)
			return next.Call(ctx, c)
		}), nil, `{"n":1}`, agent.CallSucceeded, 2},
		{"after replaces", after(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			r.Output = "[removed]"
			return agent.ReplaceAfterTool(r, ""), nil
		}), nil, "[removed]", agent.CallSucceeded, 1},
		{"after rejects", after(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			r.Output, r.Err = "", "too long"
			return agent.ReplaceAfterTool(r, ""), nil
		}), nil, "error: too long", agent.CallFailed, 1},
		{"failing after", after(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) { return nil, boom }), nil,
			"the result is withheld", agent.CallFailed, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := new(agent.Hooks)
			h.HandleFailures(func(context.Context, *hookkit.Failure) {})
			c.bind(h)
			f := calling(h)
			f.host.Approver = c.approver
			ran, tool := 0, f.tool
			f.tool = func(ctx context.Context, call agent.ToolCallRequest) (string, error) { ran++; return tool(ctx, call) }
			result, results, err := f.run(t.Context(), adapt.Task{})
			if err != nil || result.Reply != "done" {
				t.Fatal(result.Reply, err)
			}
			if len(results) != 1 || !strings.Contains(results[0], c.want) {
				t.Errorf("the model got %q", results)
			}
			if result.Calls[0].Status != c.status || ran != c.ran {
				t.Errorf("the call is %s, and the tool ran %d times", result.Calls[0].Status, ran)
			}
		})
	}
}

func TestOutputKeepsPartsAndGuidance(t *testing.T) {
	output := agent.ToolOutput{
		Text: "see", Parts: []agent.Part{{MediaType: "image/png", Data: []byte{1}}}, Warnings: []string{"cut"},
	}
	for name, failed := range map[string]error{"success": nil, "failure": errors.New("boom")} {
		t.Run(name, func(t *testing.T) {
			host := &adapt.Host{Hooks: new(agent.Hooks)}
			var got agent.ToolCallResult
			_, err := host.Run(t.Context(), adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
				var err error
				got, err = host.Output(ctx, agent.ToolCallRequest{Name: "look"}, func(
					context.Context, agent.ToolCallRequest,
				) (agent.ToolOutput, error) {
					return output, failed
				})
				if !errors.Is(err, failed) {
					t.Error(err)
				}
				return "", nil
			})
			if err != nil || got.Output != "see" || len(got.Parts) != 1 || len(got.Warnings) != 1 ||
				got.OK() != (failed == nil) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// An error of a tool is that of the framework, for example an interruption, unless a hook has changed the result.
func TestErrorsOfToolsPassUnchanged(t *testing.T) {
	interrupt := errors.New("interrupted")
	for _, replace := range []bool{false, true} {
		h := new(agent.Hooks)
		if replace {
			h.AfterTool.AddFunc(func(_ context.Context, _ *agent.Run, r agent.ToolCallResult) (
				agent.AfterToolOutcome, error,
			) {
				r.Output = "try another tool"
				return agent.ReplaceAfterTool(r, ""), nil
			})
		}
		var failures []agent.ToolFailure
		h.OnToolError.ObserveFunc(func(_ context.Context, _ *agent.Run, f agent.OnToolErrorFired[agent.ToolFailure]) {
			failures = append(failures, f.Payload)
		})
		f := calling(h)
		f.tool = func(context.Context, agent.ToolCallRequest) (string, error) { return "", interrupt }
		_, results, err := f.run(t.Context(), adapt.Task{})
		if replace && (err != nil || results[0] != "try another tool") || !replace && !errors.Is(err, interrupt) {
			t.Errorf("replaced %t: %q, %v", replace, results, err)
		}
		if len(failures) != 1 || failures[0].WillRetry {
			t.Errorf("failures: %+v", failures)
		}
	}
}

// Each case ends the run at another point.
func TestHooksEndRuns(t *testing.T) {
	end := agent.EndTurn{Reply: "bye", Reason: "enough"}
	for _, c := range []struct {
		name  string
		bind  func(*agent.Hooks)
		reply string
		cause agent.Cause
		steps int
	}{
		{"start", func(h *agent.Hooks) {
			h.OnRunStart.AddFunc(func(context.Context, *agent.Run, agent.RunStart) (agent.OnRunStartOutcome, error) {
				return end, nil
			})
		}, "bye", agent.CauseStopRequested, 0},
		{"should stop", func(h *agent.Hooks) {
			h.ShouldStop.AddFunc(func(_ context.Context, run *agent.Run, s agent.Step) ([]agent.EndRun, error) {
				if run.Env.Count().Step == 1 && s.Number == 1 {
					return []agent.EndRun{{Cause: agent.CauseStepsLimit}}, nil
				}
				return nil, nil
			})
		}, "", agent.CauseStepsLimit, 1},
		{"before the model", func(h *agent.Hooks) {
			h.BeforeLLM.AddFunc(func(context.Context, *agent.Run, agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
				return end, nil
			})
		}, "bye", agent.CauseStopRequested, 1},
		{"after the model", func(h *agent.Hooks) {
			h.AfterLLM.AddFunc(func(context.Context, *agent.Run, agent.LLMResponse) (agent.AfterLLMOutcome, error) {
				return end, nil
			})
		}, "bye", agent.CauseStopRequested, 1},
		{"before the tool", func(h *agent.Hooks) {
			h.BeforeTool.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (
				agent.BeforeToolOutcome, error,
			) {
				return end, nil
			})
		}, "bye", agent.CauseStopRequested, 1},
		{"after the tool", func(h *agent.Hooks) {
			h.AfterTool.AddFunc(func(context.Context, *agent.Run, agent.ToolCallResult) (agent.AfterToolOutcome, error) {
				return end, nil
			})
		}, "bye", agent.CauseStopRequested, 1},
		{"refusal of a person", func(h *agent.Hooks) {
			h.OnPermission.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (
				agent.OnPermissionOutcome, error,
			) {
				return agent.Ask{}, nil
			})
			h.BeforeAsk.AddFunc(func(context.Context, *agent.Run, agent.Question) (agent.BeforeAskOutcome, error) {
				return agent.Refuse{Reason: "stop it", StopRun: true}, nil
			})
		}, "", agent.CauseStopRequested, 1},
		{"reply instead of the model", func(h *agent.Hooks) {
			h.BeforeLLM.AddFunc(func(context.Context, *agent.Run, agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
				return agent.UseReply{Response: agent.LLMResponse{Content: "canned"}}, nil
			})
		}, "canned", agent.CauseCompleted, 1},
		{"reply instead of a failure", func(h *agent.Hooks) {
			h.AfterLLM.AddFunc(func(context.Context, *agent.Run, agent.LLMResponse) (agent.AfterLLMOutcome, error) {
				return nil, errors.New("bad")
			})
			h.OnRunError.AddFunc(func(context.Context, *agent.Run, agent.RunError) (agent.OnRunErrorOutcome, error) {
				return agent.EndTurn{Reply: "sorry"}, nil
			})
		}, "sorry", agent.CauseStopRequested, 1},
		{"reply at the end", func(h *agent.Hooks) {
			h.BeforeRunEnd.AddFunc(func(_ context.Context, _ *agent.Run, r agent.AgentResult) (
				agent.BeforeRunEndOutcome, error,
			) {
				r.Reply = "edited"
				return agent.ReplaceBeforeRunEnd(r, ""), nil
			})
		}, "edited", agent.CauseCompleted, 2},
		{"signal at the end", func(h *agent.Hooks) {
			h.OnStop.AddFunc(func(context.Context, *agent.Run, agent.Stopping) ([]agent.EndRun, error) {
				return []agent.EndRun{{Cause: agent.CauseTokenLimit}}, nil
			})
		}, "done", agent.CauseTokenLimit, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := new(agent.Hooks)
			fired := &fires{count: map[string]int{}}
			h.ObserveAny(fired)
			c.bind(h)
			result, _, err := calling(h).run(t.Context(), adapt.Task{})
			ended := new(adapt.Ended)
			if stopped := result.Forced() && c.reply != "bye" && c.reply != "sorry"; stopped != errors.As(err, &ended) ||
				stopped != (err != nil) || stopped && ended.Stop.Cause != c.cause ||
				!stopped && result.Forced() != (result.EndedBy != "") || stopped && result.EndedBy != "" {
				t.Errorf("the error is %v, ended by %q", err, result.EndedBy)
			}
			if result.Reply != c.reply || result.Stop.Cause != c.cause || result.Steps != c.steps {
				t.Errorf("%q %s after %d steps: %v", result.Reply, result.Stop.Cause, result.Steps, err)
			}
			if fired.count["OnRunStart"] != 1 || fired.count["OnRunEnd"] != 1 {
				t.Error(maps.Clone(fired.count))
			}
		})
	}
}

func TestFailuresEndRuns(t *testing.T) {
	for _, c := range []struct {
		name  string
		bind  func(*agent.Hooks, *foreign, context.CancelFunc)
		cause agent.Cause
	}{
		{"model error", func(_ *agent.Hooks, f *foreign, _ context.CancelFunc) {
			f.model = func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
				return agent.LLMResponse{}, errors.New("429")
			}
		}, agent.CauseError},
		{"model panic", func(_ *agent.Hooks, f *foreign, _ context.CancelFunc) {
			f.model = func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) { panic("model") }
		}, agent.CauseError},
		{"tool goexit", func(_ *agent.Hooks, f *foreign, _ context.CancelFunc) {
			f.tool = func(context.Context, agent.ToolCallRequest) (string, error) { runtime.Goexit(); return "", nil }
		}, agent.CauseError},
		{"cancelled model", func(_ *agent.Hooks, f *foreign, cancel context.CancelFunc) {
			f.model = func(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
				cancel()
				<-ctx.Done()
				return agent.LLMResponse{}, ctx.Err()
			}
		}, agent.CauseUserRequested},
		{"cancelled tool", func(_ *agent.Hooks, f *foreign, cancel context.CancelFunc) {
			f.tool = func(ctx context.Context, _ agent.ToolCallRequest) (string, error) { cancel(); return "", ctx.Err() }
		}, agent.CauseUserRequested},
		{"failing start", func(h *agent.Hooks, _ *foreign, _ context.CancelFunc) {
			h.OnRunStart.AddFunc(func(context.Context, *agent.Run, agent.RunStart) (agent.OnRunStartOutcome, error) {
				return nil, errors.New("no")
			})
		}, agent.CauseError},
		{"failing end", func(h *agent.Hooks, _ *foreign, _ context.CancelFunc) {
			h.BeforeRunEnd.AddFunc(func(context.Context, *agent.Run, agent.AgentResult) (
				agent.BeforeRunEndOutcome, error,
			) {
				return nil, errors.New("no")
			})
		}, agent.CauseError},
		{"goexit at every end", func(h *agent.Hooks, _ *foreign, _ context.CancelFunc) {
			h.OnStop.AddFunc(func(context.Context, *agent.Run, agent.Stopping) ([]agent.EndRun, error) {
				runtime.Goexit()
				return nil, nil
			})
			h.BeforeRunEnd.AddFunc(func(context.Context, *agent.Run, agent.AgentResult) (
				agent.BeforeRunEndOutcome, error,
			) {
				runtime.Goexit()
				return nil, nil
			})
		}, agent.CauseError},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := new(agent.Hooks)
			h.HandleFailures(func(context.Context, *hookkit.Failure) {})
			ended := &fires{count: map[string]int{}}
			h.ObserveAny(ended)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			f := calling(h)
			c.bind(h, &f, cancel)
			result, _, err := f.run(ctx, adapt.Task{})
			if err == nil || result.Stop.Cause != c.cause || result.Err == "" || result.Reply != "" {
				t.Errorf("%+v: %v", result, err)
			}
			if ended.count["OnRunEnd"] != 1 {
				t.Error(ended.count)
			}
		})
	}
}

// Each case cancels the run before the model or the tool begins.
func TestCancelledCallDoesNotRun(t *testing.T) {
	for _, c := range []struct {
		name   string
		at     func(h *agent.Hooks, cancel context.CancelFunc)
		models int
	}{
		{"before the run", func(_ *agent.Hooks, cancel context.CancelFunc) { cancel() }, 0},
		{"before the model", func(h *agent.Hooks, cancel context.CancelFunc) {
			h.BeforeLLM.ObserveFunc(func(context.Context, *agent.Run, agent.BeforeLLMFired[agent.LLMRequest]) {
				cancel()
			})
		}, 0},
		{"before the tool", func(h *agent.Hooks, cancel context.CancelFunc) {
			h.BeforeTool.ObserveFunc(func(context.Context, *agent.Run, agent.BeforeToolFired[agent.ToolCallRequest]) {
				cancel()
			})
		}, 1},
		{"before the model, in an around hook", func(h *agent.Hooks, cancel context.CancelFunc) {
			h.AroundLLM.AddFunc(func(
				ctx context.Context, _ *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
			) (hookkit.Answer[agent.LLMResponse], error) {
				cancel()
				return next.Call(ctx, req)
			})
		}, 0},
		{"before the tool, in an around hook", func(h *agent.Hooks, cancel context.CancelFunc) {
			h.AroundTool.AddFunc(func(
				ctx context.Context, _ *agent.Run, c agent.ToolCallRequest, next agent.AroundToolNext,
			) (hookkit.Answer[agent.ToolCallResult], error) {
				cancel()
				return next.Call(ctx, c)
			})
		}, 1},
		{"before a skipped model", func(h *agent.Hooks, cancel context.CancelFunc) {
			h.BeforeLLM.AddFunc(func(context.Context, *agent.Run, agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
				cancel()
				return agent.UseReply{Response: agent.LLMResponse{Content: "canned"}}, nil
			})
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := new(agent.Hooks)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c.at(h, cancel)
			f := calling(h)
			models := 0
			inner := f.model
			f.model = func(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
				models++
				return inner(ctx, req)
			}
			f.tool = func(context.Context, agent.ToolCallRequest) (string, error) {
				t.Error("the tool ran")
				return "", nil
			}
			result, _, err := f.run(ctx, adapt.Task{})
			if !errors.Is(err, context.Canceled) || result.Stop.Cause != agent.CauseUserRequested || models != c.models {
				t.Errorf("%+v after %d calls of the model: %v", result, models, err)
			}
			for _, r := range result.Calls {
				if r.Status != agent.CallUnrun {
					t.Errorf("the call %+v", r)
				}
			}
		})
	}
}

func TestAFailingRescueIsAWarning(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error":  func() error { return errors.New("no") },
		"panic":  func() error { panic("no") },
		"goexit": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			h := new(agent.Hooks)
			h.HandleFailures(func(context.Context, *hookkit.Failure) {})
			h.OnRunError.AddFunc(func(context.Context, *agent.Run, agent.RunError) (agent.OnRunErrorOutcome, error) {
				return nil, fail()
			}, hookkit.FailClosed())
			f := calling(h)
			f.model = func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
				return agent.LLMResponse{}, errors.New("429")
			}
			result, _, err := f.run(t.Context(), adapt.Task{})
			if err == nil || result.Stop.Cause != agent.CauseError || !strings.Contains(result.Err, "429") {
				t.Errorf("%+v: %v", result, err)
			}
			if len(result.Warnings) != 1 || !strings.HasPrefix(result.Warnings[0], "OnRunError: ") {
				t.Errorf("warnings %q", result.Warnings)
			}
		})
	}
}

func TestOutsideOfARunCallsFail(t *testing.T) {
	f := calling(new(agent.Hooks))
	_, err := f.host.Model(t.Context(), agent.LLMRequest{}, f.model)
	_, toolErr := f.host.Tool(t.Context(), agent.ToolCallRequest{}, f.tool)
	if !errors.Is(err, adapt.ErrNoRun) || !errors.Is(toolErr, adapt.ErrNoRun) {
		t.Error(err, toolErr)
	}
}

func TestHooksSeeTheOwnerAndTheTools(t *testing.T) {
	h := new(agent.Hooks)
	h.Briefing.AddFunc(func(_ context.Context, run *agent.Run, _ agent.Step) ([]string, error) {
		owner := run.Env.Identity()
		_, known := run.Env.Tools.Lookup("work")
		if owner != (agent.Identity{Tenant: "acme", User: "ann", Conversation: "c7"}) || !known ||
			run.Env.Tools.Add(nil) == nil || len(run.Env.Tools.Schemas()) != 1 {
			t.Error(owner, known)
		}
		return []string{"be brief"}, nil
	})
	var last []agent.Message
	h.BeforeLLM.ObserveFunc(func(_ context.Context, _ *agent.Run, f agent.BeforeLLMFired[agent.LLMRequest]) {
		last = f.Payload.Messages
	})
	task := adapt.Task{Identity: agent.Identity{Tenant: "acme", User: "ann", Conversation: "c7"}}
	if _, _, err := calling(h).run(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if got := last[len(last)-1]; got.Role != agent.RoleSystem || got.Content != "be brief" {
		t.Error(got)
	}
}

func TestRestoreKeepsUnchangedMessages(t *testing.T) {
	message := func(text string) agent.Message { return agent.Message{Role: agent.RoleUser, Content: text} }
	was := []agent.Message{message("a"), message("b"), message("a"), message("c")}
	now := []agent.Message{message("new"), message("a"), message("a"), message("changed"), message("c"), message("b")}
	got := adapt.Restore(now, was, []string{"A1", "B", "A2", "C"}, func(m agent.Message) string { return m.Content })
	if diff := cmp.Diff([]string{"new", "A1", "A2", "changed", "C", "b"}, got); diff != "" {
		t.Error(diff)
	}
}

// A reply and a result of a framework have more than the hooks see.
type rich struct{ text, more string }

func TestUnchangedValuesPassAsTheyAre(t *testing.T) {
	for _, c := range []struct {
		name string
		bind func(h *agent.Hooks)
		want rich
	}{
		{"unchanged", func(*agent.Hooks) {}, rich{"x", "logprobs"}},
		{"changed", func(h *agent.Hooks) {
			h.AfterLLM.AddFunc(func(_ context.Context, _ *agent.Run, r agent.LLMResponse) (
				agent.AfterLLMOutcome, error,
			) {
				r.Content = "y"
				return agent.ReplaceAfterLLM(r, ""), nil
			})
			h.AfterTool.AddFunc(func(_ context.Context, _ *agent.Run, r agent.ToolCallResult) (
				agent.AfterToolOutcome, error,
			) {
				r.Output = "y"
				return agent.ReplaceAfterTool(r, ""), nil
			})
		}, rich{"y", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &adapt.Host{Hooks: new(agent.Hooks)}
			c.bind(h.Hooks)
			_, err := h.Run(t.Context(), adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
				reply, err := adapt.ModelAs(ctx, h, agent.LLMRequest{}, func(context.Context, agent.LLMRequest) (rich, error) {
					return rich{"x", "logprobs"}, nil
				}, func(r rich) agent.LLMResponse { return agent.LLMResponse{Content: r.text} },
					func(r agent.LLMResponse) rich { return rich{text: r.Content} })
				if err != nil || reply != c.want {
					t.Error(reply, err)
				}
				result, err := adapt.ToolAs(ctx, h, agent.ToolCallRequest{}, func(context.Context, agent.ToolCallRequest) (
					rich, error,
				) {
					return rich{"x", "logprobs"}, nil
				}, func(r rich) string { return r.text }, func(text string) rich { return rich{text: text} })
				if err != nil || result != c.want {
					t.Error(result, err)
				}
				return "", nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestHooksCannotRedirectAChosenCall(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	h.Hooks.BeforeTool.AddFunc(func(_ context.Context, _ *agent.Run, c agent.ToolCallRequest) (
		agent.BeforeToolOutcome, error,
	) {
		c.Name = "delete"
		return agent.ReplaceBeforeTool(c, ""), nil
	})
	result, err := h.Run(t.Context(), adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
		same := func(s string) string { return s }
		return adapt.ToolAs(ctx, h, agent.ToolCallRequest{Name: "list"}, func(context.Context, agent.ToolCallRequest) (
			string, error,
		) {
			t.Error("the tool ran")
			return "", nil
		}, same, same)
	})
	if err != nil || !strings.Contains(result.Reply, `the key Tool is "delete" now`) {
		t.Error(result, err)
	}
}

func TestOfferedLeavesOutRemovedTools(t *testing.T) {
	req := agent.LLMRequest{Tools: []agent.ToolSchema{{Name: "b"}}}
	got := adapt.Offered([]string{"a", "b"}, req, func(s string) string { return s })
	if diff := cmp.Diff([]string{"b"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCollectReadsAStreamToItsEnd(t *testing.T) {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
		left := []string{"a", "b"}
		all, err := adapt.Collect(func() (string, error) {
			if len(left) == 0 {
				return "", end
			}
			next := left[0]
			left = left[1:]
			return next, nil
		})
		if end == io.EOF && (err != nil || len(all) != 2) || end != io.EOF && !errors.Is(err, end) {
			t.Error(all, err)
		}
	}
}
