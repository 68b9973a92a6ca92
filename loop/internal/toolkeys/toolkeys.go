// Package toolkeys reports hooks that are registered for tools which an agent does not have. For example, a guard for
// "Bash" is never called where the tool is bash. Start with [Report].
package toolkeys

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/spelling"
)

const (
	maxKeys = 100  // that are reported at a point for one run
	maxLogs = 1000 // in a process, because a program may make up names of agents
)

// Report reports each key that has reports false for. If it resembles the name of a tool, warn gets a text for the
// result of the run. Any other key may be that of another agent with the same hooks, so the result does not have it: it
// is logged, once in the process for each registration and agent.
func Report(
	ctx context.Context, hooks *agent.Hooks, agentName string, tools func() []agent.ToolSchema,
	has func(tool string) bool, warn func(text string),
) {
	for _, p := range hooks.Points() {
		unknown, more := map[any]bool{}, 0
		for _, key := range p.Keys() {
			switch tool, ok := key.(string); {
			case !ok || has(tool):
			case len(unknown) < maxKeys:
				unknown[key] = true
			default:
				more++
			}
		}
		if len(unknown) == 0 {
			continue
		}
		for _, hook := range slices.Concat(p.Hooks(), p.Observers()) {
			for _, key := range hook.Keys {
				if unknown[key] {
					report(ctx, hook, key.(string), agentName, tools, warn)
				}
			}
		}
		if more > 0 {
			warn(fmt.Sprintf("hooks at %s are registered for %d more tools that the run does not have", p.Name, more))
		}
	}
}

func report(
	ctx context.Context, hook hookkit.Info, key, agentName string, tools func() []agent.ToolSchema, warn func(string),
) {
	var names []string
	for _, schema := range tools() {
		names = append(names, schema.Name)
	}
	short := fmt.Sprintf("%.80q", key)
	meant := spelling.Qualified(key, names, func(part string) bool { return strings.EqualFold(part, key) })
	if meant != "" {
		warn(fmt.Sprintf("the hook %s (%s) is registered for the tool %s, which the run does not have; did you mean %q?",
			hook.Name, hook.Site, short, meant))
	} else if first(hook.Name + "\x00" + hook.Site + "\x00" + short + "\x00" + agentName) {
		slog.WarnContext(ctx, "hookgen: a hook is registered for a tool that the agent does not have, "+
			"so that it is never called there", "hook", hook.Name, "site", hook.Site, "tool", fmt.Sprintf("%.80s", key),
			"agent", agentName)
	}
}

var logged struct {
	sync.Mutex
	texts map[string]bool
}

// first reports whether a text is logged for the first time.
func first(text string) bool {
	logged.Lock()
	defer logged.Unlock()
	if logged.texts[text] || len(logged.texts) >= maxLogs {
		return false
	}
	if logged.texts == nil {
		logged.texts = map[string]bool{}
	}
	logged.texts[text] = true
	return true
}
