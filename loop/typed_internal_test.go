package loop

import (
	"errors"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestMissingAnswersAreExplained(t *testing.T) {
	stop := agent.EndRun{Cause: agent.CauseStepsLimit, Message: "50 steps"}
	const head = "the run ended without an answer of the type "
	for _, c := range []struct {
		err  NoAnswerError
		want string
	}{
		{NoAnswerError{Stop: stop, Err: errors.New("boom")}, head + "(steps_limit): boom"},
		{NoAnswerError{Stop: stop}, head + "(steps_limit): 50 steps"},
		{NoAnswerError{Stop: agent.EndRun{Cause: agent.CauseCompleted}}, head + "(completed)"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := c.err.Error(); got != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}
