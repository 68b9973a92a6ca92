package adapttest

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/adapt"
)

// A Stub has the parts of an agent. Its model calls the tool "a" once and then replies with "done".
type Stub struct {
	Model func(ctx context.Context) error // called instead of the model; nil: the model replies
	Tool  func(ctx context.Context) error // called by the tool before it answers
}

// A Run runs an agent of the framework with the parts of a stub, in a run of the host.
type Run func(ctx context.Context, h *adapt.Host, stub Stub) (agent.AgentResult, error)

// host returns a host whose hooks do not log failures, and the number of ends of its runs.
func host() (h *adapt.Host, ends *atomic.Int32) {
	h, ends = &adapt.Host{Hooks: new(agent.Hooks)}, new(atomic.Int32)
	h.Hooks.HandleFailures(func(context.Context, *hookkit.Failure) {})
	h.Hooks.OnRunEnd.ObserveFunc(func(context.Context, *agent.Run, agent.OnRunEndFired[agent.AgentResult]) { ends.Add(1) })
	return h, ends
}

// CheckFailures checks that the failures of models and tools reach the caller, and that the run ends once.
func CheckFailures(t *testing.T, run Run) {
	lost := errors.New("connection lost")
	for way, fail := range map[string]struct {
		with func(context.Context) error
		want string
	}{
		"fails":              {func(context.Context) error { return lost }, "connection lost"},
		"panics":             {func(context.Context) error { panic("oops") }, "oops"},
		"ends its goroutine": {func(context.Context) error { runtime.Goexit(); return nil }, "Goexit"},
	} {
		for part, stub := range map[string]Stub{"model": {Model: fail.with}, "tool": {Tool: fail.with}} {
			t.Run(part+" "+way, func(t *testing.T) {
				h, ends := host()
				result, err := run(t.Context(), h, stub)
				if err == nil || !strings.Contains(err.Error(), fail.want) || result.Err == "" || ends.Load() != 1 {
					t.Errorf("%v, %+v", err, result)
				}
			})
		}
	}
}

type approver func(ctx context.Context) (agent.Approval, error)

func (a approver) Approve(ctx context.Context, _ agent.Question) (agent.Approval, error) {
	return a(ctx)
}

func wait(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// moments are the moments of a run at which a test cancels it.
var moments = []struct {
	name string
	at   func(h *adapt.Host, stub *Stub, cancel func())
	runs int32 // of the tool
}{
	{"before the run", func(_ *adapt.Host, stub *Stub, cancel func()) {
		stub.Model = wait
		cancel()
	}, 0},
	{"before the model", func(h *adapt.Host, stub *Stub, cancel func()) {
		stub.Model = wait
		h.Hooks.BeforeLLM.ObserveFunc(func(context.Context, *agent.Run, agent.BeforeLLMFired[agent.LLMRequest]) { cancel() })
	}, 0},
	{"during the model", func(_ *adapt.Host, stub *Stub, cancel func()) {
		stub.Model = func(ctx context.Context) error { cancel(); return wait(ctx) }
	}, 0},
	{"after the model", func(h *adapt.Host, _ *Stub, cancel func()) {
		h.Hooks.AfterLLM.ObserveFunc(func(context.Context, *agent.Run, agent.AfterLLMFired[agent.LLMResponse]) { cancel() })
	}, 0},
	{"before the tool", func(h *adapt.Host, _ *Stub, cancel func()) {
		h.Hooks.BeforeTool.ObserveFunc(func(context.Context, *agent.Run, agent.BeforeToolFired[agent.ToolCallRequest]) {
			cancel()
		})
	}, 0},
	{"during a hook", func(h *adapt.Host, _ *Stub, cancel func()) {
		h.Hooks.OnPermission.AddFunc(func(ctx context.Context, _ *agent.Run, _ agent.ToolCallRequest) (
			agent.OnPermissionOutcome, error,
		) {
			cancel()
			return nil, wait(ctx)
		})
	}, 0},
	{"during a question", func(h *adapt.Host, _ *Stub, cancel func()) {
		h.Hooks.OnPermission.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (
			agent.OnPermissionOutcome, error,
		) {
			return agent.Ask{}, nil
		})
		h.Approver = approver(func(ctx context.Context) (agent.Approval, error) {
			cancel()
			return agent.Approval{Allow: true}, wait(ctx)
		})
	}, 0},
	{"during the tool", func(_ *adapt.Host, stub *Stub, cancel func()) {
		ran := stub.Tool
		stub.Tool = func(ctx context.Context) error {
			cancel()
			return errors.Join(ran(ctx), wait(ctx))
		}
	}, 1},
	{"after the tool", func(h *adapt.Host, _ *Stub, cancel func()) {
		h.Hooks.AfterTool.ObserveFunc(func(context.Context, *agent.Run, agent.AfterToolFired[agent.ToolCallResult]) {
			cancel()
		})
	}, 1},
}

// CheckCancellation cancels a run at each moment. The run ends with the error of the context, and a tool whose turn
// comes later does not run.
func CheckCancellation(t *testing.T, run Run) {
	for _, m := range moments {
		t.Run(m.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			h, ends := host()
			var runs atomic.Int32
			stub := Stub{Tool: func(context.Context) error { runs.Add(1); return nil }}
			m.at(h, &stub, cancel)
			result, err := run(ctx, h, stub)
			if !errors.Is(err, context.Canceled) || result.Stop.Cause != agent.CauseUserRequested || result.Reply != "" {
				t.Errorf("%v, %+v, %q", err, result.Stop, result.Reply)
			}
			if runs.Load() != m.runs || ends.Load() != 1 {
				t.Errorf("the tool ran %d times, and the run ended %d times", runs.Load(), ends.Load())
			}
		})
	}
}
