package gen

import "testing"

func TestLeadingBracesAreRefused(t *testing.T) {
	for _, text := range []string{"{ A | B } //hookgen:points", "} A | B //hookgen:points",
		"interface { A(B | C) } //hookgen:points", "| //hookgen:points", ", //hookgen:points"} {
		if _, found := readFiles(map[string]string{"spec.go": text}); len(found) == 0 {
			t.Errorf("nothing is wrong with %q", text)
		}
	}
}

func TestOnlyABarAtTheErrorIsAUnion(t *testing.T) {
	_, found := readFiles(map[string]string{"spec.go": "x| //hookgen:points"})
	if len(found) == 0 || found[0].Rule != ruleSyntax {
		t.Errorf("got %v, want an error of the syntax", found)
	}
}
