package storekey

import (
	"net/url"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
)

// Of returns the key of a value: the kind, the tenant, the user, the conversation and the further parts, escaped and
// separated by slashes. Different arguments have different keys.
func Of(kind string, owner agent.Identity, parts ...string) string {
	key := url.PathEscape(kind)
	for _, name := range append([]string{owner.Tenant, owner.User, owner.Conversation}, parts...) {
		key += "/" + url.PathEscape(name)
	}
	return key
}

// Prefix returns the beginning of all keys of a kind.
func Prefix(kind string) string { return url.PathEscape(kind) + "/" }

// Parse returns the owner and the further parts of a key of a kind. It reports false for a key that Of did not return.
func Parse(kind, key string) (owner agent.Identity, parts []string, ok bool) {
	rest, ok := strings.CutPrefix(key, Prefix(kind))
	if !ok {
		return owner, nil, false
	}
	for escaped := range strings.SplitSeq(rest, "/") {
		name, err := url.PathUnescape(escaped)
		if err != nil {
			return owner, nil, false
		}
		parts = append(parts, name)
	}
	if len(parts) < 3 {
		return owner, nil, false
	}
	owner = agent.Identity{Tenant: parts[0], User: parts[1], Conversation: parts[2]}
	parts = parts[3:]
	return owner, parts, Of(kind, owner, parts...) == key
}
