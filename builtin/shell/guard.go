package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// Guard denies shell commands that destroy data irrecoverably or open the machine to others, for example rm -rf or a
// download that is piped into a shell.
//
// Points: OnPermission (Deny). Tier: Safety. State: none.
//
// The hook checks the arguments of every tool for Fields, at any depth, without regard to case, "_" and "-". A text is
// parsed like a shell script. A list of texts is checked as the words of one command, and each text that could be a
// script is parsed too. A list or a text args, arguments or argv in the same object continues the command. Arguments
// that are not valid JSON are parsed as a script.
//
// Because the text is parsed, text that only resembles a command is allowed: a commit message, an argument of echo, a
// pattern of grep. Disguised commands are found, for example
//
//   - with an absolute path, in quotes, in $(...), or in a variable that the text sets
//   - after sudo, env, xargs, ssh, find -exec or git -c alias.x=!
//   - in sh -c, in a here-document for a shell, or in a file that the text writes and then runs
//   - in base64 or in escapes that are decoded and piped into a shell
//   - in a text that tr, sed or another program changes before a shell runs it
//   - in calls of other languages, such as python -c 'os.system("...")' and Path("...").write_text("...")
//
// A command is judged by the harm that it can do, even if people often run it. For example, each change of ~/.bashrc
// is denied, because later shells run it. So is rails db:drop, for a test database too. A program that needs such
// commands deletes their rule from the list, by its name.
//
// The text is read as bash and as a POSIX shell. [DefaultRules] deny every forced recursive rm; [WorkspaceRules] allow
// it for node_modules and the like below a directory.
//
// The reason names the rule, the remaining allowed commands and an alternative, because a model that only reads
// "blocked" tends to give up. Commands that are too large or too deeply nested to be checked are denied.
//
// The hook is not a sandbox: a script file, a compiled program or a variable of unknown value can bypass it. Restrict
// the tools themselves, too.
type Guard struct {
	// Fields are the names of arguments that contain commands. Nil: command, cmd, script, code, shell_command,
	// commands, argv.
	Fields []string
	// Rules are evaluated in order; the first match denies the call. Nil: DefaultRules().
	Rules []Rule
}

// Bind adds the hook. It panics if a list is empty but not nil, or if a field name or a rule is incomplete.
func (g *Guard) Bind(h *agent.Hooks) {
	kit.MustConfig("shell.Guard", g.check())
	h.OnPermission.Add(g, hookkit.Priority(hookkit.Safety))
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

var (
	commandFields = []string{"command", "cmd", "script", "code", "shell_command", "commands", "argv"}

	// wordFields are the names of arguments with the words after a program that another argument of the object names, as
	// in {"command":"rm","args":["-rf","/"]}.
	wordFields   = []string{"args", "arguments", "argv"}
	defaultRules = DefaultRules()
)

// OnPermission denies the call if a rule matches a command in its arguments.
func (g *Guard) OnPermission(_ context.Context, _ *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome,
	error) {
	fields, rules := g.Fields, g.Rules
	if fields == nil {
		fields = commandFields
	}
	if rules == nil {
		rules = defaultRules
	}
	for _, lines := range commandsIn(call.Args, fields) {
		commands, ok := lines.commands()
		if !ok {
			return agent.Deny{Reason: "shell guard: the command is nested too deeply or too large to be checked; " +
				"send it in simpler parts"}, nil
		}
		for _, r := range rules {
			if at := slices.IndexFunc(commands, r.Match); at >= 0 {
				return agent.Deny{Reason: denialReason(r, at, commands)}, nil
			}
		}
	}
	return nil, nil
}

// denialReason explains to the model why the command at index at is denied.
func denialReason(r Rule, at int, commands []*Command) string {
	refused := strings.TrimSpace(commands[at].Program + " " + strings.Join(commands[at].Args, " "))
	text := fmt.Sprintf("shell guard: %q is refused (%s).", shorten.To(refused, 120), r.Name)
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
		text += fmt.Sprintf(" Everything else in the command is still allowed (%s): send it again without this part.",
			strings.Join(others, ", "))
	} else {
		text += " Other commands are still allowed."
	}
	return text
}

