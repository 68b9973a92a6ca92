package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// A Command is a program with its arguments, as a shell would run it. For example, the text "sudo /bin/rm 'a b' > log"
// contains the commands sudo and rm; rm has the argument "a b" and writes to log. Quotes are removed. Variables are not
// expanded, so $HOME remains $HOME.
type Command struct {
	Program string   // the base name in lower case: "rm" for \rm, "rm" and /bin/RM
	Args    []string // in order
	Writes  []string // the files to which output is redirected
	Reads   []string // the files from which input is redirected
	Stdin   string   // the input, if known: a here-document, a here-string or the output of a preceding echo

	// Executes are the commands whose output the command runs as a program. For example, in "curl x | sh" the shell
	// executes the output of curl. The output can also be substituted into sh -c, eval or source.
	Executes []*Command

	words   []shellWord // Program and Args as they were parsed
	Assigns bool        // the command sets variables, as in A=b make
}

// Line returns the command as written, with one blank between words and without quotes.
func (c *Command) Line() string {
	words := make([]string, len(c.words))
	for i, w := range c.words {
		words[i] = w.text
	}
	return strings.Join(words, " ")
}

// Parse returns every command that a shell would run for the text, including commands nested in other commands. It
// never fails on malformed text. It reports false if the text is too deeply nested or too large to be parsed fully.
func Parse(text string) ([]*Command, bool) {
	r := newCollector(len(text))
	r.text(text)
	return r.found, !r.budget.exceeded
}

// ParseWords returns the commands in the words of one command, for example the arguments of a process. Words that could
// be scripts, as in ["sh", "-c", "rm -rf /"], are parsed too. Like [Parse], it reports false if a text is too deeply
// nested or too large.
func ParseWords(words []string) ([]*Command, bool) {
	size := 0
	quoted := make([]shellWord, len(words))
	for i, w := range words {
		quoted[i] = shellWord{text: w, quoted: true}
		size += len(w)
	}
	r := newCollector(size)
	r.command(quoted, stageContext{})
	for _, w := range words {
		if strings.ContainsAny(w, " \t\n;|&") {
			r.text(w)
		}
	}
	return r.found, !r.budget.exceeded
}

// newCollector returns a collector for texts of size bytes in total.
func newCollector(size int) *collector {
	return &collector{budget: &workBudget{remaining: 1<<20 + 64*size}}
}

// A collector gathers the commands of parsed scripts, in the order of their positions.
type collector struct {
	found  []*Command
	depth  int
	budget *workBudget
}

// text parses a text as a script and returns its commands.
func (r *collector) text(text string) []*Command {
	if r.depth++; r.depth > maxDepth || !r.budget.spend(len(text)) {
		r.budget.exceeded = true
		return nil
	}
	defer func() { r.depth-- }()
	return r.script(parseScript(text, r.depth, r.budget))
}

// script returns the commands of a script.
func (r *collector) script(script shellScript) []*Command {
	start := len(r.found)
	for _, pipe := range script {
		var before []*Command
		for i, stage := range pipe {
			if r.budget.exceeded {
				return nil
			}
			from := len(r.found)
			r.stage(stage, pipe[:i], before)
			before = append(before, r.found[from:]...)
		}
	}
	return slices.Clone(r.found[start:])
}

// A stageContext holds the properties that a command inherits from its stage of the pipeline.
type stageContext struct {
	stdin  string     // the input, if known
	before []*Command // the commands whose output is the input
	inner  []*Command // the commands in parentheses after the words
	writes []string
	reads  []string
}

