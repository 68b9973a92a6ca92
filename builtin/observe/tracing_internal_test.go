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

// A hook that is added during a run sees the end of the run without its start.
func TestUnknownRunEndsWithoutSpans(t *testing.T) {
	spans := new(SpanRecorder)
	tracing := &Tracing{Exporter: spans}
	tracing.endRun(agent.NewRun(nil), agent.AgentResult{Reply: "done"})
	if err := tracing.Flush(t.Context()); err != nil || len(spans.Ended()) != 0 {
		t.Errorf("%v: got %v", err, spans.Ended())
	}
}
