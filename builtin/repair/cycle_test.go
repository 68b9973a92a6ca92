package repair

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
	"github.com/hookgen/hookgen/generated/agent"
)

// entries converts each word to a cycleEntry: "a1" is the call a with the result 1.
func entries(words string) []cycleEntry {
	var out []cycleEntry
	for _, w := range strings.Fields(words) {
		out = append(out, cycleEntry{fingerprint.Sum{w[0]}, fingerprint.Of([]byte(w))})
	}
	return out
}

func TestCyclesAreDetectedFromLastCalls(t *testing.T) {
	for _, c := range []struct {
		came  string
		ahead int
		next  string
		want  string // length and rounds
	}{
		{"", 0, "a", "0 0"},
		{"a1 b1", 0, "a", "0 0"},
		{"a1 b1 a1", 0, "b", "0 0"},
		{"a1 b1 a1 b1", 0, "a", "2 2"},
		{"a1 b1 a1 b1", 0, "b", "0 0"},
		{"a1 b1 a1 b1", 1, "b", "2 2"},
		{"a1 b1 a1 b1", 1, "a", "0 0"},
		{"a1 b1 a1 b1", 2, "a", "0 0"},
		{"a1 b1 a1 b1 a1", 0, "b", "2 2"},
		{"a1 b1 a1 b1 a1 b1", 0, "a", "2 3"},
		{"a1 b1 a1 b2", 0, "a", "0 0"},
		{"x1 y1 a1 b1 a1 b1", 0, "a", "2 2"},
		{"a1 b1 a1 b1 x1", 0, "a", "0 0"},
		{"a1 b1 c1 a1 b1 c1", 0, "a", "3 2"},
		{"a1 a2 a1 a2", 0, "a", "2 2"},
		{"a1 b1 c1 d1 e1 f1 a1 b1 c1 d1 e1 f1", 0, "a", "6 2"},
		{"a1 b1 c1 d1 e1 f1 g1 a1 b1 c1 d1 e1 f1 g1", 0, "a", "0 0"},
		{"a1 b1 a1 b1 a1 b1 a1 b1", 0, "a", "2 4"}, // also a cycle of 4, twice
	} {
		t.Run(fmt.Sprintf("%s, %d, %s", c.came, c.ahead, c.next), func(t *testing.T) {
			var cs cycles
			for _, e := range entries(c.came) {
				cs.add(e, 6)
				if len(cs.last) > 6 {
					t.Errorf("%d calls are kept", len(cs.last))
				}
			}
			cs.pending = c.ahead
			length, rounds := cs.continued(fingerprint.Sum{c.next[0]})
			if got := fmt.Sprint(length, rounds); got != c.want {
				t.Errorf("after %q and %d more, %s goes on with %s, want %s", c.came, c.ahead, c.next, got, c.want)
			}
		})
	}
}

func TestTheShortestCycleIsReported(t *testing.T) {
	var cs cycles
	for _, e := range entries("a1 b1 a1 b1 a1 b1 a1 b1") { // a cycle of 2 in the fourth round, and one of 4
		cs.add(e, 4)
	}
	for range 2 {
		cs.lengths[4].hints.give(1)
	}
	if length, rounds := cs.continued(fingerprint.Sum{'a'}); length != 2 || rounds != 4 {
		t.Errorf("the cycle of %d has %d rounds", length, rounds)
	}
}

func TestCyclesOfTwoAreTheShortest(t *testing.T) {
	for longest, want := range map[int]string{2: "2 2", 1: "0 0", 0: "0 0"} {
		var cs cycles
		for _, e := range entries("a1 b1 a1 b1") {
			cs.add(e, longest)
		}
		length, rounds := cs.continued(fingerprint.Sum{'a'})
		if got := fmt.Sprint(length, rounds); got != want {
			t.Errorf("at most %d calls: %s, want %s", longest, got, want)
		}
	}
}

func TestHintsEndWithTheirCycle(t *testing.T) {
	var cs cycles
	for _, e := range entries("a1 b1 a1 b1") {
		cs.add(e, 6)
	}
	cs.lengths[2].hints.give(5)
	if _, rounds := cs.continued(fingerprint.Sum{'a'}); rounds != 3 {
		t.Errorf("with a hint it has %d rounds, want 3", rounds)
	}
	for _, e := range entries("x1 a1 b1 a1 b1") {
		cs.add(e, 6)
	}
	if _, rounds := cs.continued(fingerprint.Sum{'a'}); rounds != 2 {
		t.Errorf("after another call it has %d rounds, want 2", rounds)
	}
}

