package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// command reads a command and the commands that it runs, for example the rm in sudo rm. It returns the output of the
// command if the text contains it.
func (r *reader) command(words []word, in flow) string {
	if r.depth++; r.depth > maxNesting {
		r.exceeded = true
	}
	defer func() { r.depth-- }()
	for len(words) > 0 && isAssignment(words[0].text) { // as in env A=b make
		name, value, _ := strings.Cut(words[0].text, "=")
		if r.strict {
			if in.parent == nil || !setsVariables[in.parent.Program] || // the name of a program
				!harmlessAssignment(name, value, words[0].isStatic()) {
				r.refuse()
			}
		} else {
			r.variable(name, value)
		}
		words = words[1:]
	}
	if len(words) == 0 || !r.spend(len(words)+len(in.before)+len(in.writes)+len(in.reads)) {
		return ""
	}
	c := &Command{
		Program: programOf(words[0].text), Args: textsOf(words[1:]), words: words, Stdin: in.stdin,
		Writes: slices.Clip(in.writes), Reads: slices.Clip(in.reads), dirs: r.dirs, parent: in.parent,
		input: in.before, empties: in.empties,
	}
	r.found = append(r.found, c)
	in.parent = c
	r.runs(c, in)
	r.changesShell(c)
	output := c.output()
	c.concealed = c.conceals(output)
	return output
}

// setsVariables are the programs whose arguments can set variables for the command that they run.
var setsVariables = kit.Set("env", "sudo", "doas")

