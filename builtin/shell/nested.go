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
		if r.strict {
			if in.parent == nil || !setsVariables[in.parent.Program] {
				r.refuse(errUnreadable) // the name of a program
			}
			name, value, _ := strings.Cut(words[0].text, "=")
			r.strictAssignment(name, value, words[0].isStatic())
		} else {
			r.environment(words[0].text)
		}
		words = words[1:]
	}
	if len(words) == 0 || !r.spend(len(words)+len(in.before)+len(in.writes)+len(in.reads)) {
		return ""
	}
	c := &Command{
		Program: programOf(words[0].text), Args: textsOf(words[1:]), words: words, Stdin: in.stdin,
		Writes: slices.Clip(in.writes), Reads: slices.Clip(in.reads), dirs: r.dirs, parent: in.parent,
		input: in.before,
	}
	r.found = append(r.found, c)
	in.parent = c
	r.runs(c, in)
	r.hidden(c, in)
	r.changesShell(c)
	r.renames(c)
	r.renamed(c, in)
	output := c.output()
	c.concealed = c.conceals(output)
	r.writes(c, in, output)
	return output
}

// setsVariables are the programs whose arguments can set variables for the command that they run.
var setsVariables = kit.Set("env", "sudo", "doas")

var assignment = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_]*\+?|BASH_FUNC_[^=]*)=`)

// isAssignment reports whether a word sets a variable, as in A=b.
func isAssignment(text string) bool { return assignment.MatchString(text) }

// changesShell notes the effects of a command on later ones.
func (r *reader) changesShell(c *Command) {
	switch {
	case r.strict:
	case c.Program == "read" && len(c.Args) > 0:
		name := c.Args[len(c.Args)-1]
		if r.by[name] = c.input; c.Stdin != "" {
			r.values[name] = strings.TrimSpace(c.Stdin)
		}
	case c.Program == "set" && len(c.Args) > 0:
		args := c.Args
		end := slices.Index(args, "--") // in set -- -rf x, -rf is a parameter
		args = args[end+1:]
		if end >= 0 || !strings.HasPrefix(args[0], "-") && !strings.HasPrefix(args[0], "+") {
			r.lists["@"], r.lists["*"] = args, args
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
	switch program := c.Program; {
	case shells[program]:
		r.shell(c, in)
	case program == "eval":
		c.executes(c.words[1:]...)
		c.executesOutput(r.script(c, 0, len(c.Args)))
	case evaluates[program]: // of PowerShell
		c.executes(c.words[1:]...)
		c.executesOutput(in.before)
		c.executesOutput(r.script(c, 0, len(c.Args)))
	case program == "source" || program == ".":
		switch {
		case len(c.Args) == 0:
		case isStdin(c.Args[0]):
			c.executesOutput(in.before)
			r.stdinScript(c)
		default:
			r.runsFile(c, c.words[1], true)
		}
	case interpreters[interpreterOf(program)]:
		r.interpreter(c, in)
	case scriptFirst[program]:
		r.programText(c, in)
	case program == "find" || program == "fd" || program == "fdfind":
		r.find(c, in)
	case program == "git":
		r.git(c)
	case program == "go" && len(c.Args) > 1 && c.Args[0] == "run" && !r.strict:
		for _, file := range c.words[2:] {
			r.runsFile(c, file, false)
		}
		if slices.ContainsFunc(c.Args[1:], isStdin) {
			r.foreign(c.Stdin)
		}
	case program == "alias":
		for _, arg := range c.Args {
			if _, value, ok := strings.Cut(arg, "="); ok {
				r.text(value)
			}
		}
	case runners[program] || strings.HasPrefix(program, "ld-linux"):
		r.runner(c, in)
	default:
		r.wrapped(c, in)
		r.runsFile(c, c.words[0], true)
	}
	if c.isUnknown() && !r.strict { // curl x | $shell
		c.executes(c.words[0])
		c.executesOutput(in.before)
		r.stdinScript(c)
	}
	if remote[c.Program] {
		for _, inner := range r.found[from:] {
			inner.dirs = []string{"?"}
		}
	}
}

// remote are programs whose commands run on another machine or see other files.
var remote = kit.Set("ssh", "docker", "podman", "kubectl", "oc", "nerdctl", "chroot", "nsenter", "lxc", "vagrant")

// evaluates are programs of PowerShell that run a text or their input.
var evaluates = kit.Set("iex", "invoke-expression", "invoke-command", "icm")

// script reads the arguments from the index from up to the index to, joined by blanks, as a script.
func (r *reader) script(c *Command, from, to int) []*Command {
	if r.strict && !allStatic(c.words[1+from:1+to]) {
		r.refuse(errUnreadable)
		return nil
	}
	return r.text(strings.Join(c.Args[from:to], " "))
}

func allStatic(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return !w.isStatic() })
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

// dangerous are the programs that the default rules refuse with some arguments.
var dangerous = kit.Set("rm", "rimraf", "del-cli", "dd", "shred", "find", "chmod", "chown", "chgrp", "wipefs", "git",
	"dropdb", "env", "sudo", "xargs", "shutdown", "reboot", "poweroff", "halt", "psql", "mysql")
