package redact

import (
	"regexp"
	"strings"
	"testing"
)

const githubToken = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"

var kindOfAMark = regexp.MustCompile(`\[REDACTED:[a-z0-9:-]+\]`)

// unkinded returns a text whose marks have no kind: most tests check the redacted text, and not its kind.
func unkinded(s string) string { return kindOfAMark.ReplaceAllString(s, Redacted) }

func TestMarksHaveTheKindOfTheSecret(t *testing.T) {
	for text, want := range map[string]string{
		"see " + githubToken:                         "see [REDACTED:github-token]",
		"password=" + githubToken:                    "password=[REDACTED:github-token]",
		"password=hunter2":                           "password=[REDACTED]",
		"Authorization: Bearer " + githubToken:       "Authorization: [REDACTED:github-token]",
		"mail jo@example.org":                        "mail [REDACTED:email]",
		"card 4111 1111 1111 1111":                   "card [REDACTED:card]",
		"call 555-123-4567":                          "call [REDACTED:phone]",
		"https://bob:hunter2@example.org/":           "https://[REDACTED:url-credentials]@example.org/",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-d": "[REDACTED:json-web-token]",
	} {
		t.Run(text, func(t *testing.T) {
			r := new(Redactor)
			got := r.Text(text)
			if got != want || r.Text(got) != want {
				t.Errorf("got %q, and again %q; want %q", got, r.Text(got), want)
			}
		})
	}
}

func TestTextsLikeAMarkAreRedacted(t *testing.T) {
	for _, mark := range []string{
		"[REDACTED:hunter2]", "[REDACTED:github-token:hunter2hunte]", "[REDACTED:email:12345678]",
	} {
		if got := new(Redactor).Text("password=" + mark); strings.Contains(got, "hunte") || strings.Contains(got, "12345") {
			t.Errorf("%s is redacted as %q", mark, got)
		}
	}
}

func TestPseudonymsAreStableAndKeyed(t *testing.T) {
	text := "from jo@example.org to ann@example.org, cc jo@example.org, password=hunter2"
	form := regexp.MustCompile(`^from (\[REDACTED:email:[0-9a-f]{12}\]) to (\[REDACTED:email:[0-9a-f]{12}\]), ` +
		`cc (\[REDACTED:email:[0-9a-f]{12}\]), password=(\[REDACTED:[0-9a-f]{12}\])$`)
	key := []byte("0123456789abcdef")
	r := &Redactor{Mark: Pseudonyms(key)}
	key[0] = 'x' // the key was copied
	got := r.Text(text)
	marks := form.FindStringSubmatch(got)
	if marks == nil || marks[1] != marks[3] || marks[1] == marks[2] {
		t.Fatalf("got %q", got)
	}
	if again := r.Text(got); again != got {
		t.Errorf("%q is redacted as %q", got, again)
	}
	if other := (&Redactor{Mark: Pseudonyms(key)}).Text(text); other == got {
		t.Error("another key yields the same pseudonyms")
	}
	data := string(r.JSON([]byte(`{"password":"hunter2","n":1}`)))
	if want := `{"n":1,"password":"` + marks[4] + `"}`; data != want {
		t.Errorf("got %s, want %s", data, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("a short key does not panic")
		}
	}()
	Pseudonyms(make([]byte, 15))
}
