package redact

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/leaks"
)

// streamed redacts a text in pieces of drawn lengths.
func streamed(r *Redactor, text string, rand *rand.Rand, longest int) string {
	s := r.Stream()
	var out strings.Builder
	for len(text) > 0 {
		n := min(len(text), 1+rand.IntN(longest))
		out.WriteString(s.Add(text[:n]))
		text = text[n:]
	}
	return out.String() + s.End()
}

func TestStreamsHideSecretsAcrossPieces(t *testing.T) {
	r := &Redactor{KeepPersonal: true}
	rand := rand.New(rand.NewPCG(1, 2))
	for _, sample := range leaks.Samples() {
		t.Run(sample.Class+" "+sample.Name, func(t *testing.T) {
			for n := range uint64(5) {
				text := sample.Draw(n, Redacted)
				before := strings.Repeat("An ordinary line of text.\n", rand.IntN(60))
				after := "\n" + strings.Repeat("Another line of text.\n", rand.IntN(60))
				if strings.HasPrefix(sample.Name, "cut") {
					after = ""
				}
				got := streamed(r, before+text.Text+after, rand, 40)
				for _, secret := range text.Secrets {
					if part := leaks.Remains(got, secret); part != "" {
						t.Fatalf("%q of %q remains in %q", part, secret, got)
					}
				}
				if !strings.HasPrefix(got, before) {
					t.Fatalf("the text before a secret changed: %q", got)
				}
			}
		})
	}
}

func TestStreamsKeepOrdinaryTexts(t *testing.T) {
	rand := rand.New(rand.NewPCG(1, 2))
	for name, text := range leaks.Ordinary() {
		t.Run(name, func(t *testing.T) {
			if got := streamed(new(Redactor), text, rand, 300); got != text {
				t.Errorf("%q\nbecame %q", text, got)
			}
		})
	}
}

func TestStreamsKeepOnlyTheEndBack(t *testing.T) {
	for name, text := range map[string]string{
		"words":              strings.Repeat("more ", 300),
		"a long last word":   "few words " + strings.Repeat("more,", 300),
		"only one long word": strings.Repeat("more,", 300),
	} {
		t.Run(name, func(t *testing.T) {
			got := new(Redactor).Stream().Add(text)
			if rest := len(text) - len(got); rest < windowEnd || rest > windowEnd+len("more ") {
				t.Errorf("%d bytes are held back", rest)
			}
		})
	}
}

func TestStreamsForgetTheMiddleOfLongSecrets(t *testing.T) {
	r := new(Redactor)
	s := r.Stream()
	got := s.Add("password=")
	for range 10_000 {
		got += s.Add("Zm9vYmFyYmF6cXV4eHh5eno1Njc4OTAx")
	}
	if len(s.pending) > 2*streamMost {
		t.Errorf("%d bytes are held back", len(s.pending))
	}
	got += s.Add(" next") + s.End()
	if got != "password="+Redacted+" next" {
		t.Errorf("got %.200q", got)
	}
}

// FuzzStream redacts texts in pieces. A text without secrets stays, and a secret at the beginning is found.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		"a\nb", "token: |\n  x", "-----BEGIN PRIVATE KEY-----", "https://a:b", "é😀", "\xff password=",
	} {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, s string, longest uint8) {
		r := new(Redactor)
		rand := rand.New(rand.NewPCG(1, 2))
		text := s + strings.Repeat(" and more", 200)
		if got := streamed(r, text, rand, 1+int(longest)); len(r.find(text, text)) == 0 && got != text {
			t.Errorf("%q became %q", text, got)
		}
		if strings.Contains(s, "hunter2") {
			return
		}
		if got := streamed(r, `{"password":"hunter2"} `+text, rand, 1+int(longest)); strings.Contains(got, "hunter2") {
			t.Errorf("the secret before %q remains: %q", text, got)
		}
	})
}
