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
	for _, id := range []string{"no-spec", "size", "syntax", "union", "name-clash", "shadowed-name", "main-package",
		"output-exported", "exit-held", "qualifier"} {
		if !seen[id] {
			t.Errorf("no rule %s", id)
		}
	}
}

// pointsOf returns a spec with n lines in its interface. A # in the line becomes its number.
func pointsOf(n int, line, decls string) string {
	var b strings.Builder
	b.WriteString("package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n//hookgen:points\ntype Points interface {\n")
	for i := range n {
		fmt.Fprintln(&b, strings.ReplaceAll(line, "#", fmt.Sprintf("%05d", i)))
	}
	return b.String() + "}\n" + decls
}

func TestDiagnosticsAreLimited(t *testing.T) {
	for n, want := range map[int]int{maxFindings - 1: maxFindings - 1, maxFindings: maxFindings,
		maxFindings + 1: maxFindings} {
		if _, found := readFiles(map[string]string{"spec.go": pointsOf(n, "On#() spec.Check", "")}); len(found) != want {
			t.Errorf("%d mistakes, %d findings, want %d", n, len(found), want)
		}
	}
}
