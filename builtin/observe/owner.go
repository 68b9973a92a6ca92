package observe

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
)

// ownerAttr returns the names of an owner for a log record, without the empty ones.
func ownerAttr(id agent.Identity) slog.Attr {
	var attrs []any
	for _, name := range ownerNames(id) {
		attrs = append(attrs, slog.String(name[0], name[1]))
	}
	return slog.Group("", attrs...) // a group without a name is inlined
}

// ownerText returns the run and its owner for a line of text.
func ownerText(run *agent.Run) string {
	var b strings.Builder
	for _, name := range append([][2]string{{"run", run.ID()}}, ownerNames(kit.Owner(run))...) {
		if text := shorten.Line(name[1], 120); strings.ContainsAny(text, " =\"") {
			fmt.Fprintf(&b, " %s=%q", name[0], text)
		} else {
			fmt.Fprintf(&b, " %s=%s", name[0], text)
		}
	}
	return b.String()
}

// ownerNames returns the names of an owner with their keys. A conversation without a name has that of its run, which
// would say nothing new.
func ownerNames(id agent.Identity) (names [][2]string) {
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
