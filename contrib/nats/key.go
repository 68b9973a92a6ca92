package nats

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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

// escape returns the tokens of a key, separated by dots.
func escape(key string) string {
	var b strings.Builder
	for i, token := range strings.Split(key, "/") {
		if i > 0 {
			b.WriteByte('.')
		}
		if token == "" {
			b.WriteByte('=')
		}
		for j := range len(token) {
			switch c := token[j]; {
			case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
				b.WriteByte(c)
			default:
				fmt.Fprintf(&b, "=%02X", c)
			}
		}
		if b.Len() > maxPath {
			break // the path is hashed, or matches no key
		}
	}
	return b.String()
}

// unescape returns the key of a path that is not hashed. It reports false for a path that pathOf does not return.
func unescape(path string) (key string, ok bool) {
	escaped, ok := strings.CutPrefix(path, plainPaths+".")
	if !ok {
		return "", false
	}
	var b strings.Builder
	for i, token := range strings.Split(escaped, ".") {
		if i > 0 {
			b.WriteByte('/')
		}
		if token == "=" {
			continue
		}
		for rest := token; rest != ""; {
			if rest[0] != '=' {
				b.WriteByte(rest[0])
				rest = rest[1:]
				continue
			}
			c, err := hex.DecodeString(rest[1:min(3, len(rest))])
			if err != nil || len(c) != 1 {
				return "", false
			}
			b.Write(c)
			rest = rest[3:]
		}
	}
	key = b.String()
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
