package redact

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestTextRedactsSecretsAndPersonalData(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":               {"", ""},
		"an ordinary sentence":  {"list the files: a.go, b.go = 2", "list the files: a.go, b.go = 2"},
		"a named value":         {"password=hunter2 next", "password=[REDACTED] next"},
		"a compound name":       {"DB_PASSWORD: hunter2", "DB_PASSWORD: [REDACTED]"},
		"a camel-case name":     {"clientSecret=abc&x=1", "clientSecret=[REDACTED]&x=1"},
		"after another name":    {"note: password=abc", "note: password=[REDACTED]"},
		"a quoted key":          {`{"password": "hunter2", "a": 1}`, `{"password": "[REDACTED]", "a": 1}`},
		"an escaped quoted key": {`{\"api_key\": \"hun\\\"ter2\", \"a\": 1}`, `{\"api_key\": \"[REDACTED]\", \"a\": 1}`},
		"quotes in quotes":      {`token = "a\"b c" rest`, `token = "[REDACTED]" rest`},
		"an open quote":         {`secret: "never ends`, `secret: "[REDACTED]`},
		"a list":                {`"passwords": ["a", "b"], "c": 1`, `"passwords": [REDACTED], "c": 1`},
		"a flag":                {"login --password hunter2 --user bob", "login --password [REDACTED] --user bob"},
		"a flag with equals":    {"login --api-key=hunter2", "login --api-key=[REDACTED]"},
		"a header":              {"Authorization: Bearer abcdef123456\nHost: x", "Authorization: [REDACTED]\nHost: x"},
		"a cookie header":       {"Set-Cookie: a=b; c=d\r\nX: y", "Set-Cookie: [REDACTED]\r\nX: y"},
		"a scheme":              {"use Bearer abcdef123456 there", "use Bearer [REDACTED] there"},
		"a word after basic": {"a basic understanding of bearer instruments",
			"a basic understanding of bearer instruments"},
		"a count of tokens":     {"max_tokens: 4000, token=12", "max_tokens: 4000, token=12"},
		"a comparison":          {"if password == nil {", "if password == nil {"},
		"a user in a URL":       {"git clone https://bob:pw@host.org/r.git", "git clone https://[REDACTED]@host.org/r.git"},
		"an at in a password":   {"postgres://u:p@ss@db:5432/x", "postgres://[REDACTED]@db:5432/x"},
		"a query":               {"GET /?access_token=abc&page=2", "GET /?access_token=[REDACTED]&page=2"},
		"a key of a provider":   {"with sk-proj-abcdefghijklmnop1234 ok", "with [REDACTED] ok"},
		"a word ending in sk":   {"the task-abcdefghijklmnopqrst is open", "the task-abcdefghijklmnopqrst is open"},
		"a personal access key": {"ghp_abcdefghijklmnopqrstuvwxyz0123", "[REDACTED]"},
		"a cloud key":           {"id AKIAABCDEFGHIJKLMNOP!", "id [REDACTED]!"},
		"a web token":           {"x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_ y", "x [REDACTED] y"},
		"a private key": {"a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b",
			"a [REDACTED] b"},
		"half a private key": {"a -----BEGIN PRIVATE KEY-----\nMII", "a [REDACTED]"},
		"a mail address":     {"write to jörg.x+y@mail.example.org.", "write to [REDACTED]."},
		"a telephone number": {"call (555) 123-4567 or 555-123-4567 or +49 30 1234567",
			"call [REDACTED] or [REDACTED] or [REDACTED]"},
		"a security number":    {"SSN 123-45-6789, not 000-12-3456", "SSN [REDACTED], not 000-12-3456"},
		"a card":               {"4111 1111 1111 1111 paid, 4111111111111111", "[REDACTED] paid, [REDACTED]"},
		"a card and its date":  {"4111 1111 1111 1111 12/26", "[REDACTED] 12/26"},
		"no card: check digit": {"order 4111111111111112", "order 4111111111111112"},
		"no card: a time":      {"at 1730000000000 and 17300000000000004", "at 1730000000000 and 17300000000000004"},
		"no card: a fraction":  {"3.4111111111111111", "3.4111111111111111"},
		"a bank account":       {"to DE89 3704 0044 0532 0130 00 AND more", "to [REDACTED] AND more"},
		"no bank account":      {"DE88370400440532013000", "DE88370400440532013000"},
		"not UTF-8":            {"password=\xff\xfe z", "password=[REDACTED] z"},
	} {
		t.Run(name, func(t *testing.T) {
			got := unkinded(new(Redactor).Text(c.text))
			if got != c.want {
				t.Errorf("Text(%q)\n = %q,\nwant %q", c.text, got, c.want)
			}
			if again := new(Redactor).Text(got); again != got {
				t.Errorf("redacted again: %q", again)
			}
		})
	}
}

