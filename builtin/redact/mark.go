package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// mark returns the text that replaces a secret.
func (r *Redactor) mark(kind, secret string) string {
	switch {
	case r.Mark != nil:
		return r.Mark(kind, secret)
	case kind != "":
		return "[REDACTED:" + kind + "]"
	}
	return Redacted
}

// pseudonymChars is the length of a pseudonym.
const pseudonymChars = 12

// Pseudonyms returns a [Redactor.Mark] that replaces the same secret with the same mark, for example
// [REDACTED:email:9f86d081884c]. A reader sees that two requests came from one person, but not from whom. The pseudonym
// is a part of an HMAC with SHA-256: without the key, nobody can find a secret by trying all. Two secrets have the same
// pseudonym with a probability of 1 in 2^48.
//
//	redactor := redact.Redactor{Mark: redact.Pseudonyms(key)}
//
// Pseudonyms panics if the key has fewer than 16 bytes.
func Pseudonyms(key []byte) func(kind, secret string) string {
	if len(key) < 16 {
		panic("redact.Pseudonyms: the key has fewer than 16 bytes; draw one with crypto/rand and keep it")
	}
	key = append([]byte(nil), key...)
	return func(kind, secret string) string {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(secret))
		pseudonym := hex.EncodeToString(mac.Sum(nil))[:pseudonymChars]
		if kind != "" {
			pseudonym = kind + ":" + pseudonym
		}
		return "[REDACTED:" + pseudonym + "]"
	}
}

func isPseudonym(s string) bool { return len(s) == pseudonymChars && lowerHex.all(s) }

// kinds are the kinds in marks.
var kinds = func() map[string]bool {
	kinds := set("kinds")
	for _, row := range append(table("forms"), table("marked")...) {
		kinds[row[0]] = true
	}
	return kinds
}()
