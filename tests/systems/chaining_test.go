package systems

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestHookAddsAMessageForTheModel(t *testing.T) {
	adds := beforeLLM(func(req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
		req.Messages = append(req.Clone().Messages, agent.Message{Role: agent.RoleSystem, Content: "be brief"})
		return agent.ReplaceBeforeLLM(req, "a note"), nil
	})
	ran := looptest.Harness{
		Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](adds),
	}.Run(t, "hello")
	if first, second := requestText(t, ran, 0), requestText(t, ran, 1); first != "hello\nbe brief" ||
		second != "hello\n\ndone\nbe brief" {
		t.Errorf("the model got %q, then %q", first, second)
	}
	for _, m := range ran.Messages {
		lacks(t, m.Content, "be brief")
	}
}

func TestARefusedCallGivesItsReason(t *testing.T) {
	refuses := onPermission(func(call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		switch {
		case call.Name == "shell":
			return agent.Deny{Reason: "no shell here"}, nil
		case bytes.Contains(call.Args, []byte("/etc/")):
			return agent.Deny{Reason: "no files of the system"}, nil
		}
		return nil, nil
	})
	shell, tool := &looptest.Tool{Name: "shell"}, work()
	ran := looptest.Harness{
		Turns: all(looptest.Calls(looptest.Call("shell", `{"command":"ls"}`), looptest.Call("work", `{"path":"/etc/passwd"}`),
			looptest.Call("work", nil)), looptest.Reply("ok")),
		Tools: all[agent.Tool](shell, tool), Hooks: all[agent.Hook](refuses),
	}.Run(t, "x")
	if shell.Count() != 0 || tool.Count() != 1 || statuses(ran) != "refused refused succeeded" {
		t.Errorf("%s: shell ran %d times, work %d times", statuses(ran), shell.Count(), tool.Count())
	}
	contains(t, requestText(t, ran, 1), "no shell here", "no files of the system", "done")
	told := hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied")
	if len(told) != 2 || told[0].Reason != "no shell here" || told[1].Reason != "no files of the system" ||
		ran.Calls[1].Reason != "no files of the system" {
		t.Errorf("recorded are %+v and %+v", told, ran.Calls)
	}
}

func TestRegistrationsAreAddedAndRemovedSingly(t *testing.T) {
	var h agent.Hooks
	var d diary
	hook := d.noting("called")
	one, two := h.BeforeTool.Add(hook), h.BeforeTool.Add(hook)
	other := h.BeforeTool.Add(d.noting("other"))
	fire(t, &h)
	d.want(t, "called", "called", "other") // added twice, called twice, and listed twice
	if got := len(h.BeforeTool.List()); got != 3 {
		t.Errorf("%d hooks are listed", got)
	}
	if !two.Remove() || two.Remove() {
		t.Error("removing does not say whether it was there")
	}
	fire(t, &h)
	d.want(t, "called", "other")
	for _, r := range all(one, other) { // removing all registrations clears the point
		r.Remove()
	}
	fire(t, &h)
	d.want(t)
	if list := h.BeforeTool.List(); len(list) != 0 {
		t.Errorf("still listed: %v", list)
	}
	everything := h.Use(bind(func(h *agent.Hooks) { // removing a bundle clears all its points
		h.BeforeTool.Add(hook)
		h.OnRunEnd.Add(onRunEnd(func(agent.AgentResult) error { return nil }))
	}))
	if !everything.Remove() || len(h.BeforeTool.List())+len(h.OnRunEnd.List()) != 0 {
		t.Error("hooks of a removed bundle are left")
	}
}

// appends is an AfterTool hook that adds to the output.
func appends(text string) agent.AfterToolFunc {
	return afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
		r.Output += text
		return agent.ReplaceAfterTool(r, "adds"+text), nil
	})
}

