package shell

import (
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/toolargs"
	"github.com/hookgen/hookgen/generated/agent"
)

// A fieldWatch reports tools that seem to run commands, but have no argument that a [Guard] checks. For example, the
// tool run_terminal takes its command in the argument line, so the guard would pass everything. It is safe for
// concurrent use.
type fieldWatch struct {
	fields   []string
	reported kit.Seen // tools
}

// runsCommands are parts of the names of tools that run commands.
var runsCommands = list("toolNames")

func (w *fieldWatch) see(ctx context.Context, env *agent.Env) {
	for _, schema := range env.Tools.Schemas() {
		name := strings.ToLower(toolargs.FoldName(schema.Name))
		named := slices.ContainsFunc(runsCommands, func(part string) bool { return strings.Contains(name, part) })
		if named && !w.covers(schema.Parameters) && w.reported.First(schema.Name) {
			slog.WarnContext(ctx, "hookgen: a tool seems to run commands, but has no argument that the hook checks",
				"hook", "shell.Guard", "tool", schema.Name, "remedy", "name the argument in Fields")
		}
	}
}

// covers reports whether a schema names one of the fields, or no argument at all.
func (w *fieldWatch) covers(schema json.RawMessage) bool {
	names := argumentName.FindAllSubmatch(schema, -1)
	return len(names) < 2 || slices.ContainsFunc(names, func(m [][]byte) bool {
		return isName(w.fields, string(m[1]))
	})
}

// argumentName matches the name of an argument in a JSON schema, or properties: a name with an object.
var argumentName = regexp.MustCompile(`"([^"\\]+)"\s*:\s*\{`)
