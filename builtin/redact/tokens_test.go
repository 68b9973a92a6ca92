package redact

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// drawn returns n bytes of an alphabet that the test accepts, or "". They end with a letter or a digit.
func drawn(r *rand.Rand, a *alphabet, n int, test func(string) bool) string {
	var letters []byte
	for c := range a {
		if a[c] {
			letters = append(letters, byte(c))
		}
	}
	for range 3000 {
		body := make([]byte, n)
		for i := range body {
			body[i] = letters[r.IntN(len(letters))]
		}
		if isAlnum(body[0]) && isAlnum(body[n-1]) && (test == nil || test(string(body))) {
			return string(body)
		}
	}
	return ""
}

// structured are bodies that random letters do not have: a UUID, and those of Slack, Sourcegraph, Airtable and Asana.
var structured = []string{
	"123e4567-e89b-42d3-a456-426614174000", "123456789012-aB3dE5fG7hI9kL", "9tLz123aBc",
	"0123456789abcdef0123456789abcdef01234567",
	"1234567890123456:0123456789abcdef0123456789abcdef",
	"AbCdEfGhIjKlM1.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
}

// bodies returns bodies of a form, the shortest and a longer one.
func bodies(r *rand.Rand, f form) (list []string) {
	longer := f.body.most
	if longer == math.MaxInt {
		longer = f.body.least + 20
	}
	for _, n := range []int{f.body.least, longer} {
		if body := drawn(r, f.body.of, n, f.test); body != "" {
			list = append(list, body)
		}
	}
	if len(list) > 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(structured), func(body string) bool {
		return !f.body.of.all(body) || !f.body.has(len(body)) || !f.test(body)
	})
}

func TestTokensOfEveryFormAreRedacted(t *testing.T) {
	for i, f := range forms {
		t.Run(fmt.Sprintf("%d %s %s", i, f.kind, f.prefix), func(t *testing.T) {
			tokens := bodies(rand.New(rand.NewPCG(1, uint64(i))), f)
			if len(tokens) == 0 {
				t.Error("no body was drawn")
			}
			for _, body := range tokens {
				want := "see " + Redacted + " here"
				if strings.HasSuffix(f.kind, "-webhook") || f.prefix == "api.telegram.org/bot" {
					want = "see " + f.prefix + Redacted + " here"
				}
				text := "see " + f.prefix + body + " here"
				if got := unkinded((&Redactor{KeepPersonal: true}).Text(text)); got != want {
					t.Errorf("%q is redacted as %q", text, got)
				}
			}
		})
	}
}

func TestTokensWithAMarkAreRedacted(t *testing.T) {
	for i, m := range markedForms {
		t.Run(m.kind, func(t *testing.T) {
			r := rand.New(rand.NewPCG(2, uint64(i)))
			part := func(a *alphabet, n int) string {
				if n == 0 {
					return ""
				}
				return drawn(r, a, n, nil)
			}
			for _, c := range []struct {
				before, after int
				found         bool
			}{
				{m.before.least, m.after.least, true}, {m.before.most, m.after.most, true},
				{m.before.least - 1, m.after.least, false}, {m.before.most, m.after.least - 1, false},
			} {
				if c.before < 0 || c.after < 0 {
					continue
				}
				token := part(m.before.of, c.before) + m.mark + part(m.after.of, c.after)
				found := appendMarked(nil, "see "+token+" here")
				if whole := len(found) == 1 && found[0] == (span{4, 4 + len(token), m.kind}); whole != c.found {
					t.Errorf("%q: found %v, want %t", token, found, c.found)
				}
			}
		})
	}
}

func TestTokensThatWereCutAreRedacted(t *testing.T) {
	masks(t,
		// The beginning of a body that looks random, of a UUID, and of a short body after a long prefix.
		"alone: see «sk-k3v9x2m8q1z7»", "alone: see «fc-0123456789ab»", "alone: see «api-123e4567-e»",
		"alone: see «gsk_abc123»", "alone: see «ghp_abc123»",
		"see sk-k3v9x2m8q1z7 x", "see fc-0123456789a", "see fc-aaaaaaaaaaaa", "see api-123e4567-", "see api-123e4567-e x",
		"see gsk_abc12", "see gsk_abcdef", "see gsk_abc123 x", "alone: see «csk-abcde1»", "see sk-abcde1", "see npm_abc123",
	)
}

func TestWebTokensBeginWithAnObject(t *testing.T) {
	masks(t,
		"x «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_» y", "x «eyJhbGciOiJIUzI1NiJ9» y", "x «eyJ0eXAiOiJKV1Qi», y",
		"x «eyJhbGciOi».", "x eyJhbGciO y",
		"x «ewogICJhbGciOiAi» y", "x «eyJhbGciOiJIUzI1NiJ9.eyJz»-. y", "x eyJmb28iOiJiYXIifQ y",
		"x «eyJmb28iOiJiYXIifQ.eyJzdWIiOiIxIn0» y",
		"x eyJmb28iOiJiYXIifQ.x y", "x eyBhbGciOiJIUzI1NiJ9 y", "x eyelidsandmore y",
	)
}

func TestTokensBeginAfterAnEscapeSequence(t *testing.T) {
	const token = "«ghp_abcdefghijklmnop0123»"
	for _, before := range []string{
		`\n`, `\r`, `\t`, `\b`, `\f`, `\v`, `\x0a`, `\u000a`, `%3D`, `-p`, `x -p`, "\t-p", `"`, `=`, `(`, `/`, `.`, `-`,
		`_`,
	} {
		masks(t, before+token)
	}
	for _, before := range []string{`\z`, `\xgg`, `\u00g0`, `%zz`, `x-p`, `x`, `1`} {
		masks(t, before+"ghp_abcdefghijklmnop0123")
	}
}

func TestTokensAfterSymbolsOfFormatsAreFound(t *testing.T) {
	for _, before := range []string{
		"token=3D", "=22", "see=20", "a=0D=0A", "=E2=80=9C", "=C3=A9", // of mails
		"$", "$$", "${", "{", "{{", "#{", "a${", "${a:-",
	} {
		text := before + "ghp_abcdefghijklmnopqrstuvwxyz0123"
		if got := unkinded(new(Redactor).Text(text)); strings.Contains(got, "ghp_") {
			t.Errorf("%q is redacted as %q", text, got)
		}
	}
}

func TestTokensAfterAnEscapeOfATerminalAreRedacted(t *testing.T) {
	for _, escape := range []string{"\x1bM", "\x1b7", "\x1bc", "\x1b(B"} {
		if got, want := new(Redactor).Text(escape+githubToken), escape+"[REDACTED:github-token]"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPlaceholdersOfTokensStay(t *testing.T) {
	masks(t,
		"hf_requiredCharacteristicTypesForDisplayMetadata", "xoxb-xxxxxxxxx-xxxxxxxxxx-xxxxxxxxxxxx", "xoxb-my-bot-token",
		"API_KEY=pplx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
		"AIzaSyAnLA7NfeLquW1tJFpx_eQCxoX-oo6YyIs", "https://example.org/a.ico-7a388b69018576d24b59331fd60aab0c.png",
		`public_key = "9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit"`, "第123-45-6789回",
	)
}
