package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolargs"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/terminal"
)

// Guard denies shell commands that nobody wants, for example rm -rf / or a download that is piped into a shell, and
// asks a person about others that cannot be undone, for example git branch -D or DROP TABLE.
//
// Points: OnPermission (Deny, Ask). Tier: Safety. State: none.
//
// The hook checks the arguments of every tool for Fields, at any depth, without regard to case, "_" and "-". A text is
// parsed like a shell script. A list of texts is checked as the words of one command, and each text that could be a
// script is parsed too. A list or a text args, arguments or argv in the same object continues the command. Arguments
// that are not valid JSON are parsed as a script. If the name of a tool says that it runs commands, and its schema has
// none of Fields, a warning in the log says so at the first call of a tool in the run.
//
// Because the text is parsed, text that only resembles a command is allowed: a commit message, an argument of echo, a
// pattern of grep. Disguised commands are found, for example
//
//   - with an absolute path, in quotes, in $(...), or in a variable that the text sets
//   - after sudo, env, xargs, ssh, find -exec or git -c alias.x=!
//   - in sh -c, or in a here-document for a shell
//
// What the hook cannot read, it does not pass: a text that is decoded or changed and then run by a shell is denied, and
// a person is asked about code of another language that can run programs or remove directories, such as python -c
// 'os.system("...")'.
//
// A command is judged by the harm that it can do, even if people often run it. For example, a person is asked about
// each change of ~/.bashrc, because later shells run it. A program that needs such commands changes the Ask of their
// rule in the list, or deletes the rule, by its name.
//
// The text is read as bash and as a POSIX shell. [DefaultRules] ask about every forced recursive rm; [WorkspaceRules]
// allow it for node_modules and the like below a directory.
//
// The reason names the rule, the remaining allowed commands and an alternative, because a model that only reads
// "blocked" tends to give up. Commands that are too large or too deeply nested to be checked are denied.
//
// The hook is not a sandbox: a script file, a compiled program or a variable of unknown value can bypass it. Restrict
// the tools themselves, too.
type Guard struct {
	// Fields are the names of arguments that contain commands. Nil: those of well-known tools, for example command, cmd,
	// command_line, script, code, bash, input and argv.
	Fields []string
	// Rules are evaluated in order. The first one that denies and matches denies the call; otherwise the first one that
	// asks and matches asks. Nil: DefaultRules().
	Rules []Rule
}

// Bind adds the hook. It panics if a list is empty but not nil, or if a field name or a rule is incomplete.
func (g *Guard) Bind(h *agent.Hooks) {
	kit.MustConfig("shell.Guard", g.check())
	kit.NewWatch("shell.Guard", (&fieldWatch{fields: g.fields()}).see).
		OnPermission(h, g, hookkit.Priority(hookkit.Safety))
}

func (g *Guard) check() error {
	if g.Fields != nil && len(g.Fields) == 0 {
		return errors.New("Fields is empty, so no command would be found; name the arguments, or leave it nil")
	}
	if err := toolname.Check("Fields", g.Fields); err != nil {
		return err
	}
	if g.Rules != nil && len(g.Rules) == 0 {
		return errors.New(
			"Rules is empty, so nothing would be denied; give a rule, or leave it nil for shell.DefaultRules()")
	}
	for i, r := range g.Rules {
		if r.Name == "" || r.Match == nil {
			return fmt.Errorf("Rules[%d] has no Name or no Match; give both", i)
		}
	}
	return nil
}

func (g *Guard) fields() []string {
	if g.Fields == nil {
		return commandFields
	}
	return g.Fields
}

var (
	commandFields = list("fields")

	// wordFields are the names of arguments with the words after a program that another argument of the object names, as
	// in {"command":"rm","args":["-rf","/"]}.
	wordFields   = []string{"args", "arguments", "argv"}
	defaultRules = DefaultRules()
)

// OnPermission denies the call or asks a person if a rule matches a command in its arguments.
func (g *Guard) OnPermission(_ context.Context, _ *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome,
	error) {
	rules := g.Rules
	if rules == nil {
		rules = defaultRules
	}
	question := ""
	for _, lines := range commandsIn(call.Args, g.fields()) {
		commands, ok := lines.commands()
		if !ok {
			return agent.Deny{Reason: "shell guard: the command is nested too deeply or too large to be checked; " +
				"send it in simpler parts"}, nil
		}
		for _, r := range rules {
			at := slices.IndexFunc(commands, r.Match)
			switch {
			case at < 0:
			case !r.Ask:
				return agent.Deny{Reason: reason(r, at, commands)}, nil
			case question == "":
				question = reason(r, at, commands)
			}
		}
	}
	if question != "" {
		return agent.Ask{Reason: question}, nil
	}
	return nil, nil
}

// reason explains to the model, and to the person asked, which rule the command at index at matches.
func reason(r Rule, at int, commands []*Command) string {
	refused := strings.TrimSpace(commands[at].Program + " " + strings.Join(commands[at].Args, " "))
	verb, without := "is refused", "send it again without this part"
	if r.Ask {
		verb, without = "needs the approval of a person", "without an approval, send it again without it"
	}
	text := fmt.Sprintf("shell guard: %q %s (%s).", shorten.To(refused, 120), verb, r.Name)
	if r.Hint != "" {
		text += " " + r.Hint
	}
	var others []string
	for _, c := range commands {
		name := c.Program
		if len(c.Args) > 0 && isSubcommand(c.Args[0]) {
			name += " " + c.Args[0]
		}
		name = shorten.To(terminal.Escape(name), 40)
		if name != "" && len(others) < 5 && !r.Match(c) && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		return text + fmt.Sprintf(" Everything else in the command is still allowed (%s): %s.", strings.Join(others, ", "),
			without)
	}
	return text + " Other commands are still allowed."
}

// isSubcommand reports whether a first argument is a subcommand such as the clone in git clone.
func isSubcommand(arg string) bool {
	return strings.Trim(arg, "abcdefghijklmnopqrstuvwxyz-") == "" && !strings.HasPrefix(arg, "-")
}

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
