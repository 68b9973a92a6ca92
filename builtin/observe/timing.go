package observe

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Timing measures the duration of model and tool calls, by the run's clock.
//
// Each call has one sample, even if it fails or panics; the duration includes retries by inner hooks. Parallel calls
// have separate samples.
//
// Timing wraps AroundLLM and AroundTool and changes nothing. The zero value is ready to use. It keeps the last 10,000
// samples of all runs, is safe for concurrent use, and must not be copied.
type Timing struct {
	OnSample func(TimingSample) // receives each sample, concurrently; nil: samples are logged at debug level

	mu      sync.Mutex
	samples []TimingSample
}

// TimingSample is the duration of one call.
type TimingSample struct {
	Run string // ID of the run
	agent.Identity
	Kind     string // "llm" or "tool"
	Name     string // name of the tool, or of the model if the request names one
	Duration time.Duration
}

// maxTimings bounds the samples that a Timing keeps.
const maxTimings = 10_000

// Bind adds the hook to its points.
func (t *Timing) Bind(h *agent.Hooks) {
	h.AroundLLM.Add(t)
	h.AroundTool.Add(t)
}

// AroundLLM measures a model call.
func (t *Timing) AroundLLM(
	ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
) (hookkit.Answer[agent.LLMResponse], error) {
	defer t.measure(run, "llm", req.Model)()
	return next.Call(ctx, req)
}

// AroundTool measures a tool call.
func (t *Timing) AroundTool(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
) (hookkit.Answer[agent.ToolCallResult], error) {
	defer t.measure(run, "tool", call.Name)()
	return next.Call(ctx, call)
}

// measure starts a measurement and returns the function that ends it.
func (t *Timing) measure(run *agent.Run, kind, name string) func() {
	start := kit.Env(run).Now()
	return func() {
		took := kit.Env(run).Now().Sub(start)
		s := TimingSample{run.ID(), kit.Owner(run), kind, shorten.To(name, toolname.MaxDisplay), took}
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
		slog.Debug("call", "run", s.Run, ownerAttr(s.Identity), "kind", s.Kind, "name", s.Name, "duration", s.Duration)
	}
}

// Samples returns a copy of the samples, in the order in which the calls ended.
func (t *Timing) Samples() []TimingSample {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.samples)
}
