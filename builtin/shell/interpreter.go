package shell

import (
	"regexp"
	"slices"
	"strings"
)

// shell reads the commands that a shell runs: the text after -c, or else the standard input unless a file is given.
func (r *reader) shell(c *Command, in flow) {
	stdin, isScript, ended := false, false, false // ended: no more options follow
	for i := 0; i < len(c.Args); i++ {
		arg := c.Args[i]
		switch {
		case isStdin(arg) && !isScript && !ended:
			stdin = true
			i = len(c.Args)
		case !ended && (arg == "--" || arg == "-" && isScript):
			ended = true
		case len(arg) > 1 && arg[0] == '+' && !ended:
			isScript = isScript || strings.Contains(arg, "c")
			i += strings.Count(strings.ToLower(arg), "o")
		case arg == "--rcfile", arg == "--init-file":
			if i++; i < len(c.Args) {
				c.executes(c.words[i+1])
			}
		case strings.HasPrefix(arg, "--command") && !ended: // of fish
			_, text, joined := strings.Cut(arg, "=")
			isScript = !joined
			r.text(text)
		case strings.HasPrefix(arg, "--") && !ended:
		case len(arg) > 1 && arg[0] == '-' && !ended:
			stdin = stdin || strings.Contains(arg, "s")
			isScript = isScript || strings.Contains(arg, "c")
			i += strings.Count(strings.ToLower(arg), "o") // the values of -o and -O
		case isScript:
			c.executes(c.words[i+1])
			r.script(c, i, i+1)
			return
		default: // a script file, or a process substitution
			c.executes(c.words[i+1])
			if !stdin {
				return
			}
			i = len(c.Args)
		}
	}
	switch {
	case isScript: // the script is missing
	case r.strict && (c.Stdin == "" || len(in.before) > 0):
		r.refuse()
	default:
		c.executesOutput(in.before)
		r.text(c.Stdin)
	}
}

// codeOptions are the letters of options of interpreters whose value is code, a module or a file.
const codeOptions = "cemrpCEF"

// interpreterOf returns the name of a program without a version: python for python3.12.
func interpreterOf(program string) string { return strings.TrimRight(program, "0123456789.-") }

// interpreter records the commands whose output an interpreter runs, and looks at the code in its arguments.
func (r *reader) interpreter(c *Command, in flow) {
	isPowerShell := c.Program == "pwsh" || c.Program == "powershell"
	for i, arg := range c.Args {
		lower := strings.ToLower(arg)
		isOption := len(arg) > 1 && arg[0] == '-'
		switch {
		case isStdin(arg):
			r.runsInput(c, in)
			r.code(c, c.Stdin)
			return
		case arg == "-m": // a module
			return
		case isPowerShell && isOption && strings.HasPrefix("-file", lower):
			return
		case isPowerShell && isOption && (strings.HasPrefix("-encodedcommand", lower) || lower == "-ec"):
			r.opaque(c)
		case isPowerShell && isOption && !strings.HasPrefix("-command", lower):
		case isPowerShell:
			c.executes(c.words[i+1:]...)
			text := strings.Join(c.Args[i:], " ")
			r.code(c, text)
			r.text(strings.ReplaceAll(strings.TrimPrefix(text, arg[:len(arg)*strings.Count(arg[:1], "-")]), `\ `, "/ "))
			return
		case arg == "eval" && i == 0, strings.HasPrefix(arg, "--eval"), strings.HasPrefix(arg, "--print"),
			isOption && arg[1] != '-' && strings.ContainsAny(arg, codeOptions):
			_, value, isLong := strings.Cut(arg, "=") // --eval=...
			if !isLong {
				value = strings.TrimLeft(arg, "-"+codeOptions)
			}
			r.code(c, value+"\n"+strings.Join(c.Args[i+1:], "\n"))
			c.executes(c.words[i+1:]...)
			return
		case !isOption:
			c.executes(c.words[i+1])
			return
		}
	}
	if c.Stdin != "" {
		r.code(c, c.Stdin)
	}
	c.executesOutput(in.before)
}

// runsCode matches code of other languages that can run a program, remove a directory, write to a device, or run a text
// that it makes. The list is in words.txt.
var runsCode = patterns("code")

// code looks at code in another language. A rule that allows covers none.
func (r *reader) code(c *Command, text string) {
	if r.strict || r.spend(len(text)) && (runsCode.MatchString(text) ||
		strings.Contains(text, "`") && slices.Contains([]string{"perl", "ruby", "php"}, interpreterOf(c.Program))) {
		r.opaque(c)
	}
}

// opaque notes that a command can run others that cannot be read.
func (r *reader) opaque(c *Command) {
	c.opaque = true
	if r.strict {
		r.refuse()
	}
}

// commandEscapes match the commands that run others in the arguments and the input of programs.
var commandEscapes = func() map[string]*regexp.Regexp {
	all := make(map[string]*regexp.Regexp)
	for _, entry := range list("escapes") {
		program, pattern, _ := strings.Cut(entry, " ")
		all[program] = regexp.MustCompile(pattern)
	}
	return all
}()

// escapes looks for commands that programs with a language of their own run, for example ! in an editor.
func (r *reader) escapes(c *Command) {
	escape := commandEscapes[c.Program]
	if escape == nil || !r.spend(len(c.Stdin)) {
		return
	}
	for _, w := range append(slices.Clip(c.words[1:]), staticWords([]string{c.Stdin})...) {
		if (r.strict || w.isStatic()) && escape.MatchString(w.text) {
			r.opaque(c)
		}
	}
}
