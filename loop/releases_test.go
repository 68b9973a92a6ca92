package loop_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/loop/testdata/releases"
)

// TestStatesOfOtherReleasesAreRefused: a newer release has added a field to an object of the state, or has changed the
// type of a field. If this release resumed the run, it would lose the field in the next state.
func TestStatesOfOtherReleasesAreRefused(t *testing.T) {
	for name, start := range suspendable() {
		t.Run(name, func(t *testing.T) {
			s := start()
			s.person = later()
			a := s.process()
			first, err := looptest.Ended(a.Do(t.Context(), loop.Request{Task: "x", Tenant: "acme"}))
			if err != nil {
				t.Fatal(err)
			}
			state := sent(t, first.Suspended)
			if err := loop.CheckSuspension(state); err != nil {
				t.Error(err)
			}
			var answers []loop.Answer
			for _, q := range state.Questions {
				answers = append(answers, loop.AnswerTo(q, yes()))
			}
			before := len(s.log)
			for what, data := range releases.Of(state.State, "args", "parameters", "schema", "Tools") {
				other := state
				other.State = data
				reseal(&other, "", "")
				_, err := looptest.Ended(a.Resume(t.Context(), other, answers...))
				if !errors.Is(err, loop.ErrNotStarted) || len(s.log) != before || loop.CheckSuspension(other) == nil {
					t.Fatalf("%s: %v", what, err)
				}
				if strings.HasPrefix(what, "field") && !strings.Contains(err.Error(), "added_later") {
					t.Errorf("%s: the error does not name the field: %v", what, err)
				}
			}
		})
	}
}