// decide makes calls as a loop does: first the detector decides all calls of a reply, then it sees their results.
// Each word is a call with its result, as in entries.
func decide(t *testing.T, d *LoopDetector, run *agent.Run, step int, words string) (refused string) {
	t.Helper()
	var ran []agent.ToolCallResult
	for i, w := range strings.Fields(words) {
		call := agent.ToolCallRequest{ID: fmt.Sprint(i), Name: w[:1], Step: step}
		out, err := d.BeforeTool(t.Context(), run, call)
		if err != nil {
			t.Fatal(err)
		}
		if out != nil {
			refused += fmt.Sprintf("%s:%T ", w, out)
			continue
		}
		ran = append(ran, agent.ToolCallResult{Call: call, Output: w})
	}
	for _, r := range ran {
		_, _ = d.AfterTool(t.Context(), run, r)
	}
	return refused
}

func TestCycleWithinOneReplyIsDetected(t *testing.T) {
	d, run := &LoopDetector{Poll: []string{"*"}}, agent.NewRun(nil)
	for step, words := range []string{"a1 b1", "a2 b2", "a1 b1", "a2 b2"} {
		if refused := decide(t, d, run, step+1, words); refused != "" {
			t.Errorf("step %d: %s", step+1, refused)
		}
	}
	if refused := decide(t, d, run, 5, "a1 b1"); refused != "a1:agent.SkipTool " {
		t.Errorf("step 5 refused %q, want the first call of the third round", refused)
	}
	d, run = &LoopDetector{Poll: []string{"*"}}, agent.NewRun(nil)
	decide(t, d, run, 1, "a1 b1 c1")
	decide(t, d, run, 2, "a2 b2 c2")
	decide(t, d, run, 3, "a1 b1 c1")
	decide(t, d, run, 4, "a2 b2 c2")
	if refused := decide(t, d, run, 5, "x1 b1 c1"); refused != "b1:agent.SkipTool " {
		t.Errorf("step 5 refused %q, want the second call, where the cycle goes on", refused)
	}
}

func TestCallsDecidedOneByOneAreCounted(t *testing.T) {
	d, run := &LoopDetector{Poll: []string{"*"}}, agent.NewRun(nil)
	for i, word := range strings.Fields("a1 a2 a1 a2") {
		if refused := decide(t, d, run, 1, word); refused != "" {
			t.Errorf("call %d: %s", i+1, refused)
		}
	}
	if refused := decide(t, d, run, 1, "a1"); refused != "a1:agent.SkipTool " {
		t.Errorf("call 5 was refused as %q, want a hint", refused)
	}
}

func TestRefusedCallIsNotProgress(t *testing.T) {
	for _, status := range []agent.CallStatus{agent.CallRefused, agent.CallUnrun} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			d, run := &LoopDetector{HintAfter: 2}, agent.NewRun(nil)
			for step := 1; step <= 2; step++ {
				decide(t, d, run, step, "a1")
				_, _ = d.AfterTool(t.Context(), run, agent.ToolCallResult{
					Call: agent.ToolCallRequest{Name: "a", Step: step}, Err: "no", Status: status,
				})
			}
			if refused := decide(t, d, run, 3, "a1"); refused != "a1:agent.SkipTool " {
				t.Errorf("a %s call counted as progress: %q", status, refused)
			}
		})
	}
}

func TestProgressResetsHints(t *testing.T) {
	d, run := &LoopDetector{Mode: LoopNote, Poll: []string{"a"}}, agent.NewRun(nil)
	for step, words := range []string{"a1", "a1", "a2", "a2 a2 a2 a2",
		"a2"} { // the third call gets a note, but its result is progress
		if refused := decide(t, d, run, step+1, words); refused != "" {
			t.Errorf("step %d: %s", step+1, refused)
		}
	}
	if refused := decide(t, d, run, 6, "a2"); refused != "a2:agent.EndTurn " {
		t.Errorf("after the second note: %q", refused)
	}
}

func TestRefusalElsewhereDoesNotHideCycle(t *testing.T) {
	d, run := &LoopDetector{Poll: []string{"*"}}, agent.NewRun(nil)
	for step, words := range []string{"a1 b1", "a2 b2", "a1 b1", "a2 b2"} {
		decide(t, d, run, step+1, words)
	}
	denied := agent.ToolCallRequest{Name: "x", Step: 5}
	if out, err := d.BeforeTool(t.Context(), run, denied); out != nil || err != nil {
		t.Fatal(out, err)
	}
	_, _ = d.AfterTool(t.Context(), run, agent.ToolCallResult{
		Call: denied, Err: "denied", Status: agent.CallRefused,
	})
	if refused := decide(t, d, run, 6, "a1"); refused != "a1:agent.SkipTool " {
		t.Errorf("step 6 refused %q, want the call with which the cycle goes on", refused)
	}
}
