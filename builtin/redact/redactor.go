package redact

import (
	"encoding/json"
	"regexp"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
)

// Redacted replaces values whose names say that they are secret, as in password=[REDACTED]. If the form shows the kind
// of secret, the mark has a kind too, for example [REDACTED:github-token] or [REDACTED:email].
const Redacted = "[REDACTED]"

// A Redactor replaces secrets and personal data in texts and JSON before they are stored, sent or displayed. The zero
// value replaces both. To keep everything, set KeepSecrets and KeepPersonal.
//
// Secrets are the values of keys such as password, api_key or Authorization, in JSON and in texts such as password=x or
// --secret x. Secrets are also the user part of URLs, private keys, and tokens of well-known forms. Personal data are
// e-mail addresses, telephone numbers, US social security numbers, and card and bank account numbers with valid check
// digits. Telephone numbers have a plus sign and the code of any country, or one of the forms of the USA and the other
// countries with the code 1: (555) 123-4567, 555-123-4567 and 555.123.4567. Bank account numbers are those of the
// countries that use an IBAN. A Redactor recognises forms only: secrets in ordinary prose can remain.
//
// A Redactor is safe for concurrent use, unless its fields change.
type Redactor struct {
	KeepSecrets  bool
	KeepPersonal bool
	Network      bool             // also redact IP and MAC addresses
	Keys         []string         // further keys whose values are redacted; case and punctuation are ignored
	Patterns     []*regexp.Regexp // further patterns of text to redact

	// Mark returns the text that replaces a secret of a kind, which is "" if only a name says that it is secret. Nil: the
	// texts of [Redacted]. See [Pseudonyms].
	Mark func(kind, secret string) string
}

// Redacting one secret can reveal another next to it, so that a text is scanned again until it no longer changes. Only
// adversarial text needs more than a few scans. A large one of these would take too long.
const (
	maxPasses  = 8
	largeText  = 1 << 20 // bytes
	largeTexts = 2       // scans
)

// Text returns the text with secrets and personal data replaced by marks such as [Redacted]. Text is idempotent unless
// Patterns or Mark are not; a text of more than 1 MiB is scanned only twice. A text that still changes after eight
// scans is redacted completely.
func (r *Redactor) Text(s string) string {
	isLarge := len(s) > largeText
	if len(r.Patterns) > 0 {
		s = r.replace(s, r.spans(s, s))
	}
	for pass := range maxPasses {
		if pass == largeTexts && isLarge {
			return s
		}
		found := r.find(s, s)
		if len(found) == 0 {
			return s
		}
		s = r.replace(s, found)
	}
	return Redacted
}

// JSON returns data as valid JSON, with secrets and personal data replaced by marks. A text stays a text, a number
// becomes 0, and a list or an object keeps its shape. Invalid JSON is redacted and encoded as a JSON text.
func (r *Redactor) JSON(data []byte) json.RawMessage {
	v, err := jsonx.Decode(data)
	if err != nil {
		v = string(data)
	}
	return jsonx.Encode(r.Value(v, Shape{Text: r.Text}))
}
