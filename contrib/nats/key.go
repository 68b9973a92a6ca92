package nats

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
)

// A key is stored under a path of tokens that NATS permits in a subject. The slashes of the key separate the tokens, so
// that the server selects the keys of a kind, tenant or user by their subject.
//
// For example, "session/a.b//c" has the path "k.session.a=2Eb.=.c". Letters, digits, "-" and "_" are as they are, any
// other byte is "=" with two hexadecimal digits, and an empty token is "=". A key whose path would be longer than
// maxPath has the path "h." with the SHA-256 of the key, and is stored with the value. So different keys have different
// paths.
const (
	maxPath = 512

	plainPaths  = "k"
	hashedPaths = "h"
)

// pathOf returns the path of a key, and whether it is hashed.
func pathOf(key string) (path string, hashed bool) {
	path = plainPaths + "." + escape(key)
	if len(path) <= maxPath {
		return path, false
	}
	sum := sha256.Sum256([]byte(key))
	return hashedPaths + "." + hex.EncodeToString(sum[:]), true
}

// quoted replaces what url.QueryEscape leaves in a token, and NATS does not permit there.
var quoted = strings.NewReplacer("%", "=", "+", "=20", ".", "=2E", "~", "=7E")

// escape returns the tokens of a key, separated by dots.
func escape(key string) string {
	tokens := strings.Split(key, "/")
	for i, token := range tokens {
		tokens[i] = cmp.Or(quoted.Replace(url.QueryEscape(token)), "=")
	}
	return strings.Join(tokens, ".")
}

// unescape returns the key of a path that is not hashed. It reports false for a path that pathOf does not return.
func unescape(path string) (key string, ok bool) {
	escaped, _ := strings.CutPrefix(path, plainPaths+".")
	tokens := strings.Split(escaped, ".")
	for i, token := range tokens {
		tokens[i] = ""
		if token != "=" {
			tokens[i], _ = url.PathUnescape(strings.ReplaceAll(token, "=", "%")) // an error shows below
		}
	}
	key = strings.Join(tokens, "/")
	again, hashed := pathOf(key)
	return key, !hashed && again == path
}

// filterOf returns a pattern of NATS for the plain paths of all keys with a prefix. It can match more keys.
func filterOf(prefix string) string {
	slash := strings.LastIndexByte(prefix, '/')
	if slash < 0 {
		return plainPaths + ".>"
	}
	tokens := escape(prefix[:slash])
	if len(tokens) > maxPath {
		return plainPaths + ".>"
	}
	return plainPaths + "." + tokens + ".>"
}
