package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// A Command is one command that a shell would run: a program with its arguments, without the sudo, env, xargs
// and the like around it. Texts are without their quotes; what only a shell could expand stays as it is written.
type Command struct {
	Program string   // its base name in lower case: "rm" for \rm, "rm" and /bin/RM
	Args    []string // in order
	Writes  []string // files that output is redirected to
	Reads   []string // files that input is redirected from
	Stdin   string   // what is known of its input: a here-document, a here-string, what echo pipes into it

	// Executes are the commands whose output it runs as a program: what is piped into a shell, what is
	// substituted into sh -c, eval or source.
	Executes []*Command

	words   []shellWord // Program and Args as they were read
	Assigns bool        // variables are set for it
}

// Line is the command as it is written, with one blank between its words and without their quotes.
func (c *Command) Line() string {
	words := make([]string, len(c.words))
	for i, w := range c.words {
		words[i] = w.text
	}
	return strings.Join(words, " ")
}

// shellCommands returns every command that a shell would run for the text, those within other commands too. It
// reports false if the text is too deeply nested to tell.
func shellCommands(text string) ([]*Command, bool) {
	r := newShellReader(len(text))
	r.text(text)
	return r.found, !r.effort.tooMuch
}

// newShellReader returns a reader for texts of a size in bytes.
func newShellReader(size int) *shellReader {
	return &shellReader{effort: &shellEffort{left: 1<<20 + 64*size}}
}

// A shellReader collects the commands of scripts.
type shellReader struct {
	found  []*Command
	depth  int
	effort *shellEffort
}

// text reads a text as a script and returns its commands.
func (r *shellReader) text(text string) []*Command {
	if r.depth++; r.depth > maxShellDepth || !r.effort.spend(len(text)) {
		r.effort.tooMuch = true
		return nil
	}
	defer func() { r.depth-- }()
	return r.script(parseShell(text, r.depth, r.effort))
}

// script returns the commands of a script.
func (r *shellReader) script(script shellScript) []*Command {
	start := len(r.found)
	for _, pipe := range script {
		var before []*Command
		for i, stage := range pipe {
			if r.effort.tooMuch {
				return nil
			}
			from := len(r.found)
			r.stage(stage, pipe[:i], before)
			before = append(before, r.found[from:]...)
		}
	}
	return slices.Clone(r.found[start:])
}

// A shellContext is what a command gets from the stage that it stands in.
type shellContext struct {
	stdin  string     // what is known of its input
	before []*Command // whose output is its input
	inner  []*Command // in parentheses behind its words
	writes []string
	reads  []string
}

// stage collects the commands of one stage. Stages are those before it, before their commands.
func (r *shellReader) stage(s *shellStage, stages []*shellStage, before []*Command) {
	in := shellContext{stdin: pipedText(stages), before: slices.Clip(before)}
	for _, redirect := range s.redirects {
		for _, run := range redirect.target.runs {
			in.before = append(in.before, r.script(run)...) // sh < <(curl ...)
		}
		in.redirect(redirect)
	}
	from := len(r.found)
	r.script(s.group)
	for _, c := range r.found[from:] {
		c.Writes, c.Reads = append(c.Writes, in.writes...), append(c.Reads, in.reads...)
	}
	for _, inner := range s.inner {
		in.inner = append(in.inner, r.script(inner)...)
	}
	for _, c := range s.calls {
		r.call(c)
	}
	words := slices.Clone(s.words)
	for i, w := range words {
		for _, run := range w.runs {
			words[i].outputs = append(words[i].outputs, r.script(run)...)
		}
	}
	if len(words) == 0 && len(s.redirects) > 0 { // > file
		r.found = append(r.found, &Command{Writes: in.writes, Reads: in.reads})
	}
	r.command(words, in)
}