func TestValuesEndAsTheirSyntaxSays(t *testing.T) {
	horses := strings.Repeat(" horse", 20)
	const token = "ghp_abcdefghijklmnopqrstuvwxyz0123"
	for name, c := range map[string]struct{ text, want string }{
		"an escaped ampersand":      {"password=hunter2%26next=1", "password=[REDACTED]%26next=1"},
		"an escaped blank":          {"password=hunter2%20next", "password=[REDACTED]%20next"},
		"a passphrase":              {"password: correct" + horses, "password: [REDACTED]"},
		"a long line":               {"password: correct" + horses + "s", "password: [REDACTED]" + horses + "s"},
		"a quoted header":           {`"Authorization: Token abc12345678" -v`, `"Authorization: [REDACTED]" -v`},
		"words with a dot":          {"login with password=correct.horse", "login with password=[REDACTED]"},
		"a field of a variable":     {"connect(password=settings.db.primary)", "connect(password=settings.db.primary)"},
		"a backslash at the end":    {"password:\n\\", "password:\n\\"},
		"an option of a program":    {"sudo mysql -phunter22 db", "sudo mysql -p[REDACTED] db"},
		"an option of another one":  {"xmysql -phunter22 db", "xmysql -phunter22 db"},
		"bytes":                     {`password = rb'hunter22'`, `password = rb'[REDACTED]'`},
		"a text without escapes":    {`password = @"hunter22"`, `password = @"[REDACTED]"`},
		"an open quote of HTML":     {"password=&quot;hunter2 x", "password=&quot;[REDACTED]"},
		"an open quote on a line":   {"secret: \"never ends\nnext line", "secret: \"[REDACTED]\nnext line"},
		"a signature in a query":    {"GET /a?sig=plainword&x=1", "GET /a?sig=[REDACTED]&x=1"},
		"a signature elsewhere":     {"sig=plainword", "sig=plainword"},
		"an array of C":             {`char password[16] = "hunter2";`, `char password[16] = "[REDACTED]";`},
		"a strict comparison":       {`if (password !== "hunter2") {`, `if (password !== "[REDACTED]") {`},
		"a default":                 {`password ??= "hunter2"`, `password ??= "[REDACTED]"`},
		"a default of make":         {"password ?= hunter2", "password ?= [REDACTED]"},
		"the default of netrc":      {"default password hunter2", "default password [REDACTED]"},
		"a default in a sentence":   {"the default password hunter2", "the default password hunter2"},
		"a machine of netrc":        {"machine h login me password hunter2", "machine h login me password [REDACTED]"},
		"the shortest bank account": {"to NO9386011117947", "to [REDACTED]"},
		"where a secret is":         {"password: bitwarden://item/x", "password: bitwarden://item/x"},
		"its own name":              {"signing_key_data = key", "signing_key_data = key"},
		"the end of a private key": {"PRIVATE KEY-----\nMIIabcdefghijklmnopqrstuvwxyz0123456789\n-----END PRIVATE KEY-----",
			"PRIVATE KEY-----\n[REDACTED]"},
		"a blank line in a private key": {"a\n" + strings.Repeat("MIIabcdefghijk01", 4) + "\n\n-----END PRIVATE KEY-----",
			"a\n[REDACTED]"},
		"blank lines in a private key": {"a\n" + strings.Repeat("MIIabcdefghijk01", 4) + strings.Repeat("\r\n", 50) +
			"-----END PRIVATE KEY-----", "a\n[REDACTED]"},
		"an escaped byte":             {`\x0a` + token, `\x0a[REDACTED]`},
		"an escaped letter":           {`\u000a` + token, `\u000a[REDACTED]`},
		"an escape of a URL":          {"%3D" + token, "%3D[REDACTED]"},
		"a letter of an option":       {"-p" + token, "-p[REDACTED]"},
		"a port in a variable":        {"see http://host:$PORT/x", "see http://host:$PORT/x"},
		"a password of a cut URL":     {"see https://bob:hunter2hunter2", "see https://[REDACTED]"},
		"a password with a slash":     {"see https://bob:hunter2/x@host/y", "see https://[REDACTED]@host/y"},
		"a path that is not a secret": {"see https://host:bob/hunter2hunter2", "see https://host:bob/hunter2hunter2"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := unkinded(new(Redactor).Text(c.text)); got != c.want {
				t.Errorf("Text(%q)\n = %q,\nwant %q", c.text, got, c.want)
			}
		})
	}
}

