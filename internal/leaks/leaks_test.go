package leaks

import (
	"strings"
	"testing"
)

func TestSamplesHoldDrawnSecrets(t *testing.T) {
	samples := Samples()
	if len(samples) < 200 {
		t.Errorf("%d samples", len(samples))
	}
	seen := make(map[string]bool)
	for _, s := range samples {
		text := s.Draw(1, "#")
		title := s.Class + ": " + s.Name
		if len(text.Secrets) == 0 || seen[title] || strings.ContainsAny(text.Text, "«»") {
			t.Errorf("%s: %+v", title, text)
		}
		seen[title] = true
		for _, secret := range text.Secrets {
			if Remains(text.Text, secret) == "" || Remains(text.Clean, secret) != "" {
				t.Errorf("%s: %q in %q", title, secret, text.Clean)
			}
		}
		if again := s.Draw(1, "#"); again.Text != text.Text {
			t.Errorf("%s differs: %q", title, again.Text)
		}
	}
}
