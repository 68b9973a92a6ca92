package gen

import "testing"

// What is blanked out of a union is its "| B", whatever bytes that is made of, and nothing behind it.
func TestUnionsAreBlankedToTheirEnd(t *testing.T) {
	for text, want := range map[string]string{
		"interface{F(A | B) C}":       "interface{F(A    ) C}",
		"interface{F(A | \xff) C}":    "interface{F(A    ) C}",
		"interface{F(A | \xff\n) C}":  "interface{F(A    \n) C}",
		"interface{F(A | B\xfc, D) }": "interface{F(A     , D) }",
	} {
		if got, at := blankUnions([]byte(text), []int{14}); string(got) != want || len(at) != 1 {
			t.Errorf("%q becomes %q (%v), want %q", text, got, at, want)
		}
	}
}
