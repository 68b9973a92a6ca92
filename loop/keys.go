package loop

import (
	"strings"

	"github.com/hookgen/hookgen/internal/spelling"
)

// reportKeys warns of keys with which hooks are registered and that nearly name a tool of the run. For example, a guard
// for "Bash" is never called where the tool is bash. A key that resembles no tool is not reported: agents may share
// their hooks, and another one may have the tool.
func (r *run) reportKeys() {
	var tools []string
	for _, p := range r.hooks.Points() {
		for _, key := range p.Keys() {
			name, ok := key.(string)
			if !ok || r.tools.entry(name) != nil {
				continue
			}
			if tools == nil {
				for _, schema := range r.tools.Schemas() {
					tools = append(tools, schema.Name)
				}
			}
			meant := spelling.Qualified(name, tools, func(part string) bool { return strings.EqualFold(part, name) })
			if meant != "" {
				r.warn("hooks are registered for the tool %s, which the run does not have; did you mean %s?", quoted(name),
					quoted(meant))
			}
		}
	}
}
