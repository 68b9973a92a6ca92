package redact

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/internal/leaks"
)

// unmarked are tokens whose beginning has no mark.
var unmarked = map[string]bool{
	"Discord bot token": true, "Mailchimp key": true, "MaxMind key": true, "Telegram bot token": true,
	"without the beginning": true,
	"GitLab session":        true, "token as user": true,
	"Kubernetes secret, kind at the end": true,
}

// TestHalfSecretsAreRedacted redacts texts that were cut at every position before. The first characters of a token are
// not enough to recognise it.
func TestHalfSecretsAreRedacted(t *testing.T) {
	for _, sample := range leaks.Samples() {
		t.Run(sample.Class+" "+sample.Name, func(t *testing.T) {
			text := sample.Draw(1, Redacted)
			for n := range len(text.Text) {
				got := unkinded((&Redactor{KeepPersonal: true}).Text(text.Text[:n]))
				for _, secret := range text.Secrets {
					half := max(24, (len(secret)+1)/2)
					for at := 0; at+half <= len(secret) && !unmarked[sample.Name]; at++ {
						if part := secret[at : at+half]; strings.Contains(got, part) {
							t.Fatalf("%q of %q remains in %q", part, secret, got)
						}
					}
				}
			}
		})
	}
}

func TestTruncatedTextsHaveNoHalfSecret(t *testing.T) {
	const chars = 60
	end := windowBytes(chars)
	for _, sample := range leaks.Samples() {
		t.Run(sample.Class+" "+sample.Name, func(t *testing.T) {
			text := sample.Draw(1, Redacted)
			for at := 0; at < len(text.Text); at += 7 { // the window ends at this position of the text
				// Characters of four bytes, so that the truncated text reaches the end of the window.
				filler := strings.Repeat("😀", (end-at)/4-1) + "\n"
				got := unkinded((&Redactor{KeepPersonal: true}).CutText(filler+text.Text+strings.Repeat("\nmore", 1000), chars))
				if utf8.RuneCountInString(got) > chars {
					t.Fatalf("%d characters: %q", utf8.RuneCountInString(got), got)
				}
				for _, secret := range text.Secrets {
					if part := leaks.Remains(got, secret); part != "" {
						t.Fatalf("%q of %q remains in %q", part, secret, got)
					}
				}
			}
		})
	}
}

// TestShrunkTextsHaveNoHalfSecret cuts texts whose secrets are much longer than their placeholders, so that the
// truncated text reaches the end of the scanned window, or the part of it that is kept.
func TestShrunkTextsHaveNoHalfSecret(t *testing.T) {
	const chars = 200
	for _, sample := range leaks.Samples() {
		t.Run(sample.Class+" "+sample.Name, func(t *testing.T) {
			text := sample.Draw(1, Redacted)
			const more = "\nmore"
			text.Secrets = slices.DeleteFunc(text.Secrets, func(secret string) bool { // recognised only at the end of a text
				return leaks.Remains((&Redactor{KeepPersonal: true}).Text(text.Text+more), secret) != ""
			})
			for _, end := range []int{windowBytes(chars), windowBytes(chars) - windowEnd} {
				for at := 0; at < len(text.Text); at += 7 { // the window ends at this position of the text
					long := "password=" + strings.Repeat("a1", (end-at)/2-5) + "\n"
					whole := long + text.Text + strings.Repeat(more, 1000)
					got := unkinded((&Redactor{KeepPersonal: true}).CutText(whole, chars))
					if utf8.RuneCountInString(got) > chars {
						t.Fatalf("%d characters: %q", utf8.RuneCountInString(got), got)
					}
					for _, secret := range text.Secrets {
						if part := leaks.Remains(got, secret); part != "" {
							t.Fatalf("%q of %q remains in %q", part, secret, got)
						}
					}
				}
			}
		})
	}
}

func TestTextsAreTruncatedAfterRedaction(t *testing.T) {
	r := new(Redactor)
	for name, c := range map[string]struct {
		text string
		most int
		want string
	}{
		"short":             {"token=abc", 100, "token=[REDACTED]"},
		"the secret is cut": {"token=" + strings.Repeat("a", 50), 10, "token=[RE…"},
		"a long text":       {strings.Repeat("x", 100_000), 5, "xxxx…"},
		"a manifest": {
			"data:\n  a: " + strings.Repeat("eHg", 20) + "\n  b: " + strings.Repeat("eHg", 2000) + "\nkind: Secret\n", 200,
			"data:\n  a: [REDACTED]\n  b: [REDACTED]…",
		},
		"no characters": {"abc", 0, ""},
		"a marker at the end": {strings.Repeat("😀", 505) + " token=" + strings.Repeat("a1", 3000), 510,
			strings.Repeat("😀", 505) + " tok…"},
		"the largest bound":        {"password=x", math.MaxInt, "password=[REDACTED]"},
		"the window ends in a key": {strings.Repeat("password=x\n", 400), 40, "password=[REDACTED]\npassword=[REDACTED]…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := unkinded(r.CutText(c.text, c.most)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
