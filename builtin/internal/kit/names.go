package kit

import (
	"log/slog"

	"github.com/hookgen/hookgen/generated/agent"
)

// OwnerAttr returns the names of an owner for a log record, without the empty ones.
func OwnerAttr(id agent.Identity) slog.Attr {
	var attrs []any
	for _, name := range OwnerNames(id) {
		attrs = append(attrs, slog.String(name[0], name[1]))
	}
	return slog.Group("", attrs...) // a group without a name is inlined
}

// OwnerNames returns the names of an owner with their keys. A conversation without a name has that of its run, which
// would say nothing new.
func OwnerNames(id agent.Identity) (names [][2]string) {
	if !id.Named() {
		id.Conversation = ""
	}
	for _, name := range [][2]string{{"tenant", id.Tenant}, {"user", id.User}, {"conversation", id.Conversation}} {
		if name[1] != "" {
			names = append(names, name)
		}
	}
	return names
}
