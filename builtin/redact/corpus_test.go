package redact

import (
	"os"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/leaks"
)

// TestSecretsOfRealFormatsAreRedacted redacts secrets in their usual context, and nothing else.
func TestSecretsOfRealFormatsAreRedacted(t *testing.T) {
	for _, sample := range leaks.Samples() {
		t.Run(sample.Class+" "+sample.Name, func(t *testing.T) {
			for n := range uint64(20) {
				text := sample.Draw(n, Redacted)
				r := &Redactor{KeepPersonal: true}
				got := unkinded(r.Text(text.Text))
				if got != text.Clean {
					t.Fatalf("%s\nis redacted as\n%s\nwant\n%s", text.Text, got, text.Clean)
				}
				if again := r.Text(got); again != got {
					t.Fatalf("%s\nis redacted again as\n%s", got, again)
				}
			}
		})
	}
}

func TestOrdinaryTextsStay(t *testing.T) {
	for name, text := range leaks.Ordinary() {
		t.Run(name, func(t *testing.T) {
			found := new(Redactor).find(text, text)
			for _, p := range found {
				from, to := lineStart(text, p.from), lineEnd(text, p.to)
				t.Errorf("%q is redacted in %q", text[p.from:p.to], text[from:to])
			}
		})
	}
}

// TestOrdinaryLinesStay reads testdata/ordinary.txt: one text a line, with \n for a line break.
func TestOrdinaryLinesStay(t *testing.T) {
	data, err := os.ReadFile("testdata/ordinary.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		text := strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\n`, "\n")
		t.Run(text, func(t *testing.T) {
			if got := unkinded(new(Redactor).Text(text)); got != text {
				t.Errorf("got %q", got)
			}
		})
	}
}