func TestAnUntouchedValueIsReportedAsUntouched(t *testing.T) {
	looks := bind(func(h *agent.Hooks) {
		h.Use(afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) { return nil, nil }))
		h.Use(beforeLLM(func(agent.LLMRequest) (agent.BeforeLLMOutcome, error) { return nil, nil }))
		h.Use(continues)
	})
	ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](looks)}.Run(t, "x")
	untouched := ran.Recorder.Fires("AfterTool", "BeforeLLM", "BeforeTool")
	for _, f := range untouched {
		if f.Decision != "" || f.Hook != "" || !reflect.DeepEqual(f.Final, f.Payload) {
			t.Errorf("%s was left alone and is reported as %q by %q", f.Point, f.Decision, f.Hook)
		}
	}
	ran = looptest.Harness{
		Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](looks, appends("!")),
	}.Run(t, "x")
	if f := ran.Recorder.Fires("AfterTool")[0]; len(untouched) != 4 || f.Decision != "Replace" ||
		f.Payload.(agent.ToolCallResult).Output != "done" || f.Final.(agent.ToolCallResult).Output != "done!" {
		t.Errorf("of %d fires; what was changed is reported as %q, %v to %v", len(untouched), f.Decision, f.Payload, f.Final)
	}
}

func TestALoggerSeesTheChangesOfHooks(t *testing.T) {
	var d diary
	tool := &looptest.Tool{Name: "work", Func: func(_ context.Context, call agent.ToolCallRequest) (string, error) {
		return "got " + string(call.Args), nil
	}}
	changes := bind(func(h *agent.Hooks) {
		h.Use(beforeLLM(func(req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
			req = req.Clone()
			req.Messages[0].Content = "changed"
			return agent.ReplaceBeforeLLM(req, "changes"), nil
		}))
		h.Use(beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			call.Args = []byte(`{"n":7}`)
			return agent.ReplaceBeforeTool(call, "changes"), nil
		}))
	})
	logs := afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
		d.note("%s %s: %s", r.Call.Name, r.Call.Args, r.Output)
		return nil, nil
	})
	ran := looptest.Harness{
		Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](changes, logs),
	}.Run(t, "x")
	d.want(t, `work {"n":7}: got {"n":7}`)
	contains(t, requestText(t, ran, 0), "changed")
	if ran.Messages[0].Content != "x" {
		t.Errorf("the stored task is %q", ran.Messages[0].Content)
	}
}

func TestOnlyAFailingGateRefuses(t *testing.T) {
	for name, fails := range map[string]func() error{
		"error": func() error { return errBoom }, "panic": func() error { panic("boom") },
	} {
		var d diary
		tool := work()
		gate := onPermission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) { return nil, fails() })
		ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](gate)}.Run(t, "x")
		if tool.Count() != 0 || statuses(ran) != "refused" || ran.Reply != "ok" {
			t.Errorf("%s in a gate: the tool ran %d times, %+v", name, tool.Count(), ran.AgentResult)
		}
		watchers := bind(func(h *agent.Hooks) {
			h.BeforeTool.Observe(notified(func(agent.BeforeToolFired[agent.ToolCallRequest]) {
				if fails() != nil {
					panic(errBoom)
				}
			}))
			h.BeforeTool.Observe(notified(func(agent.BeforeToolFired[agent.ToolCallRequest]) { d.note("next observer") }))
			h.OnRunEnd.Add(onRunEnd(func(agent.AgentResult) error { return fails() }))
			h.OnRunEnd.Add(onRunEnd(func(agent.AgentResult) error { d.note("next hook that watches"); return nil }))
		})
		ran = looptest.Harness{Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](watchers)}.Run(t, "x")
		d.want(t, "next observer", "next hook that watches")
		if tool.Count() != 1 || ran.Failed != nil || ran.Reply != "ok" {
			t.Errorf("%s in an observer: the tool ran %d times, %+v", name, tool.Count(), ran.AgentResult)
		}
	}
}

