package gen

import (
	"fmt"
	"testing"
)

// Only the "| B" of a union is blanked, even if it contains several bytes per character. The text after it is kept.
func TestUnionsAreBlankedToTheirEnd(t *testing.T) {
	for text, want := range map[string]string{
		"interface{F(A | B) C}":       "interface{F(A    ) C}",
		"interface{F(A | \xff) C}":    "interface{F(A    ) C}",
		"interface{F(A | \xff\n) C}":  "interface{F(A    \n) C}",
		"interface{F(A | B\xfc, D) }": "interface{F(A     , D) }",
	} {
		t.Run(text, func(t *testing.T) {
			if got, at := blankUnions([]byte(text), []int{14}); string(got) != want || len(at) != 1 {
				t.Errorf("%q becomes %q (%v), want %q", text, got, at, want)
			}
		})
	}
}

// The parser stops after ten errors and is called at most ten times.
func TestManyUnionsAreReported(t *testing.T) {
	for n, syntax := range map[int]bool{110: false, 125: true} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			_, found := readFiles(map[string]string{"spec.go": pointsOf(n, "On#(int) (A | B, spec.FailOpen)",
				"\ntype A struct{}\n")})
			unions := 0
			for _, d := range found {
				if d.Rule == "union" {
					unions++
				}
			}
			if unions != min(n, 110) || ruleIs(found, ruleSyntax) != syntax {
				t.Errorf("of %d unions %d are told; a syntax error: %v", n, unions, !syntax)
			}
		})
	}
}

func TestLeadingBracesAreRefused(t *testing.T) {
	for _, text := range []string{"{ A | B } //hookgen:points", "} A | B //hookgen:points",
		"interface { A(B | C) } //hookgen:points", "| //hookgen:points", ", //hookgen:points"} {
		if _, found := readFiles(map[string]string{"spec.go": text}); len(found) == 0 {
			t.Errorf("nothing is wrong with %q", text)
		}
	}
}
