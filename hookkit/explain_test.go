package hookkit_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

func TestExplainShowsEveryPointEveryHookInOrderAndWhy(t *testing.T) {
	var h hooks
	first := h.First.Add(continues, hookkit.Named("plain"))
	gone := h.First.Add(continues, hookkit.Named("gone"))
	h.First.Add(continues, hookkit.Named("guard"), hookkit.Priority(hookkit.Safety), hookkit.Timeout(1500*time.Millisecond), hookkit.FailClosed())
	h.First.Add(continues, hookkit.Named("odd"), hookkit.Priority(7), hookkit.Once(), hookkit.After(first), hookkit.Before(gone))
	h.First.Observe(nothing, hookkit.Named("audit"), hookkit.Async(64))
	h.ObserveAny(nothing, hookkit.Named("everything"), hookkit.Priority(hookkit.Detection))
	gone.Remove()
	inner := h.Layer()
	inner.First.Add(condition{hookkit.When("it rains", true, continues), continues}, hookkit.Named("umbrella"), hookkit.Priority(hookkit.InputShape))
	inner.Last.Add(continues, hookkit.Named("a"), hookkit.Priority(hookkit.Mutation))
	inner.Last.Add(continues, hookkit.Named("b"))

	var b strings.Builder
	if err := inner.Explain(&b); err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`explain_test\.go:\d+`).ReplaceAllString(b.String(), "explain_test.go:N")
	want := `First(int): stop, FailOpen
   1. guard  priority 100 (Safety), layer 0, time-out 1.5s, from hookkit/explain_test.go:N
   2. plain  priority 0 (Observability), layer 0, from hookkit/explain_test.go:N
   3. odd  priority 7, layer 0, after plain, once, from hookkit/explain_test.go:N
   4. umbrella  priority 80 (InputShape), layer 1, when it rains, from hookkit/explain_test.go:N
   o  everything  priority 60 (Detection), layer 0, from hookkit/explain_test.go:N
   o  audit  priority 0 (Observability), layer 0, async, queue 64, from hookkit/explain_test.go:N
Second(int): stop, FailClosed
   o  everything  priority 60 (Detection), layer 0, from hookkit/explain_test.go:N
Last(int): Reverse, stop, FailOpen
   1. b  priority 0 (Observability), layer 1, from hookkit/explain_test.go:N
   2. a  priority 40 (Mutation), layer 1, from hookkit/explain_test.go:N
   o  everything  priority 60 (Detection), layer 0, from hookkit/explain_test.go:N
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A condition is a hook as a When adapter makes it.
type condition struct {
	hookkit.Condition
	gateFunc
}

func TestExplainOfNothingShowsThePoints(t *testing.T) {
	var h hooks
	var b strings.Builder
	if err := h.Explain(&b); err != nil {
		t.Fatal(err)
	}
	want := "First(int): stop, FailOpen\n      nothing\nSecond(int): stop, FailClosed\n      nothing\nLast(int): Reverse, stop, FailOpen\n      nothing\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestExplainReturnsTheWritersError(t *testing.T) {
	broken := errors.New("broken pipe")
	if err := new(hooks).Explain(failingWriter{broken}); !errors.Is(err, broken) {
		t.Errorf("it returned %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestConditionsWithinConditionsAreShownAsOne(t *testing.T) {
	var h hooks
	inner := condition{hookkit.When("it rains", true, &namedGate{}), continues}
	h.First.Add(condition{hookkit.When("it is late", true, inner), continues})
	i := h.First.List()[0]
	if i.When != "it is late and it rains" || i.Name != "hookkit_test.namedGate" {
		t.Errorf("%s runs when %q", i.Name, i.When)
	}
}