func TestThePayloadsAreFilled(t *testing.T) {
	clock := looptest.NewClock(time.Unix(0, 0))
	slow := &looptest.Tool{Name: "work", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
		clock.Advance(time.Second)
		return "", errors.New("no luck")
	}}
	var d diary
	watch := bind(func(h *agent.Hooks) {
		h.OnRunStart.Add(agent.OnRunStartFunc(func(
			_ context.Context, run *agent.Run, p agent.RunStart,
		) (agent.OnRunStartOutcome, error) {
			d.note("start %s %s %s %d", run.Env.Agent, p.Agent, p.Task, len(p.Messages))
			return nil, nil
		}))
		h.Use(beforeLLM(func(p agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
			d.note("ask %d %s %d", p.Step, p.Model, len(p.Messages))
			return nil, nil
		}))
		h.Use(afterLLM(func(p agent.LLMResponse) (agent.AfterLLMOutcome, error) {
			d.note("reply %d %q %d %g %v %d", p.Step, p.Content, p.Usage.Total(), p.Usage.Cost, p.Elapsed, len(p.ToolCalls))
			return nil, nil
		}))
		h.Use(afterTool(func(p agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			d.note("result %d %s %v %s", p.Call.Step, p.Call.Name, p.Elapsed, p.Err)
			return nil, nil
		}))
		h.Use(onRunEnd(func(p agent.AgentResult) error {
			d.note("end %s %s %d %v %s", p.Agent, p.Task, len(p.Calls), p.Elapsed, p.Reply)
			return nil
		}))
	})
	thinks := looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
		clock.Advance(2 * time.Second)
		return agent.LLMResponse{Content: "ok", Usage: agent.Usage{Input: 3, Output: 4, Cost: 0.5}}, nil
	})
	looptest.Harness{Turns: all(looptest.Call("work", nil), thinks), Tools: all[agent.Tool](slow),
		Hooks: all[agent.Hook](watch),
		Agent: &loop.Agent{Name: "ann", Clock: clock, Request: agent.LLMRequest{Model: "m"}}}.Run(t, "x")
	d.want(t, "start ann ann x 0", "ask 1 m 1", `reply 1 "" 0 0 0s 1`, "result 1 work 1s no luck",
		"ask 2 m 3", `reply 2 "ok" 7 0.5 2s 0`, "end ann x 1 3s ok")
}

func TestAfterToolGetsTheErrorOfATool(t *testing.T) {
	for want, tool := range map[string]*looptest.Tool{
		"boom":     {Name: "work", Err: errBoom},
		"panicked": {Name: "work", Panic: "ouch"},
	} {
		var seen []agent.ToolCallResult
		looks := afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			seen = append(seen, r)
			return nil, nil
		})
		ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](looks)}.Run(t, "x")
		if len(seen) != 1 || seen[0].OK() || seen[0].Status != agent.CallFailed || ran.Reply != "ok" {
			t.Fatalf("%s: saw %+v", want, seen)
		}
		contains(t, seen[0].Err, want)
	}
}

func TestTheEndGetsTheFinalReply(t *testing.T) {
	for name, c := range map[string]struct {
		loop looptest.Harness
		want string
	}{
		"answer": {looptest.Harness{Turns: working(1)}, "ok"},
		"fallback": {
			looptest.Harness{
				Turns: working(9), Agent: &loop.Agent{Limits: loop.Limits{Steps: 2}, Fallback: "I give up"},
			}, "I give up",
		},
		"default": {
			looptest.Harness{Turns: working(9), Agent: &loop.Agent{Limits: loop.Limits{Steps: 2}}}, loop.DefaultFallback,
		},
		"rewritten": {looptest.Harness{Turns: working(1), Hooks: all[agent.Hook](agent.BeforeRunEndFunc(
			func(_ context.Context, _ *agent.Run, r agent.AgentResult) (agent.BeforeRunEndOutcome, error) {
				r.Reply = fmt.Sprintf("%s, really", r.Reply)
				return agent.ReplaceBeforeRunEnd(r, "emphasis"), nil
			}))}, "ok, really"},
	} {
		var got string
		c.loop.Tools = all[agent.Tool](work())
		c.loop.Hooks = append(c.loop.Hooks, onRunEnd(func(r agent.AgentResult) error { got = r.Reply; return nil }))
		if ran := c.loop.Run(t, "x"); got != c.want || ran.Reply != c.want {
			t.Errorf("%s: the end got %q, the user %q, want %q", name, got, ran.Reply, c.want)
		}
	}
}
