package shell

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/toolargs"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
)

// A Glob is a condition on the commands in the arguments of a call, for a rule of package permission. [CommandGlob]
// makes one.
type Glob struct {
	field   string
	globs   []string
	dialect Dialect
}

// CommandGlob returns a condition on an argument that holds a shell command, or the words of a command as a list. For
// example, CommandGlob("command", "git *", "go test*") describes the commands of git and the tests. In a glob, "*"
// matches any text, and a blank is the border between two words.
//
// A rule that denies or asks matches if one command in the text matches. For example, "git push*" matches "cd x && sudo
// /usr/bin/git push".
//
// A rule that allows matches only if bash and dash both run nothing else for the text. Every command in it must match,
// including those in substitutions, and those that sudo, xargs, find -exec and the like run. The text is not allowed if
//
//   - it is not valid, or too deeply nested or too large to be checked
//   - a command is known only when it runs, as in $x or $(x)
//   - it writes a file, or connects to the network, by a redirection
//   - it sets a variable other than x and the like, or LANG and the like
//   - it defines a function or an alias, or calculates with variables
//   - it uses what bash and dash read differently; [Glob.In] names the one that runs it
//
// Commands such as eval, exec, env and sudo, which run others, are allowed only by globs that begin with their names.
//
// Some options make a program run another one, for example tar -I, git clone -u and sort --compress-program. They are
// known for many programs, also abbreviated, joined and in a cluster. A rule allows such an option only if its globs
// cover the command in the value. Programs of awk and scripts of sed may neither run commands nor write files.
// Variables of make, and commands for ed, sftp and SQL clients, may not run commands. If a program has such options, a
// rule refuses its unknown options, and also words of unknown value that could be options.
// For example, "sort *" allows sort -- "$x" and not sort "$x".
//
// The glob covers everything else that the program itself does. For example, sort -o file writes a file, and "sort *"
// allows it. "sh *" allows each script file, and "npx *" each program; a rule that allows with such a glob is reported
// in the log when it is added to Hooks.
//
// name is the name of the argument, or a list of names separated by commas, in which "*" matches any text. Names are
// compared without case, "_" and "-", because tools decode them in more than one spelling. A rule that denies or asks
// also finds arguments within other arguments. If the argument is missing, the condition does not match. If the
// argument is not a text or a name occurs twice, Match returns an error.
func CommandGlob(name string, globs ...string) Glob { return Glob{field: name, globs: globs} }

// In returns the condition for commands that a shell of the dialect runs. It allows more commands than the condition
// for any shell. Zsh, fish and PowerShell have no dialect: give the agent bash instead.
func (g Glob) In(d Dialect) Glob {
	g.dialect = d
	return g
}

// Check returns an error if the condition is incomplete.
func (g Glob) Check() error {
	switch {
	case g.field == "" || len(g.globs) == 0 || slices.Contains(g.globs, ""):
		return errors.New("a glob needs the name of an argument and a pattern; give both")
	case !slices.Contains([]Dialect{AnyShell, POSIX, Bash}, g.dialect):
		return fmt.Errorf("the dialect %q is unknown; use shell.POSIX or shell.Bash", g.dialect)
	}
	return nil
}

// Warning returns a text for the log if a rule that allows with this condition covers more than it seems to: "*" after
// the name of a program that runs others, for example "npx *", "docker *" and "make *", allows whatever they run. It
// returns "" for other conditions.
func (g Glob) Warning() string {
	var open []string
	for _, glob := range g.globs {
		name, args, _ := strings.Cut(strings.TrimSpace(glob), " ")
		runs := shells[name] || runners[name] || interpreters[interpreterOf(name)] || projects[name]
		if strings.Contains(name, "*") || runs && strings.Contains(args, "*") {
			open = append(open, glob)
		}
	}
	if open == nil {
		return ""
	}
	return fmt.Sprintf("the globs %q allow every program that the named ones run; name their arguments", open)
}

// Match reports whether one of the commands matches.
func (g Glob) Match(call agent.ToolCallRequest) (bool, error) {
	values, err := toolargs.Values(call, g.field)
	if err != nil {
		return false, err
	}
	for _, v := range values {
		line := strings.Join(strings.Fields(strings.Join(v.Texts, " ")), " ")
		commands, ok := ParseWords(v.Texts)
		if !v.List {
			commands, ok = Parse(strings.Join(v.Texts, ""))
		}
		if !ok {
			return false, fmt.Errorf("the argument %s: %w", g.field, errTooComplex)
		}
		if g.matchesLine(line) || slices.ContainsFunc(commands, g.matches) {
			return true, nil
		}
	}
	return false, nil
}

func (g Glob) matchesLine(line string) bool {
	return slices.ContainsFunc(g.globs, func(pattern string) bool { return toolname.Wildcard(pattern, line) })
}