// isSubcommand reports whether a first argument is a subcommand such as the clone in git clone.
func isSubcommand(arg string) bool {
	return strings.Trim(arg, "abcdefghijklmnopqrstuvwxyz-") == "" && !strings.HasPrefix(arg, "-")
}

// A commandArg is an argument that contains a command: a text or, if words is not nil, the words of a command.
type commandArg struct {
	text      string
	words     []string
	excessive bool // there are too many commands to be checked
}

func (a commandArg) commands() ([]*Command, bool) {
	if a.excessive {
		return nil, false
	}
	if a.words == nil {
		return Parse(a.text)
	}
	return ParseWords(a.words)
}

// commandsIn returns the arguments with the names in fields, at any depth and in any spelling. Duplicate keys
// yield one result each. Some tools decode the first JSON value and ignore the rest, so text after a value does not
// hide it.
func commandsIn(args []byte, fields []string) (found []commandArg) {
	if len(bytes.TrimSpace(args)) == 0 {
		return nil
	}
	if json.Valid(args) {
		return commandsInValue(args, fields)
	}
	for d := json.NewDecoder(bytes.NewReader(args)); ; {
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return append(found, commandArg{text: string(args)})
		}
		found = append(found, commandsInValue(value, fields)...)
	}
}

// A level is an object or a list of the arguments.
type level struct {
	object bool     // the level is an object, not a list
	key    bool     // the next token is a key
	named  bool     // the next value belongs to a name in fields
	words  bool     // the next value belongs to a name in wordFields
	each   bool     // the next value is a list of commands, not of words
	list   []string // the texts in a list that is named or contains words

	commands [][]string // of an object: its commands as words
	args     []string   // of an object: the words that continue them
}

// commandsInValue returns the arguments with the names in fields in one JSON value.
func commandsInValue(value []byte, fields []string) (found []commandArg) {
	stack := []level{{}}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber() // a number too large for float64 would end the decoding, and hide later arguments
	for {
		token, err := d.Token()
		if err != nil {
			return found
		}
		top := &stack[len(stack)-1]
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{', '[':
				list := t == '['
				stack = append(stack, level{object: !list, key: !list, named: top.named && list, words: top.words && list,
					each: top.each && list})
				continue
			}
			ended := *top
			stack = stack[:len(stack)-1]
			top = &stack[len(stack)-1]
			switch {
			case ended.object:
				found = append(found, ended.continued()...)
			case ended.named && ended.list != nil:
				found = append(found, commandArg{words: ended.list})
				if ended.each {
					for _, text := range ended.list {
						found = append(found, commandArg{text: text})
					}
				}
				top.commands = append(top.commands, ended.list)
			}
			if ended.words {
				top.args = append(top.args, ended.list...)
			}
		case string:
			switch {
			case top.key:
				name := toolargs.FoldName(t)
				named := func(field string) bool { return toolargs.FoldName(field) == name }
				top.each = named("commands")
				top.key, top.named, top.words = false, slices.ContainsFunc(fields, named), slices.ContainsFunc(wordFields, named)
				continue
			case !top.object && (top.named || top.words):
				top.list = append(top.list, t)
			case top.named:
				found = append(found, commandArg{text: t})
				top.commands = append(top.commands, strings.Fields(t))
			}
			if top.object && top.words {
				top.args = append(top.args, strings.Fields(t)...)
			}
		}
		top.key = top.object
	}
}

// maxContinued is the most commands of one object that args can continue. More would take quadratic time.
const maxContinued = 16

// continued returns the commands of an object with the words that continue them.
func (l level) continued() (found []commandArg) {
	if len(l.args) == 0 {
		return nil
	}
	if len(l.commands) > maxContinued {
		return []commandArg{{excessive: true}}
	}
	for _, words := range l.commands {
		found = append(found, commandArg{words: slices.Concat(words, l.args)})
	}
	return found
}
