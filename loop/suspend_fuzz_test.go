package loop_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// reseal changes the State of a suspended run and computes its digest again, as an attacker can.
func reseal(s *agent.Suspension, old, with string) {
	s.State = bytes.ReplaceAll(s.State, []byte(old), []byte(with))
	sum := sha256.Sum256(s.State)
	s.Digest = hex.EncodeToString(sum[:])
}

// FuzzSuspension: whatever is in a State, Resume returns a result or an error.
func FuzzSuspension(f *testing.F) {
	_, result := suspended(f)
	good := result.Suspended
	f.Add(good.State)
	f.Add([]byte(`{"version":1}`))
	_, nested := suspendedAs(f, "Subagent")
	f.Add(nested.Suspended.State)
	f.Add(bytes.ReplaceAll(good.State, []byte(`"calls"`), []byte(`"target"`)))
	f.Add(bytes.ReplaceAll(good.State, []byte(`"result"`), []byte(`"question"`)))
	f.Add(bytes.Replace(good.State, []byte(`"messages"`),
		[]byte(`"answer":{"name":"a","schema":{"type":"object","required":["n"]}},"messages"`), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		state := *good
		state.State = data
		reseal(&state, "", "")
		s := suspendable()["BetweenOthers"]()
		got, err := looptest.Ended(s.process().Resume(t.Context(), state,
			loop.AnswerTo(good.Questions[0], agent.Approval{Allow: true})))
		if err == nil && got.Stop.Cause == "" {
			t.Errorf("no error and no result: %+v", got)
		}
	})
}