var assignment = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_]*\+?|BASH_FUNC_[^=]*)=`)

// isAssignment reports whether a word sets a variable, as in A=b.
func isAssignment(text string) bool { return assignment.MatchString(text) }

// commandVariable matches the names of environment variables whose values are commands.
var commandVariable = patterns("variables")

// variable reads the commands in the value of an environment variable.
func (r *reader) variable(name, value string) {
	if commandVariable.MatchString(name) {
		r.value(strings.TrimPrefix(value, "()")) // the value of BASH_FUNC_x begins with the parentheses of a function
	}
}

// changesShell notes the effects of a command on later ones.
func (r *reader) changesShell(c *Command) {
	switch {
	case r.strict:
	case c.Program == "read" && len(c.Args) > 0:
		name := c.Args[len(c.Args)-1]
		if r.by[name] = c.input; c.Stdin != "" {
			r.values[name] = strings.TrimSpace(c.Stdin)
		}
	case changesDirectory[c.Program]:
		r.enters(c)
	case c.Program == "ln" || c.Program == "mount":
		r.dirs = []string{"?"} // a path can now lead anywhere
	}
}

// enters notes that the next commands run in another directory, or in the same one if cd fails.
func (r *reader) enters(c *Command) {
	args := slices.DeleteFunc(slices.Clone(c.Args), func(arg string) bool {
		return len(arg) > 1 && arg[0] == '-' && strings.Trim(arg[1:], "LPe@n-") == ""
	})
	dirs := slices.Clone(r.dirs)
	for _, d := range r.dirs {
		switch {
		case len(args) != 1 || strings.ContainsAny(args[0], "$*?[~") || args[0] == "" || args[0] == "-":
			d = "?"
		case strings.HasPrefix(args[0], "/"):
			d = args[0]
		case d != "?":
			d += "/" + args[0]
		}
		if !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	if len(dirs) > maxDirs {
		dirs = []string{"?"}
	}
	r.dirs = dirs
}

// runs reads the commands that a command runs.
func (r *reader) runs(c *Command, in flow) {
	from := len(r.found)
	g, at := grammarOf(c.words)
	var options []option
	var operands []word
	if g != nil && c.Program != "git" {
		var texts []word
		options, texts, operands = r.judge(g, c.words[1+at:])
		r.checkTexts(c, texts, operands)
		if !scriptFirst[c.Program] && slices.ContainsFunc(options, func(o option) bool {
			return o.does == "refuse" && o.matters != nil
		}) {
			r.opaque(c) // less +!ls
		}
	}
	r.escapes(c)
	switch program := c.Program; {
	case shells[program] || program == "source" || program == ".":
		r.shell(c, in)
	case program == "eval":
		c.executes(c.words[1:]...)
		r.script(c, 0, len(c.Args))
	case interpreters[interpreterOf(program)]:
		r.interpreter(c, in)
	case program == "find":
		r.find(c, in)
	case program == "git":
		r.git(c)
	case runners[program]:
		r.runner(c, in)
	case g.wraps():
		r.wrapped(c, g, options, operands, in)
	case program == "fd" || program == "fdfind":
		r.runner(c, in)
	default:
		c.executes(c.words[0])
	}
	if c.isUnknown() && !r.strict { // curl x | $shell
		c.executes(c.words[0])
		r.runsInput(c, in)
	}
	if remote[c.Program] {
		for _, inner := range r.found[from:] {
			inner.dirs = []string{"?"}
		}
	}
}

// script reads the arguments from the index from up to the index to, joined by blanks, as a script.
func (r *reader) script(c *Command, from, to int) {
	if r.strict && !allStatic(c.words[1+from:1+to]) {
		r.refuse()
		return
	}
	r.text(strings.Join(c.Args[from:to], " "))
}

func allStatic(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return !w.isStatic() })
}

// refuseDynamic refuses arguments of unknown value for a program that could run them.
func (r *reader) refuseDynamic(c *Command) {
	if r.strict && !allStatic(c.words) {
		r.refuse()
	}
}

// executes records that the command runs the output of the substitutions in words.
func (c *Command) executes(words ...word) {
	for _, w := range words {
		c.executesOutput(w.outputs)
	}
}

// executesOutput records that the command runs the output of others. Long lists are not copied.
func (c *Command) executesOutput(others []*Command) {
	if len(c.Executes) == 0 {
		c.Executes = slices.Clip(others)
	} else {
		c.Executes = append(c.Executes, others...)
	}
}

// value reads the value of an option or of a variable whose value is a command.
func (r *reader) value(text string) {
	text = strings.TrimLeft(text, "=!| ")
	for _, prefix := range []string{"commands=", "command=", "exec="} {
		text = strings.TrimPrefix(text, prefix)
	}
	if m := executingOption.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	r.text(text)
}

// executingOption matches options of many programs whose value is a command, for example tar --to-command=x and ssh -o
// ProxyCommand=x.
var executingOption = regexp.MustCompile(
	`^(?:--?[a-z-]*(?:exec|command|program|rsh|pager|eval)|(?i:ProxyCommand|LocalCommand|KnownHostsCommand)|` +
		`--checkpoint-action=exec)[= ](.+)$`)

// destroyers are programs that can destroy infrastructure or data.
var destroyers = patternsOf("remote")

// runner reads the arguments of a runner from each word that is a shell, an interpreter or a dangerous program.
func (r *reader) runner(c *Command, in flow) {
	for i, w := range c.words[1:] {
		program, _, _ := strings.Cut(programOf(w.text), "@") // npx rimraf@5
		runs := shells[program] || interpreters[interpreterOf(program)] || dangerous[program] ||
			strings.HasPrefix(program, "mkfs")
		if runs || !r.strict && !runners[program] && (destroyers[program] != nil || sqlClients[program]) {
			r.command(append([]word{{text: program, glob: w.glob}}, c.words[2+i:]...), in)
		}
		if runs && (i == 0 || c.Args[i-1] != "--entrypoint") {
			break
		}
		if strings.ContainsAny(w.text, " \t\n") && !strings.HasPrefix(w.text, "-") && !r.strict {
			r.text(w.text) // a command for hyperfine and tmux, a text for others
		}
	}
	if c.Program == "at" || c.Program == "batch" {
		r.runsInput(c, in)
	}
}
