package nats

import (
	"context"
	"crypto/sha256"
	"fmt"
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

// boundedKey returns the key of a value of an owner, like ownerKey. Long names are hashed, so that the path of no key
// is. The server then selects the keys of an owner by their subjects. The values have all names that a caller gets.
func boundedKey(kind string, owner agent.Identity, parts ...string) string {
	const most = 70
	key := kind
	for _, part := range append([]string{owner.Tenant, owner.User, owner.Conversation}, parts...) {
		escaped := url.PathEscape(part)
		if len(escape(escaped)) > most {
			escaped = fmt.Sprintf("#%x", sha256.Sum256([]byte(part))) // no escaped text contains #
		}
		key += "/" + escaped
	}
	return key
}

// bounded returns the entries whose keys begin with prefix and were made by boundedKey.
func (b *Bucket) bounded(ctx context.Context, prefix string) ([]Entry, error) {
	return b.entries(ctx, prefix, filterOf(prefix))
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
