package hookkit_test

import (
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

// plain and numbered are exits without a reason in words.
type (
	plain    struct{ Code string }
	numbered struct{ Reason int }
)

func TestOnlyAReasonInWordsIsTold(t *testing.T) {
	captureLog(t)
	for decision, out := range map[string]any{"plain": plain{"x"}, "numbered": numbered{7}, "stop": stop{""}} {
		var h hooks
		var recorder hookkit.Recorder
		h.Trace(&recorder)
		h.First.Add(decide(out, nil))
		_, _ = h.First.Fire(t.Context(), hookkit.NewRun(""), 0)
		if e := recorder.Events()[0]; e.Decision != decision || e.Reason != "" {
			t.Errorf("an exit %T is told as %q, %q", out, e.Decision, e.Reason)
		}
	}
}
