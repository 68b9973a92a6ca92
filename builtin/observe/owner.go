package observe

import (
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
)

// ownerText returns the run and its owner for a line of text.
func ownerText(run *agent.Run) string {
	var b strings.Builder
	for _, name := range append([][2]string{{"run", run.ID()}}, kit.OwnerNames(kit.Owner(run))...) {
		if text := shorten.Line(name[1], 120); strings.ContainsAny(text, " =\"") {
			fmt.Fprintf(&b, " %s=%q", name[0], text)
		} else {
			fmt.Fprintf(&b, " %s=%s", name[0], text)
		}
	}
	return b.String()
}
