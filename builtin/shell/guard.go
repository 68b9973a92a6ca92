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
	"github.com/hookgen/hookgen/builtin/internal/terminal"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Guard denies shell commands that destroy what nobody gets back, or that open the machine to others.
//
// Points: OnPermission (Deny). Tier: Safety. State: none.
//
// It looks at every tool's arguments for Fields, at any depth, in whatever case: a text is read as a shell would
// read it, a list of texts as a command with its arguments and as one command after the other. Commands are split
// into words, so that what only looks like a command passes: a commit message, an argument of echo, a pattern of
// grep. What hides one does not: sudo, env, xargs and the like before it, an absolute path, quotes, $(...) and
// backticks, sh -c and eval, a here-document for a shell, a function call with a text in another language.
// Arguments that are no JSON are read as a command.
//
// The reason says which rule a command falls under, what is still allowed and what to do instead, since a model
// that hears "blocked" alone gives up what would be allowed. A command that is nested too deeply or too large
// to be checked is denied.
//
// It is a seat belt, not a sandbox: whoever wants to get around it can, by a variable, an alias, a file or a
// program of their own. Confine the tools, too.
type Guard struct {
	// Fields are the names of arguments that hold commands. Nil: command, cmd, script, code, shell_command.
	Fields []string
	// Rules are asked in order; the first one that matches denies. Nil: DefaultRules().
	Rules []Rule
}

// Bind adds the hook to OnPermission.
func (g *Guard) Bind(h *agent.Hooks) {
	kit.MustConfig("shell.Guard", g.check())
	h.OnPermission.Add(g, hookkit.Priority(hookkit.Safety))
}

func (g *Guard) check() error {
	if g.Fields != nil && len(g.Fields) == 0 {
		return errors.New("Fields is empty, so no command would be found; name the arguments that hold one, or leave it nil")
	}
	if err := toolname.Check("Fields", g.Fields); err != nil {
		return err
	}
	if g.Rules != nil && len(g.Rules) == 0 {
		return errors.New("Rules is empty, so nothing would be denied; give a rule, or leave it nil for shell.DefaultRules()")
	}
	for i, r := range g.Rules {
		if r.Name == "" || r.Match == nil {
			return fmt.Errorf("Rules[%d] has no Name or no Match; give it both", i)
		}
	}
	return nil
}

var (
	commandFields = []string{"command", "cmd", "script", "code", "shell_command"}
	shellRules    = DefaultRules()
)

// OnPermission looks for commands in the arguments.
func (g *Guard) OnPermission(_ context.Context, _ *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	fields, rules := g.Fields, g.Rules
	if fields == nil {
		fields = commandFields
	}
	if rules == nil {
		rules = shellRules
	}
	for _, lines := range commandsIn(call.Args, fields) {
		commands, ok := lines.commands()
		if !ok {
			return agent.Deny{Reason: "shell guard: the command is nested too deeply or too large to be checked; send it in simpler parts"}, nil
		}
		for _, r := range rules {
			if at := slices.IndexFunc(commands, r.Match); at >= 0 {
				return agent.Deny{Reason: refusedCommand(r, at, commands)}, nil
			}
		}
	}
	return nil, nil
}

// refusedCommand words a denial.
func refusedCommand(r Rule, at int, commands []*Command) string {
	text := fmt.Sprintf("shell guard: %q is refused (%s).", shorten.To(strings.TrimSpace(commands[at].Program+" "+strings.Join(commands[at].Args, " ")), 120), r.Name)
	if r.Hint != "" {
		text += " " + r.Hint
	}
	var others []string
	for _, c := range commands {
		name := c.Program
		if len(c.Args) > 0 && strings.Trim(c.Args[0], "abcdefghijklmnopqrstuvwxyz-") == "" && !strings.HasPrefix(c.Args[0], "-") {
			name += " " + c.Args[0]
		}
		if name = shorten.To(terminal.Escape(name), 40); name != "" && len(others) < 5 && !r.Match(c) && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		text += fmt.Sprintf(" Everything else in the command is still allowed (%s): send it again without this part.", strings.Join(others, ", "))
	} else {
		text += " Other commands are still allowed."
	}
	return text
}

// Parse returns the simple commands in the text of a shell script. It reports false if the text is nested too deeply.
func Parse(script string) ([]*Command, bool) { return shellCommands(script) }

// ParseWords returns the commands in the words of one command, for example the argument list of a process. A word
// that could be a script, as in ["sh", "-c", "rm -rf /"], is parsed too. It reports false as Parse does.
func ParseWords(words []string) ([]*Command, bool) {
	size := 0
	quoted := make([]shellWord, len(words))
	for i, w := range words {
		quoted[i] = shellWord{text: w, quoted: true}
		size += len(w)
	}
	r := newShellReader(size)
	r.command(quoted, shellContext{})
	for _, w := range words {
		if strings.ContainsAny(w, " \t\n;|&") {
			r.text(w)
		}
	}
	return r.found, !r.effort.tooMuch
}

// commandArg is one argument that holds a command: a text, or the words of a command.
type commandArg struct {
	text  string
	words []string
}

func (a commandArg) commands() ([]*Command, bool) {
	if a.words == nil {
		return Parse(a.text)
	}
	return ParseWords(a.words)
}

// commandsIn returns what the arguments hold under the names of fields, at any depth and in whatever case. A key
// that comes twice counts twice.
func commandsIn(args []byte, fields []string) (found []commandArg) {
	if len(bytes.TrimSpace(args)) == 0 {
		return nil
	}
	if !json.Valid(args) {
		return []commandArg{{text: string(args)}}
	}
	type level struct {
		object, key, named bool // in an object; the next token is a key; what comes is a field's
		words              []string
	}
	stack := []level{{}}
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber() // one that no float64 holds must not hide what follows it
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
				stack = append(stack, level{object: t == '{', key: t == '{', named: top.named && t == '['})
				continue
			}
			if top.words != nil {
				found = append(found, commandArg{words: top.words})
			}
			stack = stack[:len(stack)-1]
			top = &stack[len(stack)-1]
		case string:
			switch {
			case top.key:
				top.key = false
				top.named = slices.ContainsFunc(fields, func(f string) bool { return strings.EqualFold(f, t) })
				continue
			case top.named && top.object:
				found = append(found, commandArg{text: t})
			case top.named:
				top.words = append(top.words, t)
			}
		}
		top.key = top.object
	}
}
