package ported

import (
	"context"
	"maps"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
)

// Monitor counts the calls of each tool, over all runs, and how many of them failed.
type Monitor struct {
	mu    sync.Mutex
	calls map[string][2]int
}

// Bind adds the hook.
func (m *Monitor) Bind(h *agent.Hooks) { h.AfterTool.Observe(m) }

// ObserveAfterTool counts a call.
func (m *Monitor) ObserveAfterTool(_ context.Context, _ *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls == nil {
		m.calls = make(map[string][2]int)
	}
	n := m.calls[fired.Final.Call.Name]
	n[0]++
	if !fired.Final.OK() {
		n[1]++
	}
	m.calls[fired.Final.Call.Name] = n
}

// Calls returns calls and failures by tool.
func (m *Monitor) Calls() map[string][2]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.calls)
}
