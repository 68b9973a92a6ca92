package shell

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// wraps reports whether a program runs the command after its own arguments, for example timeout 5 make.
func (g *grammar) wraps() bool {
	return g != nil && (g.is("command") || g.is("joined") || g.is("first"))
}

// isWrapper reports whether a program runs the command after its own arguments.
func isWrapper(program string) bool { return grammars()[program].wraps() }

// wrapped reads the command in the operands of a wrapper.
func (r *reader) wrapped(c *Command, g *grammar, options []option, operands []word, in flow) {
	has := func(is func(option) bool) bool { return slices.ContainsFunc(options, is) }
	if c.Program == "command" && has(func(o option) bool { return strings.EqualFold(o.name, "-v") }) {
		return // command -v only looks a name up
	}
	r.refuseDynamic(c)
	if g.is("second") {
		operands = operands[min(1, len(operands)):]
	}
	for len(operands) > 0 && (operands[0].text == "--" || c.Program == "env" && operands[0].text == "-" ||
		c.Program == "cmd" && strings.HasPrefix(operands[0].text, "/")) {
		operands = operands[1:] // as in ssh host -- make, and cmd /c del x
	}
	script := has(func(o option) bool { return o.does == "run" })
	switch {
	case g.is("input") && !script && (len(operands) == 0 || c.Program == "su" && !r.strict):
		r.runsInput(c, in)
	case len(operands) == 0:
	case g.is("first"):
		r.text(operands[0].text)
	case g.is("joined"):
		if shells[programOf(operands[0].text)] {
			r.command(operands, in) // ssh host bash -s <<EOF
		}
		r.text(strings.Join(textsOf(operands), " "))
	case c.Program == "parallel": // it joins the words, and its inputs can be scripts
		for _, script := range append(textsOf(operands), strings.Join(textsOf(operands), " "), in.stdin) {
			r.text(script)
		}
	case strings.HasPrefix(operands[0].text, "-"): // flock x -c 'make'
		if r.refuse(); !r.strict {
			r.text(strings.Join(textsOf(operands[1:]), " "))
		}
	default:
		if r.strict && g.is("appends") && (runsOthers(operands) || changesProgram(options, operands[0].text)) {
			r.refuse() // the input contains the command, as in xargs sudo and xargs -I git git log
		}
		if !r.strict && g.is("appends") && r.spend(len(in.stdin)) {
			operands = slices.Concat(operands, staticWords(strings.Fields(in.stdin)))
		}
		if dirs := r.dirs; has(func(o option) bool { return o.name == "-C" || o.name == "-D" || o.name == "--chdir" }) {
			r.dirs = []string{"?"}
			defer func() { r.dirs = dirs }()
		}
		r.command(operands, in)
	}
	if !r.strict && has(func(o option) bool { return o.does == "unknown" || o.does == "refuse" }) {
		r.runner(c, in) // an option of unknown meaning: any word can begin the command
	}
}

// runsInput reads the input of a command as a script.
func (r *reader) runsInput(c *Command, in flow) {
	if r.strict && (c.Stdin != "" || len(c.Reads) > 0 || len(in.before) > 0) {
		r.refuse()
	}
	c.executesOutput(in.before)
	r.text(c.Stdin)
}

// runsOthers reports whether a command runs others if words are appended to it.
func runsOthers(words []word) bool {
	program := programOf(words[0].text)
	if program == "git" {
		subcommand, _ := gitArguments(words)
		return !namesSubcommand(words) || gitGrammar(subcommand).runs
	}
	g, _ := grammarOf(words)
	return isWrapper(program) || g != nil && g.runs || shells[program] || runners[program] || scriptFirst[program] ||
		interpreters[interpreterOf(program)] || program == "find" || program == "eval"
}

// namesSubcommand reports whether a git command contains its subcommand, so that words of the input cannot be options
// of git itself, as in xargs git -c.
func namesSubcommand(words []word) bool {
	subcommand, args := gitArguments(words)
	options := words[:max(0, len(words)-len(args))]
	return subcommand != "" && !slices.ContainsFunc(options, func(w word) bool { return strings.Contains(w.text, "{}") })
}

// changesProgram reports whether the input of xargs, which replaces a placeholder, can change the name of the program
// or a word that a rule could name.
func changesProgram(options []option, program string) bool {
	return slices.ContainsFunc(options, func(o option) bool {
		if o.name != "-I" && o.name != "-i" && o.name != "--replace" {
			return false
		}
		p := cmp.Or(o.value.text, "{}")
		return strings.Trim(p, "{}%@") != "" || strings.Contains(program, p)
	})
}

// find reads the commands that find runs.
func (r *reader) find(c *Command, in flow) {
	in.stdin, in.before = "", nil
	for i := 0; i < len(c.Args); i++ {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, c.Args[i]) {
			continue
		}
		command := c.words[i+2:]
		for at, w := range command {
			if w.text == ";" || w.text == "+" && at > 1 && command[at-1].text == "{}" {
				command = command[:at]
				break
			}
		}
		i += len(command)
		if r.strict && insertsCode(command) {
			r.refuse()
		}
		r.command(command, in)
	}
	r.refuseDynamic(c)
}

// placeholder matches the words that find and others replace with the name of a file.
var placeholder = regexp.MustCompile(`\{(/?|//|\.|/\.)\}`)

// insertsCode reports whether the name of a file can become a part of a script or of a program's name. For example,
// find -exec sh -c 'git log {}' runs reboot for a file named "a;reboot".
func insertsCode(command []word) bool {
	if len(command) == 0 {
		return false
	}
	isPlaceholder := func(w word) bool { return placeholder.MatchString(w.text) }
	program := programOf(command[0].text)
	code := interpreters[interpreterOf(program)] || scriptFirst[program]
	for i, w := range command {
		switch {
		case !isPlaceholder(w):
		case i == 0, placeholder.FindString(w.text) != w.text:
			return true
		case code && (i == 1 || strings.HasPrefix(command[i-1].text, "-")):
			return true
		case shells[program] && strings.HasPrefix(command[i-1].text, "-"):
			return true
		}
	}
	return program == "git" && !namesSubcommand(command)
}
