package observe

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Timing measures how long model and tool calls take, by the run's clock.
//
// It wraps AroundLLM and AroundTool, in the tier Observability, and changes nothing. There is one sample per call,
// retries by hooks further in included, also of a call that failed or panicked; parallel calls each have their own.
// State: the last 10,000 samples of all runs. Safe for concurrent use; it must not be copied.
type Timing struct {
	OnSample func(TimingSample) // gets each sample; nil: they are logged, at the level debug. It must be safe for concurrent use

	mu      sync.Mutex
	samples []TimingSample
}

// A TimingSample is one measured call.
type TimingSample struct {
	Run      string // the run's ID
	Kind     string // "llm" or "tool"
	Name     string // of the tool, or of the model if the request names one
	Duration time.Duration
}

// maxTimings bounds the samples that a Timing keeps.
const maxTimings = 10_000

// Bind adds the hook.
func (t *Timing) Bind(h *agent.Hooks) {
	h.AroundLLM.Add(t)
	h.AroundTool.Add(t)
}

// AroundLLM measures a call to the model.
func (t *Timing) AroundLLM(ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext) (hookkit.Answer[agent.LLMResponse], error) {
	defer t.measure(run, "llm", req.Model)()
	return next.Call(ctx, req)
}

// AroundTool measures a call of a tool.
func (t *Timing) AroundTool(ctx context.Context, run *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext) (hookkit.Answer[agent.ToolCallResult], error) {
	defer t.measure(run, "tool", call.Name)()
	return next.Call(ctx, call)
}

// measure starts a measurement and returns what ends it.
func (t *Timing) measure(run *agent.Run, kind, name string) func() {
	start := run.Env.Now()
	return func() {
		s := TimingSample{run.ID(), kind, shorten.To(name, toolname.MaxDisplay), run.Env.Now().Sub(start)}
		t.mu.Lock()
		if len(t.samples) >= maxTimings {
			t.samples = slices.Delete(t.samples, 0, maxTimings/10)
		}
		t.samples = append(t.samples, s)
		t.mu.Unlock()
		if t.OnSample != nil {
			t.OnSample(s)
			return
		}
		slog.Debug("call", "run", s.Run, "kind", s.Kind, "name", s.Name, "duration", s.Duration)
	}
}

// Samples returns a copy of the samples, in the order in which the calls ended.
func (t *Timing) Samples() []TimingSample {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.samples)
}
