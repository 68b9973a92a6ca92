package loop

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
)

// A reporter forwards the progress reports of one attempt until the attempt ends. It is also the context of the
// attempt, by which a run that the tool starts finds the call. One value for both saves an allocation per call.
type reporter struct {
	context.Context
	f      *flight
	mu     sync.Mutex
	closed bool
}

// Value returns the call for flightKey.
func (p *reporter) Value(key any) any {
	if key == (flightKey{}) {
		return p.f
	}
	return p.Context.Value(key)
}

func (p *reporter) progress(stage string, data json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	r := p.f.r
	if r.stream.read() {
		r.stream.event(Event{Kind: EventProgress, Step: p.f.hookCall.Step, Progress: &agent.ToolProgress{
			Call: p.f.hookCall.Clone(), Stage: stage, Data: slices.Clone(data),
		}})
	}
	r.hooks.OnToolProgress.Fire(r.ctx, r.hookRun, agent.ToolProgress{
		Call: p.f.hookCall, Stage: stage, Data: slices.Clone(data),
	})
}

func (p *reporter) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}
