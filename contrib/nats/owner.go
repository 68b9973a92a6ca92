package nats

import (
	"net/url"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
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

// ownerKey returns the key of a value of an owner.
func ownerKey(kind string, owner agent.Identity, parts ...string) string {
	return Key(append([]string{kind, owner.Tenant, owner.User, owner.Conversation}, parts...)...)
}

// ownerOf returns the owner and the further parts of a key that ownerKey returned.
func ownerOf(key string) (owner agent.Identity, parts []string, ok bool) {
	for escaped := range strings.SplitSeq(key, "/") {
		part, err := url.PathUnescape(escaped)
		if err != nil {
			return owner, nil, false
		}
		parts = append(parts, part)
	}
	if len(parts) < 4 || Key(parts...) != key {
		return owner, nil, false
	}
	return agent.Identity{Tenant: parts[1], User: parts[2], Conversation: parts[3]}, parts[4:], true
}
