package ported

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// DecisionAudit writes one line per decision of a hook: point, hook, decision and reason.
type DecisionAudit struct {
	Writer io.Writer
	mu     sync.Mutex
}

// Bind adds the hook.
func (a *DecisionAudit) Bind(h *agent.Hooks) { h.ObserveAny(a) }

// Observe writes a line for each decision.
func (a *DecisionAudit) Observe(_ context.Context, run *agent.Run, fired hookkit.AnyFired) {
	if fired.Decision == "" {
		return
	}
	line, err := json.Marshal(map[string]string{
		"run": run.ID(), "point": fired.Point, "hook": fired.Hook, "decision": fired.Decision, "reason": fired.Reason,
	})
	if err != nil {
		panic(err) // an observer's failure is reported and changes nothing
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprintf(a.Writer, "%s\n", line)
}
