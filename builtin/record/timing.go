package record

import (
	"context"
	"slices"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
)

// Timing is a [View] that lists the durations of model and tool calls.
//
// Each call has one sample, whose duration includes its retries, also if the call failed; parallel calls have separate
// samples. A call that no tool ran, and a model call without a reply, have none.
//
// Timing reads AfterLLM and AfterTool, and keeps the last 10,000 samples. The zero value is ready to use.
type Timing struct {
	watch
	samples []TimingSample
}

// A TimingSample is the duration of one call.
type TimingSample struct {
	Run string `json:"run"` // its ID
	agent.Identity
	Kind     string        `json:"kind"` // "llm" or "tool"
	Name     string        `json:"name"` // name of the tool, or of the model if the reply names it
	Time     time.Time     `json:"time"` // when the call ended
	Duration time.Duration `json:"duration_ns"`
}

// maxTimings bounds the samples that a Timing keeps.
const maxTimings = 10_000

// Bind adds the view to its points.
func (t *Timing) Bind(h *agent.Hooks) { t.bind(h, "record.Timing", t) }

func (t *Timing) points() []string { return []string{"AfterLLM", "AfterTool"} }

func (t *Timing) see(_ context.Context, e event) {
	s := TimingSample{Run: e.run, Identity: e.Identity, Time: e.at}
	switch p := e.payload.(type) {
	case agent.LLMResponse:
		s.Kind, s.Name, s.Duration = "llm", p.Model, p.Elapsed
	case agent.ToolCallResult:
		if p.Attempts == 0 {
			return
		}
		s.Kind, s.Name, s.Duration = "tool", p.Call.Name, p.Elapsed
	}
	s.Name = shorten.To(s.Name, toolname.MaxDisplay)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.samples) >= maxTimings {
		t.samples = slices.Delete(t.samples, 0, maxTimings/10)
	}
	t.samples = append(t.samples, s)
}

// Samples returns a copy of the samples, in the order in which the calls ended.
func (t *Timing) Samples() []TimingSample {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.samples)
}
