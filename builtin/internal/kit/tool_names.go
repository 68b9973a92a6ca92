package kit

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/spelling"
)

// A ToolName is the name of a tool in the configuration of a hook.
type ToolName struct {
	At    string                 // the position of the name, for example "Tools[0]"
	Name  string                 // in which "*" matches any text, unless it is Exact
	Exact bool                   // "*" is an ordinary character
	Match func(tool string) bool // reports whether the name selects a tool; nil: compare with Name
}

// ToolNames returns the names in a field that is a list.
func ToolNames(field string, names []string) []ToolName {
	all := make([]ToolName, len(names))
	for i, name := range names {
		all[i] = ToolName{At: fmt.Sprintf("%s[%d]", field, i), Name: name}
	}
	return all
}

// ToolKeys returns the keys of a field that is a map. They are exact names.
func ToolKeys[V any](field string, byTool map[string]V) []ToolName {
	var all []ToolName
	for _, name := range slices.Sorted(maps.Keys(byTool)) {
		all = append(all, ExactTool(fmt.Sprintf("%s[%q]", field, name), name))
	}
	return all
}

// ExactTool returns a name in which "*" is an ordinary character.
func ExactTool(at, name string) ToolName { return ToolName{At: at, Name: name, Exact: true} }

// WatchTools reports names that match no tool of a run, but nearly do. For example, Confirm names the tool refund, but
// the server that has the tool offers it as desk__refund. Without the report nobody would notice that refunds need no
// confirmation. A name that resembles no tool is not reported: agents may share their hooks, and another one may have
// the tool.
//
// The report is a warning in the log, and the run continues. Each name is reported once per agent.
func WatchTools(hook string, names ...ToolName) *Watch {
	w := &Watch{hook: hook, names: names}
	if len(names) > 0 {
		w.see = w.reportNames
	}
	return w
}

// reportNames reports names that match no tool.
func (w *Watch) reportNames(ctx context.Context, env *agent.Env) {
	var tools []string
	for _, schema := range env.Tools.Schemas() {
		tools = append(tools, schema.Name)
	}
	for _, n := range w.names {
		if slices.ContainsFunc(tools, n.matches) {
			continue
		}
		if meant := n.similar(tools); meant != "" && w.reported.First(env.Agent+"\x00"+n.At) {
			slog.WarnContext(ctx, "hookgen: a hook names a tool that the agent does not have", "hook", w.hook, "at", n.At,
				"name", n.Name, "agent", env.Agent, "similar", meant)
		}
	}
}

func (n ToolName) matches(tool string) bool {
	switch {
	case n.Match != nil:
		return n.Match(tool)
	case n.Exact:
		return n.Name == tool
	}
	return toolname.Wildcard(n.Name, tool)
}

// Seen holds the texts that were reported, at most 1000 of them, because programs and servers may make up names. It is
// safe for concurrent use.
type Seen struct {
	mu    sync.Mutex
	texts map[string]bool
}

// First reports whether a text is to be reported: it is new, and there is room for it.
func (s *Seen) First(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts[text] || len(s.texts) >= 1000 {
		return false
	}
	if s.texts == nil {
		s.texts = make(map[string]bool)
	}
	s.texts[text] = true
	return true
}

// similar returns a tool that a name without a tool probably means, or "". Such a tool differs in case or in a few
// letters, or it is the name after that of a server, for example desk__refund for refund.
func (n ToolName) similar(tools []string) string {
	return spelling.Qualified(n.Name, tools, func(part string) bool {
		return n.matches(part) || strings.EqualFold(n.Name, part)
	})
}
