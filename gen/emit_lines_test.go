package gen

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// The names of a spec may be long.
func TestGeneratedLinesAreShort(t *testing.T) {
	long := strings.NewReplacer(
		"On", "OnEachMessageThatSomebodySends", "Stop", "StopBecauseTheBudgetIsUsedUp", "Leave", "LeaveItToAnotherPerson",
		"Item", "ConversationItem", "reason", "reasonForWhichItHappened")
	laws := []string{
		"", "spec.Check", "spec.Collect[Item]", "(spec.Collect[Item], spec.FailClosed)", "spec.Around[Item]",
		"(spec.Replace, spec.Edit[Item], Stop, Leave, spec.Collect[Item], spec.FailOpen)",
		"(spec.Replace, Stop, Leave, spec.FailClosed)", "(spec.Vote, Stop, Leave, spec.Collect[Item], spec.FailOpen)",
		"(spec.Vote, Stop, Leave, spec.FailClosed)", "(spec.Reverse, spec.Around[Item])",
	}
	for _, law := range laws {
		payload := "map[Item]Item"
		if strings.Contains(law, "Edit") {
			payload = "Whole"
		}
		spec := long.Replace(specOf("\tOn(reason "+payload+") "+law,
			"type Whole struct{ Part Item }\n\ntype Item string\n\ntype Stop struct{}\n\ntype Leave struct{}"))
		for _, to := range []Output{{Package: "p"}, {Package: "out", SpecPath: "example.org/p"}} {
			for line := range strings.Lines(emitted(t, spec, to)) {
				text := strings.TrimSuffix(line, "\n")
				if utf8.RuneCountInString(text) > 120 && !strings.Contains(text, `"`) {
					t.Errorf("law %q: %d columns: %s", law, utf8.RuneCountInString(text), text)
				}
			}
		}
	}
}
