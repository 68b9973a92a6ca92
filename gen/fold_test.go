package gen

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestFoldBreaksLists(t *testing.T) {
	a, b, c := strings.Repeat("a", 30), strings.Repeat("b", 40), strings.Repeat("c", 70)
	for _, test := range []struct{ name, line, want string }{
		{"a short line", "func F(" + a + " int)", "func F(" + a + " int)"},
		{"parameters", "func (t *" + a + ") F(" + b + " int, " + c + " string) error {",
			"func (t *" + a + ") F(\n\t" + b + " int,\n\t" + c + " string,\n) error {"},
		{"results too", "\tfunc F(" + c + " int) (" + c + " string, " + b + " error) {",
			"\tfunc F(\n\t\t" + c + " int,\n\t) (\n\t\t" + c + " string,\n\t\t" + b + " error,\n\t) {"},
		{"a list in a list", "return f(g(" + b + ", " + c + ", " + b + "), x)",
			"return f(\n\tg(\n\t\t" + b + ",\n\t\t" + c + ",\n\t\t" + b + ",\n\t),\n\tx,\n)"},
		{"cases", "\t\tcase " + b + ", " + c + ", " + a + ":", "\t\tcase " + b + ",\n\t\t\t" + c + ",\n\t\t\t" + a + ":"},
		{"brackets in text", `f("((", '(', ` + "`,(`, " + b + ", " + c + ")",
			"f(\n\t\"((\",\n\t'(',\n\t`,(`,\n\t" + b + ",\n\t" + c + ",\n)"},
		{"an assertion", a + b + c + ".(T)", a + b + c + ".(T)"},
		{"a list that another line ends", "F: f(func(" + b + " int, " + c + " string) {",
			"F: f(func(\n\t" + b + " int,\n\t" + c + " string,\n) {"},
		{"nothing to break", "var " + a + b + c + " T", "var " + a + b + c + " T"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff("x\n"+test.want+"\ny", fold("x\n"+test.line+"\ny")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFillBreaksProse(t *testing.T) {
	words, unbroken := strings.Repeat("word ", 30), strings.Repeat("x", 200)
	want := "\t//" + strings.Repeat(" word", 19) + "\n\t//" + strings.Repeat(" word", 11)
	if diff := cmp.Diff("x\n"+want+"\n", fill("x\n\t// "+words+"\n")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, same := range []string{"// short", "//" + unbroken, "f(" + words + ")", "// " + unbroken} {
		if got := fill(same); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
}

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
				if utf8.RuneCountInString(text) > maxColumns && !strings.Contains(text, `"`) {
					t.Errorf("law %q: %d columns: %s", law, utf8.RuneCountInString(text), text)
				}
			}
		}
	}
}

// A longer comment would be broken by fill, which leaves a short line in the middle of a paragraph.
func TestTemplateCommentsAreWrappedAlready(t *testing.T) {
	for _, line := range strings.Split(pointTemplate, "\n") {
		body := strings.TrimLeft(line, "\t")
		names := strings.Contains(strings.ToLower(body), "hookgen") // whose length the spec decides
		if strings.HasPrefix(body, "// ") && !names && len(line) > proseColumns {
			t.Errorf("a comment of %d columns, more than %d: %s", len(line), proseColumns, body)
		}
	}
}
