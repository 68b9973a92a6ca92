package redact

import (
	"mime/quotedprintable"
	"strings"
	"testing"
)

func TestSecretsInTextsOfJSONAreRedacted(t *testing.T) {
	masks(t,
		`{"out":"adobe_token = \"«c7237eff228cf0ee1e2ba24325666c37»\""}`,
		`{"out":"{\"a\":\"adobe_token = \\\"«c7237eff228cf0ee1e2ba24325666c37»\\\"\"}"}`,
		`{"out":"\u003cpassword\u003e«hunter2»\u003c/password\u003e"}`, `C:\new\table`, `"a\nb\tc"`,
	)
}

func TestSecretsInMailsAreRedacted(t *testing.T) {
	var mail strings.Builder
	w := quotedprintable.NewWriter(&mail)
	text := "Hello, this is the first line of a mail, and the key that you want is " +
		githubToken + ", and api_key=hunter2hunter2."
	if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(new(Redactor).Text(mail.String()), "=\r\n", "")
	if strings.Contains(got, "abcdef") || strings.Contains(got, "hunter2") ||
		!strings.HasPrefix(got, "Hello, this is the first") {
		t.Errorf("%q\nis redacted as\n%q", mail.String(), got)
	}
	masks(t, "key = «aGVsbG8gd29ybGQgMTIzNA==»\nnext", "a=\nb")
}

func TestPercentEncodedSecretsAreRedacted(t *testing.T) {
	masks(t,
		`https://h/?x=password%3D«hunter2»`, `x=%22api_token%22%3A%22«abcd1234efgh5678»%22&y=1`,
		`https%3A%2F%2F«bob%3Ahunter2»%40host%2Fx`, `pass%77ord=«hunter2»`,
		`x=password%3D«hunter2»%26page=2`, `x=curl+-u+%22bob:«hunter2hunter2»%22`,
		`https://h/?q=a%20b%3Dc`, `100%25+of+x`, `%`, `%4`, `a%zz=b`, `https://h/%E2%82%AC?x=1`,
		`x=Bearer%20«abcdef1234567890abcdef»`, `%70%61%73%73%77%6f%72%64%3D«%68%75%6E%74%65%72%32»`,
		`u=https%253A%252F%252F«bob%253Ahunter2»%2540host`, `x=password%253D«hunter2»%2526page%253D2`,
		`x=password%25253D«hunter2»`, `x=password%25252525253Dhunter2`, `a=%252Fb%252Fc&q=100%2525`,
	)
}