// matches reports whether a command matches, as written or with the base name of its program.
func (g Glob) matches(c *Command) bool {
	return g.matchesLine(strings.Join(textsOf(c.words), " ")) ||
		g.matchesLine(strings.TrimSpace(c.Program+" "+strings.Join(c.Args, " ")))
}

// MatchEvery reports whether there is a command, and the condition covers everything that the arguments run.
func (g Glob) MatchEvery(call agent.ToolCallRequest) (bool, error) {
	values, err := toolargs.Values(call, g.field)
	if err != nil {
		return false, err
	}
	top := false
	for _, v := range values {
		top = top || v.Top
		covered, err := g.covers(v)
		if err != nil {
			return false, fmt.Errorf("the argument %s: %w", g.field, err)
		}
		if !covered {
			return false, nil
		}
	}
	return top, nil
}

// covers reports whether the condition covers everything that a value runs. A list must be covered as the words of a
// process, and also as a text, because some tools join the words.
func (g Glob) covers(v toolargs.Value) (bool, error) {
	text := strings.Join(v.Texts, " ")
	for _, lang := range g.dialect.variants() {
		readings := []func(*reader){func(r *reader) { r.text(text) }}
		if v.List {
			readings = append(readings, func(r *reader) { r.command(staticWords(v.Texts), flow{}) })
		}
		for _, read := range readings {
			r := newReader(lang, len(text))
			r.strict = true
			read(r)
			if r.exceeded {
				return false, errTooComplex
			}
			refused := func(c *Command) bool { return !g.allows(c) }
			if r.refused || len(r.found) == 0 || slices.ContainsFunc(r.found, refused) {
				return false, nil
			}
		}
	}
	return true, nil
}

var (
	// neverAllowed are commands of shells that set variables, define commands, or run a part of their arguments.
	neverAllowed = set("neverAllowed")

	// projects are programs that run commands from the files of a project or of the network.
	projects = set("projects")

	// indirect are commands that run others.
	indirect = kit.Set("eval", "exec", "command", "builtin", "source", ".", "trap", "export", "set", "shopt", "time")

	// exported matches the arguments of export that name a variable only.
	exported = regexp.MustCompile(`^[a-z][a-z0-9]*$`)
)

// allows reports whether a glob covers one command.
func (g Glob) allows(c *Command) bool {
	if len(c.words) == 0 { // a redirection, which has been checked
		return true
	}
	name := c.words[0].text
	if !c.words[0].isStatic() || placeholder.MatchString(name) || strings.Trim(name, "\x00") != name ||
		neverAllowed[name] || !harmlessArguments(c) {
		return false
	}
	named := isWrapper(c.Program) || indirect[name] || shells[c.Program]
	var line strings.Builder
	for i, w := range c.words {
		if w.joined {
			continue
		}
		if i > 0 {
			line.WriteByte(0)
		}
		line.WriteString(strings.ReplaceAll(w.glob, "\x00", anything))
	}
	return slices.ContainsFunc(g.globs, func(glob string) bool {
		words := strings.Fields(glob)
		return len(words) > 0 && (!named || words[0] == name) && toolname.Wildcard(strings.Join(words, "\x00"), line.String())
	})
}

// harmlessArguments reports whether a command of the shell neither sets a variable nor runs a part of its arguments.
// For example, bash runs reboot for test -v 'a[$(reboot)]' and for printf -v 'a[$(reboot)]' x.
func harmlessArguments(c *Command) bool {
	args := c.words[1:]
	switch c.words[0].text {
	case "printf":
		return !slices.ContainsFunc(args, substitutes) && (len(args) == 0 ||
			args[0].isStatic() && !strings.HasPrefix(args[0].text, "-") && !printfSets.MatchString(args[0].text))
	case "test", "[":
		return !slices.ContainsFunc(args, substitutes) && !slices.ContainsFunc(args, func(w word) bool {
			return w.text == "-v" || w.text == "-R" || !w.isStatic()
		})
	case "wait":
		return len(args) == 0
	case "export":
		return !slices.ContainsFunc(args, func(w word) bool {
			name, value, assigns := strings.Cut(w.text, "=")
			return assigns && !harmlessAssignment(name, value, w.isStatic()) || !assigns && !exported.MatchString(w.text)
		})
	case "set":
		return !slices.ContainsFunc(args, func(w word) bool { return !setOption.MatchString(w.text) })
	}
	return true
}

// substitutes reports whether a word contains the text of a substitution, which ksh runs if it expects a number.
func substitutes(w word) bool {
	return w.isStatic() && (strings.Contains(w.text, "$(") || strings.Contains(w.text, "`"))
}

var (
	printfSets = regexp.MustCompile(`%[^A-Za-z%]*[hjlLtzq]*n`) // %n and %ln set a variable in bash
	setOption  = regexp.MustCompile(`^([-+][euxfnvCbo]+|errexit|nounset|pipefail|xtrace|noglob|verbose|noclobber)$`)
)
