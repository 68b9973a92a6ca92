package shell

import (
	"maps"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// shells are programs that run shell scripts.
var shells = kit.Set("sh", "bash", "zsh", "dash", "ksh", "ksh93", "mksh", "ash", "fish", "csh", "tcsh", "rbash",
	"yash", "osh", "ysh", "oksh", "nu", "elvish", "xonsh")

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
				r.runsFile(c, c.words[i+1], true)
			}
		case arg == "--command" || strings.HasPrefix(arg, "--command="): // of fish
			_, text, joined := strings.Cut(arg, "=")
			if !joined && i+1 < len(c.Args) {
				text = c.Args[i+1]
			}
			c.executesOutput(r.text(text))
			return
		case strings.HasPrefix(arg, "--") && !ended:
		case len(arg) > 1 && arg[0] == '-' && !ended:
			stdin = stdin || strings.Contains(arg, "s")
			isScript = isScript || strings.Contains(arg, "c")
			i += strings.Count(strings.ToLower(arg), "o") // the values of -o and -O
		case isScript:
			c.executes(c.words[i+1])
			if arg == "{}" { // xargs -I {} sh -c {}
				r.stdinScript(c)
			}
			if !r.strict && strings.Contains(arg, "$") { // sh -c '"$@"' _ rm
				lists := r.lists
				r.lists = maps.Clone(lists)
				r.lists["@"] = c.Args[min(i+2, len(c.Args)):]
				r.lists["*"] = r.lists["@"]
				defer func() { r.lists = lists }()
			}
			c.executesOutput(r.script(c, i, i+1))
			return
		default: // a script file, or a process substitution
			r.runsFile(c, c.words[i+1], true)
			if !stdin {
				return
			}
			i = len(c.Args)
		}
	}
	if isScript {
		return // the script is missing
	}
	if r.strict && (c.Stdin == "" || len(in.before) > 0) {
		r.refuse(errUnreadable)
		return
	}
	for _, program := range in.before { // python -c 'print("ls")' | sh
		r.printed(program)
	}
	c.executesOutput(in.before)
	r.stdinScript(c)
}

// stdinScript reads the input of a command as a script.
func (r *reader) stdinScript(c *Command) {
	if c.Stdin != "" {
		c.executesOutput(r.text(c.Stdin))
	}
}

// interpreters are programs that run scripts in other languages.
var interpreters = kit.Set("python", "pypy", "perl", "ruby", "node", "nodejs", "php", "lua", "luajit", "deno", "bun",
	"osascript", "pwsh", "powershell", "rscript", "tclsh", "ipython", "groovy", "julia", "elixir", "expect", "tsx",
	"ts-node", "r", "erl", "scala", "guile", "sbcl", "ocaml", "racket", "octave", "ghc", "jshell", "m4")

// codeOptions are the letters of options of interpreters whose value is code, a module or a file.
const codeOptions = "cemrpCEF"

// interpreterOf returns the name of a program without a version: python for python3.12.
func interpreterOf(program string) string { return strings.TrimRight(program, "0123456789.-") }

// interpreter records the commands whose output an interpreter runs, and reads the commands in its script.
func (r *reader) interpreter(c *Command, in flow) {
	if c.Program == "pwsh" || c.Program == "powershell" {
		r.powershell(c, in)
		return
	}
	code := false
	for i := 0; i < len(c.Args); i++ {
		arg := c.Args[i]
		switch {
		case isStdin(arg):
			i = len(c.Args)
		case strings.HasPrefix(arg, "--eval="), strings.HasPrefix(arg, "--print="):
			_, text, _ := strings.Cut(arg, "=")
			r.foreign(text)
			code = true
		case arg == "eval" && i == 0, len(arg) > 1 && arg[0] == '-' && strings.ContainsAny(arg, codeOptions):
			code = true // a program, a module or a file, in the next word or in the rest of this one
			r.foreign(strings.TrimLeft(strings.TrimPrefix(arg, "eval"), "-"+codeOptions))
			if i+1 < len(c.Args) && !strings.HasPrefix(c.Args[i+1], "-") {
				i++
				c.executes(c.words[i+1])
				r.foreign(c.Args[i])
			}
		case len(arg) > 1 && arg[0] == '-':
		default:
			r.runsFile(c, c.words[i+1], false)
			if script := programOf(arg); destroyers[script] != nil && !r.strict { // python manage.py flush
				r.command(c.words[i+1:], in)
			}
			return
		}
	}
	if code {
		return
	}
	c.executesOutput(in.before)
	if c.Stdin != "" {
		r.foreign(c.Stdin)
	}
}

// powershell reads the script after -Command or after the options, which may consist of many words, or else the input.
func (r *reader) powershell(c *Command, in flow) {
	for i := 0; i < len(c.Args); i++ {
		option := strings.ToLower(c.Args[i])
		begins := func(long string) bool { return len(option) > 1 && strings.HasPrefix(long, option) }
		switch {
		case isStdin(option):
			i = len(c.Args)
		case begins("-encodedcommand") || option == "-ec":
			if i++; i < len(c.Args) {
				c.executes(c.words[i+1])
				r.text(decodedUTF16(c.Args[i]))
			}
			return
		case begins("-file") && i+1 < len(c.Args) && !isStdin(c.Args[i+1]):
			r.runsFile(c, c.words[i+2], false)
			return
		case begins("-command"), option[:min(1, len(option))] != "-":
			if begins("-command") {
				i++
			}
			i = min(i, len(c.Args))
			c.executes(c.words[i+1:]...)
			r.foreign(strings.ReplaceAll(strings.Join(c.Args[i:], " "), `\ `, "/ ")) // C:\ ends a word
			return
		case begins("-executionpolicy"), begins("-workingdirectory"), begins("-windowstyle"), option == "-ep",
			begins("-inputformat"), begins("-outputformat"), begins("-configurationname"), begins("-version"):
			i++
		}
	}
	c.executesOutput(in.before)
	if c.Stdin != "" {
		r.foreign(c.Stdin)
	}
}

// scriptFirst are programs whose first argument is a program in a language that can run commands.
var scriptFirst = kit.Set("awk", "gawk", "mawk", "nawk", "sed", "gsed", "vim", "vi", "nvim", "ex", "view", "emacs")

// programText reads the commands in the programs that awk, sed and editors receive as arguments.
func (r *reader) programText(c *Command, in flow) {
	switch program := c.Program; {
	case program == "sed" || program == "gsed":
		r.sed(c, in)
	case strings.HasSuffix(program, "awk"):
		r.awk(c, in)
	case program == "emacs":
		for _, arg := range c.Args {
			r.foreign(arg)
		}
	}
}
