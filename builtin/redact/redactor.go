package redact

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// Redacted stands in records for what a [Redactor] took out.
const Redacted = "[REDACTED]"

// A Redactor takes secrets and personal data out of what is recorded. The zero value takes out both kinds; to
// record everything as it is, set KeepSecrets and KeepPersonal. It is safe for concurrent use; it must not be
// changed while it is used.
//
// Secrets are the values of keys that name one (password, api_key, clientSecret, Authorization, ...) at any depth
// and also inside texts (password=x, "token": "x", --secret x), the user part of URLs, private keys, and tokens
// of well-known forms. Personal data are e-mail addresses, telephone numbers written as such, US social security
// numbers, and card and bank account numbers whose check digits are right. It recognises forms, not meanings:
// what a person words freely can stay.
type Redactor struct {
	KeepSecrets  bool
	KeepPersonal bool
	Keys         []string            // further keys whose values are taken out; case and punctuation do not matter
	Patterns     []*regexp.Regexp    // what they match is taken out of texts too
	Extra        func(string) string // has the last word on each text; nil: nothing. If it panics, the text is taken out
}

// Text returns the text without what is to be taken out. Redacting it again changes nothing, unless Patterns or Extra
// do.
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

// maxPasses is how often a text is looked at. What is taken out can show that its neighbour is to be, too; a text that
// goes on with that was made for it.
const maxPasses = 8

// redactFully takes out what the Redactor knows by itself, until there is no more. A text that does not settle is taken
// out whole.
func (r *Redactor) redactFully(s string) string {
	for range maxPasses {
		was := s
		if !r.KeepSecrets {
			s = redactTokens(s)
		}
		s = r.redactNamedValues(s)
		if !r.KeepPersonal {
			s = Personal(s)
		}
		if s == was {
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

// JSON returns valid JSON without what is to be taken out. What is no JSON is encoded as a text.
func (r *Redactor) JSON(data []byte) json.RawMessage {
	v, err := jsonx.Decode(data)
	if err != nil {
		v = string(data)
	}
	return jsonx.Encode(r.Value(v, Shape{Text: r.Text}))
}

// A secrecy says how much of what stands under a key is secret.
type secrecy int

const (
	open      secrecy = iota
	onlyTexts         // a number or a switch under this key is no secret: max_tokens
	everything
)

// secret reports what a key says of its value.
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

// keyWords splits a key into its words, in lower case: apiKey, api_key and API-Key are all [api key].
func keyWords(key string) []string {
	if len(key) > 200 { // nobody names a secret so; a hostile key costs nothing
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