// redirect adds a redirection.
func (in *shellContext) redirect(r *shellRedirect) {
	switch target := r.target.text; r.op {
	case ">", ">>", ">|", ">&":
		in.writes = append(in.writes, target)
	case "<", "<&":
		in.reads = append(in.reads, target)
	case "<>":
		in.reads, in.writes = append(in.reads, target), append(in.writes, target)
	case "<<", "<<-":
		in.stdin = r.body
	case "<<<":
		in.stdin = target + "\n"
	}
}

// pipedText is what is known of the output of the last of the stages.
func pipedText(stages []*shellStage) string {
	if len(stages) == 0 {
		return ""
	}
	s := stages[len(stages)-1]
	stages = stages[max(0, len(stages)-8):] // far enough
	if len(s.words) == 0 {
		return ""
	}
	switch programOf(s.words[0].text) {
	case "echo", "printf":
		var texts []string
		for _, w := range s.words[1:] {
			texts = append(texts, w.text)
		}
		return strings.ReplaceAll(strings.Join(texts, " "), `\n`, "\n") + "\n"
	case "cat", "tee":
		for _, redirect := range s.redirects {
			if strings.HasPrefix(redirect.op, "<<") {
				return redirect.body + redirect.target.text
			}
		}
		return pipedText(stages[:len(stages)-1])
	}
	return ""
}

