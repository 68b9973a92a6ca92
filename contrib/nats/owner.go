package nats

import (
	"net/url"
	"strings"
)

// Key joins texts to a key. Different texts have different keys, whatever they contain. For example, the key of the
// tokens that a user has spent is Key("tokens", tenant, user).
func Key(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, part := range parts {
		escaped[i] = url.PathEscape(part)
	}
	return strings.Join(escaped, "/")
}