func TestRedactorFindsSecretKeysAtAnyDepth(t *testing.T) {
	r := &Redactor{Keys: []string{"Employee-No"}}
	for _, c := range []struct{ in, want string }{
		{`{"a":[{"b":{"API-Key":"x","keys":["k"]}}]}`, `{"a":[{"b":{"API-Key":"[REDACTED]","keys":["k"]}}]}`},
		{`{"password":12345,"PASSWORD2":"x","pass":true}`,
			`{"PASSWORD2":"[REDACTED]","pass":true,"password":0}`},
		{`{"max_tokens":5,"token":"abc","tokens":["a"]}`,
			`{"max_tokens":5,"token":"[REDACTED]","tokens":["[REDACTED]"]}`},
		{`{"auth":{"user":"bob"},"password":null,"secret":""}`, `{"auth":{"user":"bob"},"password":null,"secret":""}`},
		{`{"employeeNo":7,"email":"nobody","n":4111111111111111}`,
			`{"email":"[REDACTED]","employeeNo":0,"n":0}`},
		{`{"cmd":"curl -H 'Authorization: Bearer abcdefgh1'"}`, `{"cmd":"curl -H 'Authorization: [REDACTED]'"}`},
		{`{"big":12345678901234567890.5,"html":"<b>&"}`, `{"big":12345678901234567890.5,"html":"<b>&"}`},
		{`{"nested":"{\"password\":\"x\"}","bob@example.org":1}`,
			`{"[REDACTED:email]":1,"nested":"{\"password\":\"[REDACTED]\"}"}`},
		{`not JSON, password=x`, `"not JSON, password=[REDACTED]"`},
	} {
		t.Run(c.in, func(t *testing.T) {
			if got := string(r.JSON([]byte(c.in))); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestOptionsExtendOrRestrictARedactor(t *testing.T) {
	text := `password=x, a@b.org, {"ssn":"y"}`
	for name, c := range map[string]struct {
		r    Redactor
		want string
	}{
		"keep secrets":       {Redactor{KeepSecrets: true}, `password=x, [REDACTED], {"ssn":"[REDACTED]"}`},
		"keep personal data": {Redactor{KeepPersonal: true}, `password=[REDACTED], a@b.org, {"ssn":"y"}`},
		"keep both":          {Redactor{KeepSecrets: true, KeepPersonal: true}, text},
		"keys": {Redactor{KeepSecrets: true, KeepPersonal: true, Keys: []string{"PassWord"}},
			`password=[REDACTED], a@b.org, {"ssn":"y"}`},
		"patterns": {Redactor{KeepSecrets: true, KeepPersonal: true,
			Patterns: []*regexp.Regexp{regexp.MustCompile("b.o")}}, `password=x, a@[REDACTED]rg, {"ssn":"y"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := unkinded(c.r.Text(text)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// FuzzRedactionIsStable checks that redaction is idempotent, yields valid JSON and finds a secret before any text.
func FuzzRedactionIsStable(f *testing.F) {
	for _, s := range []string{`password=x`, `"token": "a\\\"b"`, "--secret 'x", "https://a@b@c/", "4111 1111 1111 1111",
		"+1 2", "cookie:", "Authorization: Bearer x", "a@b.c@d.e", "{\"passwords\":[[["} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := new(Redactor)
		if strings.Contains(s, "hunter2") {
			return
		}
		if got := unkinded(r.Text(`{"password":"hunter2"} ` + s)); strings.Contains(got, "hunter2") {
			t.Errorf("the secret before %q remains: %q", s, got)
		}
		if got := r.JSON([]byte(s)); !json.Valid(got) {
			t.Errorf("JSON(%q) = %q", s, got)
		}
		once := r.Text(s)
		if again := r.Text(once); again != once {
			t.Errorf("%q is redacted as %q, and that as %q", s, once, again)
		}
	})
}

func BenchmarkRedactText(b *testing.B) {
	text := strings.Repeat("The quick brown fox: 12 jumps = over the lazy dog at 10:30, see a/b.go:17 for more.\n", 100)
	b.SetBytes(int64(len(text)))
	r := new(Redactor)
	for b.Loop() {
		r.Text(text)
	}
}

func TestRedactionRevealsAdjacentSecrets(t *testing.T) {
	link := "A://pw:/&" // the redacted value of pw looks like the user part of a URL, which another scan redacts
	for n := range 3 * maxPasses {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := strings.Repeat(link, n) + "0@"
			r := new(Redactor)
			once := r.Text(s)
			if again := r.Text(once); again != once || once == Redacted {
				t.Errorf("%q is redacted as %q, and that as %q", s, once, again)
			}
		})
	}
}
