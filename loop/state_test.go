package loop

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestMovesChangeTheState(t *testing.T) {
	boom, stop := errors.New("boom"), errors.New("stop")
	answer := move{to: replied, reply: reply{text: "answer"}}
	other := move{to: replied, reply: reply{text: "other", by: "hook"}}
	fails := move{to: failed, failure: failure{"here", boom, ""}}
	cancel := move{to: cancelled, cause: stop}
	rescue := move{to: replied, reply: reply{text: "sorry"}, rescued: true}
	for _, c := range []struct {
		name   string
		moves  []move
		phase  string
		text   string
		failed bool
	}{
		{"NothingHappened", nil, "working", "", false},
		{"TheModelSpoke", []move{{to: working, reply: reply{text: "a"}}}, "working", "", false},
		{"Stopped", []move{{to: stopped}}, "stopped", "", false},
		{"AnAnswerAfterAStop", []move{{to: stopped}, answer}, "replied", "answer", false},
		{"TheFirstReplyCounts", []move{answer, other}, "replied", "answer", false},
		{"AStopAfterAnAnswer", []move{answer, {to: stopped}}, "replied", "answer", false},
		{"CancelledAfterAnAnswer", []move{answer, cancel}, "cancelled", "answer", false},
		{"AReplyAfterTheCancellation", []move{cancel, answer}, "cancelled", "answer", false},
		{"FailedAfterAnAnswer", []move{answer, fails}, "failed", "answer", true},
		{"CancelledAfterAFailure", []move{fails, cancel}, "failed", "", true},
		{"Rescued", []move{answer, fails, rescue}, "replied", "sorry", false},
		{"RescuedAfterACancellation", []move{cancel, fails, rescue}, "cancelled", "sorry", false},
		{"HandedOff", []move{{to: stopped, handedOffTo: "expert"}}, "stopped", "", false},
		{"FailedTwice", []move{fails, {to: failed, failure: failure{"there", stop, ""}}}, "failed", "", true},
		{"AnswerAfterAFailure", []move{fails, answer}, "failed", "answer", true},
		{"RescuedWithoutAnAnswer", []move{fails, rescue}, "replied", "sorry", false},
		{"FailedAfterARescue", []move{fails, rescue, fails}, "failed", "sorry", true},
		{"Settled", []move{answer, {to: settled, reply: reply{text: "final"}}}, "settled", "final", false},
		{"Closed", []move{answer, {to: settled}, {to: closed}}, "closed", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s state
			for _, m := range c.moves {
				s.move(m)
			}
			if s.phase.String() != c.phase || s.reply.text != c.text || (s.failure.err != nil) != c.failed {
				t.Errorf("%v, replied %q, failed with %v", s.phase, s.reply.text, s.failure.err)
			}
			if s.over() != (c.phase != "working") || s.isClosed() != (c.phase == "closed") {
				t.Errorf("over %t, closed %t", s.over(), s.isClosed())
			}
		})
	}
}

func TestOnlyFirstFailureAndCauseAreKept(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second move
	}{
		{"Failure", move{to: failed, failure: failure{"a", errors.New("a"), ""}}, move{
			to: failed, failure: failure{"b", errors.New("b"), ""},
		}},
		{"Cause", move{to: cancelled, cause: errors.New("a")}, move{to: cancelled, cause: errors.New("b")}},
		{"Reply", move{to: replied, reply: reply{text: "a"}}, move{to: replied, reply: reply{text: "b"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s state
			if !s.move(c.first) || s.move(c.second) {
				t.Error("the second move was made")
			}
			if s.failure.where == "b" || s.reply.text == "b" || s.cause != nil && s.cause.Error() == "b" {
				t.Errorf("the second one counts: %+v", s.reply)
			}
		})
	}
}

// A run only moves to later phases, except after OnRunError.
func TestPhasesOnlyMoveForward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s state
		for _, to := range rapid.SliceOf(rapid.SampledFrom([]phase{
			working, stopped, replied, cancelled, failed, settled, closed,
		})).Draw(t, "moves") {
			before := s.phase
			s.move(move{to: to, cause: errors.New("stop"), failure: failure{"here", errors.New("boom"), ""}})
			if s.phase < before || s.phase < to && s.phase != before {
				t.Fatalf("a move to %v led from %v to %v", to, before, s.phase)
			}
		}
	})
}
