package gen

import (
	"fmt"
	"strings"
	"testing"
)

func TestEveryRuleIsListedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] || r.ID == "" || r.Says == "" {
			t.Errorf("%q says %q, once more or nothing", r.ID, r.Says)
		}
		seen[r.ID] = true
	}
	for _, id := range []string{"no-spec", "size", "syntax", "union", "name-clash", "shadowed-name", "main-package", "output-exported", "exit-held", "qualifier"} {
		if !seen[id] {
			t.Errorf("no rule %s", id)
		}
	}
}

// pointsOf is a spec with lines in its interface, each with its number in place of #.
func pointsOf(n int, line, decls string) string {
	var b strings.Builder
	b.WriteString("package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n//hookgen:points\ntype Points interface {\n")
	for i := range n {
		fmt.Fprintln(&b, strings.ReplaceAll(line, "#", fmt.Sprintf("%05d", i)))
	}
	return b.String() + "}\n" + decls
}

func TestAFileOfMistakesIsToldOfTheFirstTenThousand(t *testing.T) {
	for n, want := range map[int]int{mostFindings - 1: mostFindings - 1, mostFindings: mostFindings, mostFindings + 1: mostFindings} {
		if _, found := readFiles(map[string]string{"spec.go": pointsOf(n, "On#() spec.Check", "")}); len(found) != want {
			t.Errorf("%d mistakes, %d findings, want %d", n, len(found), want)
		}
	}
}

// Suggestions cost a comparison with every name of the file: after a hundred there are no more.
func TestTheFirstHundredGetASuggestion(t *testing.T) {
	for what, text := range map[string]string{
		"exits":  pointsOf(mostAsked+5, "On#(int) (Leav#, spec.FailClosed)", many(mostAsked+5, "type Leave# struct{}\n")),
		"groups": pointsOf(mostAsked+5, "Grop#", many(mostAsked+5, "type Group# interface{ On#(int) }\n")),
	} {
		_, found := readFiles(map[string]string{"spec.go": text})
		near, not := 0, 0
		for _, d := range found {
			switch {
			case strings.Contains(d.Message, "did you mean"):
				near++
			case strings.Contains(d.Message, "declare it here"):
				not++
			}
		}
		if near != mostAsked || not != 5 {
			t.Errorf("%s: %d with a suggestion, %d without", what, near, not)
		}
	}
}

// many repeats a text, with a number in place of #.
func many(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "#", fmt.Sprintf("%05d", i)))
	}
	return b.String()
}

func TestTheHundredAndFirstIsNotComparedWithTheMarkersEither(t *testing.T) {
	text := pointsOf(mostAsked+1, "On#(int) (Leav#, spec.FailClosed)", "")
	for last, want := range map[string]string{"Leav00099": "did you mean spec.Replace?", "Leav00100": "declare it here as a struct type"} {
		_, found := readFiles(map[string]string{"spec.go": strings.Replace(text, last, "Replce", 1)})
		for _, d := range found {
			if strings.HasPrefix(d.Message, "Replce ") && !strings.Contains(d.Message, want) {
				t.Errorf("in place of %s: %s", last, d.Message)
			}
		}
		if len(found) != mostAsked+1 {
			t.Errorf("%d findings", len(found))
		}
	}
}

// A type parameter hides what the package has under its name.
func TestATypeParameterIsNoTypeOfThePackage(t *testing.T) {
	s := mustRead(t, "package p\n\n//hookgen:points\ntype Points interface {\n\tOnOne(Pair[int, []int])\n}\n\ntype item struct{}\n\ntype Pair[item any, items interface{ ~[]item }] struct {\n\tA item\n\tB items\n}\n")
	if found := CheckOutput(s, Output{Package: "out", SpecPath: "example.com/p"}); len(found) > 0 {
		t.Error(found)
	}
}
