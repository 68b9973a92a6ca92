package agentspec_test

import (
	"testing"

	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestOnlyFinishedRunsAreNotForced(t *testing.T) {
	for _, c := range []struct {
		cause agentspec.Cause
		want  bool
	}{
		{agentspec.CauseError, true},
		{agentspec.CauseStopRequested, true},
		{agentspec.CauseUserRequested, true},
		{agentspec.CauseStepsLimit, true},
		{agentspec.CauseTokenLimit, true},
		{agentspec.CauseTimeLimit, true},
		{agentspec.CauseRetryLimit, true},
		{agentspec.CauseFinishReason, false},
		{agentspec.CauseCompleted, false},
		{agentspec.CauseUnknown, true},
		{"", true},
		{"made_up", true},
	} {
		t.Run(string(c.cause), func(t *testing.T) {
			if got := (agentspec.AgentResult{Stop: agentspec.EndRun{Cause: c.cause}}).Forced(); got != c.want {
				t.Errorf("forced: %t", got)
			}
		})
	}
}
