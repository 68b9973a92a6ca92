package observe

import (
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestParentsOfEndedRunsAreForgotten(t *testing.T) {
	tracing := &Tracing{Exporter: new(SpanRecorder)}
	var hooks agent.Hooks
	hooks.Use(tracing)
	run := agent.NewRun(nil)
	hooks.OnSubagentStart.Fire(t.Context(), run, agent.Subagent{ID: "1"})
	if len(tracing.subs) != 1 {
		t.Errorf("%d parents of runs", len(tracing.subs))
	}
	hooks.OnSubagentStop.Fire(t.Context(), run, agent.SubagentDone{ID: "1"})
	if len(tracing.subs) != 0 {
		t.Errorf("%d parents of ended runs", len(tracing.subs))
	}
}
