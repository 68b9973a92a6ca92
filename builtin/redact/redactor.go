package redact

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// Redacted replaces secrets and personal data in redacted texts.
const Redacted = "[REDACTED]"

// A Redactor replaces secrets and personal data in texts and JSON before they are stored, sent or displayed. The zero
// value replaces both. To keep everything, set KeepSecrets and KeepPersonal.
//
// Secrets are the values of keys such as password, api_key or Authorization, in JSON and in texts such as password=x or
// --secret x. Secrets are also the user part of URLs, private keys, and tokens of well-known forms. Personal data are
// e-mail addresses, telephone numbers, US social security numbers, and card and bank account numbers with valid check
// digits. A Redactor recognises forms only: secrets in ordinary prose can remain.
//
// A Redactor is safe for concurrent use, unless its fields change.
type Redactor struct {
	KeepSecrets  bool
	KeepPersonal bool
	Keys         []string         // further keys whose values are redacted; case and punctuation are ignored
	Patterns     []*regexp.Regexp // further patterns of text to redact

	// Extra redacts each text further, for example customer numbers. Nil: nothing. If Extra panics, the whole text is
	// redacted.
	Extra func(string) string
}

// Text returns the text with secrets and personal data replaced by [Redacted]. Text is idempotent unless Patterns or
// Extra are not.
func (r *Redactor) Text(s string) string {
	s = r.redactFully(s)
	for _, p := range r.Patterns {
		s = p.ReplaceAllLiteralString(s, Redacted)
	}
	if r.Extra != nil {
		s = r.applyExtra(s)
	}
	return s
}

// maxPasses bounds the number of scans of a text. Redacting one secret can reveal another next to it; only adversarial
// text needs more than a few scans.
const maxPasses = 8

// redactFully applies the built-in rules until the text no longer changes. A text that still changes after maxPasses
// scans is redacted completely.
func (r *Redactor) redactFully(s string) string {
	for range maxPasses {
		before := s
		if !r.KeepSecrets {
			s = redactTokens(s)
		}
		s = r.redactNamedValues(s)
		if !r.KeepPersonal {
			s = Personal(s)
		}
		if s == before {
			return s
		}
	}
	return Redacted
}

func (r *Redactor) applyExtra(s string) (out string) {
	defer func() {
		if recover() != nil {
			out = Redacted
		}
	}()
	return r.Extra(s)
}

// JSON returns data as valid JSON, with secrets and personal data replaced by [Redacted]. Invalid JSON is redacted and
// encoded as a JSON text.
func (r *Redactor) JSON(data []byte) json.RawMessage {
	v, err := jsonx.Decode(data)
	if err != nil {
		v = string(data)
	}
	return jsonx.Encode(r.Value(v, Shape{Text: r.Text}))
}

// A secrecy classifies the values of a key.
type secrecy int

const (
	open       secrecy = iota // not secret
	onlyTexts                 // texts are secret but numbers are not: token and max_tokens
	everything                // all values are secret
)

// secret returns the secrecy of the values of a key.
func (r *Redactor) secret(key string) secrecy {
	words := keyWords(key)
	joined := strings.Join(words, "")
	for _, k := range r.Keys {
		if joined != "" && joined == strings.Join(keyWords(k), "") {
			return everything
		}
	}
	found := open
	for i, w := range words {
		single := strings.TrimSuffix(w, "s")
		switch {
		case !r.KeepSecrets && (secretWords[w] || secretWords[single]):
			return everything
		case !r.KeepPersonal && (personalWords[w] || i > 0 && personalWords[words[i-1]+w]):
			return everything
		case !r.KeepSecrets && i > 0 && (single == "key" || single == "code") && keyKinds[words[i-1]]:
			return everything
		case !r.KeepSecrets && (w == "token" || w == "tokens" || w == "auth" || w == "pass" || w == "pw"):
			found = onlyTexts
		}
	}
	return found
}

var (
	secretWords = kit.Set("password", "passwd", "passphrase", "passcode", "pwd", "secret", "credential", "cookie",
		"authorization", "apikey", "accesskey", "privatekey", "secretkey", "authtoken", "accesstoken", "refreshtoken",
		"bearer", "jwt", "cvv", "cvc", "otp", "csrf", "xsrf", "sessionid", "userpass")
	keyKinds = kit.Set("api", "access", "private", "secret", "signing", "encryption", "ssh", "auth", "client", "master",
		"account", "shared", "service", "storage", "deploy", "licence", "license", "webhook", "pin", "recovery")
	personalWords = kit.Set("ssn", "socialsecurity", "creditcard", "cardnumber", "iban", "passport", "email", "phone",
		"telephone", "birthdate", "dateofbirth")
)

// keyWords splits a key into its words in lower case. For example, apiKey, api_key and API-Key yield [api key].
func keyWords(key string) []string {
	if len(key) > 200 { // bounds the work for hostile keys
		key = key[:200]
	}
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(key)
	for i, c := range runes {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			flush()
			continue
		}
		if unicode.IsUpper(c) && i > 0 {
			ends := i+1 < len(runes) && unicode.IsLower(runes[i+1]) // the K of APIKey
			if unicode.IsLower(runes[i-1]) || ends && unicode.IsUpper(runes[i-1]) {
				flush()
			}
		}
		word = append(word, c)
	}
	flush()
	return words
}