// programOf is the base name of a program, in lower case.
func programOf(word string) string {
	if word == "" {
		return ""
	}
	word = strings.ToLower(strings.ReplaceAll(word, `\`, "/"))
	return strings.TrimSuffix(path.Base(word), ".exe")
}

// isAssignment reports whether a word sets a variable for the command behind it.
func isAssignment(w shellWord) bool {
	name, _, ok := strings.Cut(w.text, "=")
	name = strings.TrimSuffix(name, "+")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == "" &&
		(name[0] < '0' || name[0] > '9')
}

// command collects a command and the commands that it runs.
func (r *shellReader) command(words []shellWord, in shellContext) {
	if r.depth++; r.depth > maxShellDepth {
		r.effort.tooMuch = true
	}
	defer func() { r.depth-- }()
	assigns := false
	for len(words) > 0 && isAssignment(words[0]) {
		words, assigns = words[1:], true
	}
	if len(words) == 0 || !r.effort.spend(len(words)+len(in.before)+len(in.writes)+len(in.reads)) {
		return
	}
	c := &Command{
		Program: programOf(words[0].text), words: words, Stdin: in.stdin,
		Writes: slices.Clone(in.writes), Reads: slices.Clone(in.reads), Assigns: assigns,
	}
	for _, w := range words[1:] {
		c.Args = append(c.Args, w.text)
	}
	r.found = append(r.found, c)

	switch {
	case shells[c.Program]:
		r.shell(c, in.before)
	case c.Program == "eval", c.Program == "iex", c.Program == "invoke-expression":
		c.executes(words[1:]...)
		if c.Program != "eval" {
			c.Executes = append(append(c.Executes, in.before...), in.inner...)
		}
		c.Executes = append(c.Executes, r.text(strings.Join(c.Args, " "))...)
	case c.Program == "source", c.Program == ".":
		c.executes(words[1:min(len(words), 2)]...)
		if len(c.Args) > 0 && isStdin(c.Args[0]) {
			c.Executes = append(c.Executes, in.before...)
		}
	case interpreters[interpreterOf(c.Program)]:
		r.interpreter(c, in.before)
	case c.Program == "find":
		r.find(words[1:], in)
	default:
		for _, script := range scriptArgs(c) {
			r.text(script)
		}
		if n, ok := wrapped(c); ok && n < len(words) {
			r.command(words[n:], in)
		}
	}
}

// executes adds the commands whose output stands in the words to what the command runs.
func (c *Command) executes(words ...shellWord) {
	for _, w := range words {
		c.Executes = append(c.Executes, w.outputs...)
	}
}

// isStdin reports whether a file is the standard input.
func isStdin(file string) bool {
	return file == "-" || file == "/dev/stdin" || file == "/dev/fd/0" || file == "/proc/self/fd/0"
}

// shells read programs in the language read here.
var shells = kit.Set("sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash")

// shell collects what a shell runs: the text behind -c, else its input if it is given no file.
func (r *shellReader) shell(c *Command, before []*Command) {
	stdin := false
	for i := 0; i < len(c.Args); i++ {
		arg := c.Args[i]
		switch {
		case isStdin(arg):
			stdin = true
			i = len(c.Args)
		case arg == "--", strings.HasPrefix(arg, "+"):
		case arg == "--rcfile", arg == "--init-file":
			i++
		case strings.HasPrefix(arg, "--"):
		case len(arg) > 1 && arg[0] == '-' && strings.Contains(arg, "c"):
			for j := i + 1; j < len(c.Args); j++ {
				if len(c.Args[j]) < 2 || c.Args[j][0] != '-' && c.Args[j][0] != '+' {
					c.executes(c.words[j+1])
					c.Executes = append(c.Executes, r.text(c.Args[j])...)
					return
				}
			}
			return
		case len(arg) > 1 && arg[0] == '-':
			stdin = stdin || strings.Contains(arg, "s")
			if strings.HasSuffix(strings.ToLower(arg), "o") {
				i++ // its value
			}
		default: // a file, or a substitution in its place
			c.executes(c.words[i+1])
			if !stdin {
				return
			}
			i = len(c.Args)
		}
	}
	c.Executes = append(append(c.Executes, before...), r.text(c.Stdin)...)
}

// interpreters read programs in other languages.
var interpreters = kit.Set("python", "perl", "ruby", "node", "nodejs", "php", "lua", "deno", "bun", "osascript", "pwsh", "powershell", "rscript", "tclsh")

// interpreterOf is the name of an interpreter without its version.
func interpreterOf(program string) string { return strings.TrimRight(program, "0123456789.-") }

// interpreter collects what is piped into an interpreter that is given no program.
func (r *shellReader) interpreter(c *Command, before []*Command) {
	for i, arg := range c.Args {
		switch {
		case isStdin(arg):
		case len(arg) > 1 && arg[0] == '-' && strings.ContainsAny(arg, "cemrCEF"): // a program, a module, a file
			c.executes(c.words[i+1:]...)
			if i+1 < len(c.Args) {
				r.text(c.Args[i+1])
			}
			return
		case len(arg) > 1 && arg[0] == '-':
			continue
		default:
			c.executes(c.words[i+1])
			return
		}
		break
	}
	c.Executes = append(append(c.Executes, before...), r.text(c.Stdin)...)
}

// find collects the commands that find runs.
func (r *shellReader) find(args []shellWord, in shellContext) {
	for i := 0; i < len(args); i++ {
		switch args[i].text {
		case "-exec", "-execdir", "-ok", "-okdir":
			command := args[i+1:]
			if end := slices.IndexFunc(command, func(w shellWord) bool { return w.text == ";" || w.text == "+" }); end >= 0 {
				command = command[:end]
			}
			i += len(command)
			r.command(command, shellContext{writes: in.writes, reads: in.reads})
		}
	}
}

// call collects what a call in another language would run: each of its texts as a script, and all of them as the
// words of one command. What only prints its arguments runs nothing.
func (r *shellReader) call(c shellCall) {
	name := c.name[strings.LastIndexAny(c.name, ".:>=")+1:]
	if printing[strings.ToLower(name)] {
		return
	}
	words := make([]shellWord, len(c.texts))
	for i, text := range c.texts {
		words[i] = shellWord{text: text, quoted: true}
		r.text(text)
	}
	if len(words) > 1 {
		r.command(words, shellContext{})
	}
}

// printing are functions that show a text.
var printing = kit.Set("print", "println", "printf", "fprintf", "sprintf", "puts", "log", "info", "debug", "warn", "warning",
	"error", "echo", "format", "len", "write", "assert", "includes", "contains", "startswith", "endswith", "compile", "match", "search", "values")