// stage collects the commands of one stage. stages are the preceding stages, and before their commands.
func (r *collector) stage(s *shellStage, stages []*shellStage, before []*Command) {
	in := stageContext{stdin: pipedText(stages), before: slices.Clip(before)}
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

// redirect records a redirection.
func (in *stageContext) redirect(r *shellRedirect) {
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

// pipedText returns the output of the last of the stages if the text contains it, as in echo 'rm -rf x' | sh.
func pipedText(stages []*shellStage) string {
	if len(stages) == 0 {
		return ""
	}
	s := stages[len(stages)-1]
	stages = stages[max(0, len(stages)-8):] // bounds the recursion through cat and tee
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

// programOf returns the base name of a program in lower case.
func programOf(word string) string {
	if word == "" {
		return ""
	}
	word = strings.ToLower(strings.ReplaceAll(word, `\`, "/"))
	return strings.TrimSuffix(path.Base(word), ".exe")
}

// isAssignment reports whether a word sets a variable, as in A=b.
func isAssignment(w shellWord) bool {
	name, _, ok := strings.Cut(w.text, "=")
	name = strings.TrimSuffix(name, "+")
	return ok && name != "" && strings.Trim(name,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == "" &&
		(name[0] < '0' || name[0] > '9')
}

// command collects a command and the commands that the command runs, for example the rm in sudo rm.
func (r *collector) command(words []shellWord, in stageContext) {
	if r.depth++; r.depth > maxDepth {
		r.budget.exceeded = true
	}
	defer func() { r.depth-- }()
	assigns := false
	for len(words) > 0 && isAssignment(words[0]) {
		words, assigns = words[1:], true
	}
	if len(words) == 0 || !r.budget.spend(len(words)+len(in.before)+len(in.writes)+len(in.reads)) {
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

// executes records that the command runs the output of the substitutions in words.
func (c *Command) executes(words ...shellWord) {
	for _, w := range words {
		c.Executes = append(c.Executes, w.outputs...)
	}
}

// isStdin reports whether a file is the standard input.
func isStdin(file string) bool {
	return file == "-" || file == "/dev/stdin" || file == "/dev/fd/0" || file == "/proc/self/fd/0"
}

// shells are programs that run shell scripts.
var shells = kit.Set("sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash")

// shell collects the commands that a shell runs: the text after -c, or else the standard input unless a file is given.
func (r *collector) shell(c *Command, before []*Command) {
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
				i++ // the value of the option
			}
		default: // a script file, or a process substitution
			c.executes(c.words[i+1])
			if !stdin {
				return
			}
			i = len(c.Args)
		}
	}
	c.Executes = append(append(c.Executes, before...), r.text(c.Stdin)...)
}

// interpreters are programs that run scripts in other languages.
var interpreters = kit.Set("python", "perl", "ruby", "node", "nodejs", "php", "lua", "deno", "bun", "osascript", "pwsh",
	"powershell", "rscript", "tclsh")

// interpreterOf returns the name of a program without a version: python for python3.12.
func interpreterOf(program string) string { return strings.TrimRight(program, "0123456789.-") }

// interpreter records the commands whose output an interpreter runs, and collects the commands in its script.
func (r *collector) interpreter(c *Command, before []*Command) {
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
func (r *collector) find(args []shellWord, in stageContext) {
	for i := 0; i < len(args); i++ {
		switch args[i].text {
		case "-exec", "-execdir", "-ok", "-okdir":
			command := args[i+1:]
			if end := slices.IndexFunc(command, func(w shellWord) bool { return w.text == ";" || w.text == "+" }); end >= 0 {
				command = command[:end]
			}
			i += len(command)
			r.command(command, stageContext{writes: in.writes, reads: in.reads})
		}
	}
}

// call collects the commands in a call of another language, for example subprocess.run(["rm", "-rf", "/"]). Each text
// is parsed as a script, and all texts together as the words of one command. Functions that only print are ignored.
func (r *collector) call(c shellCall) {
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
		r.command(words, stageContext{})
	}
}

// printing are the names of functions that only display or compare texts.
var printing = kit.Set("print", "println", "printf", "fprintf", "sprintf", "puts", "log", "info", "debug", "warn",
	"warning",
	"error", "echo", "format", "len", "write", "assert", "includes", "contains", "startswith", "endswith", "compile",
	"match", "search", "values")
