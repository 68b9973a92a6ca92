package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// hidden reads the commands in the arguments, the input and the environment of programs that have another purpose, for
// example tar -I 'rm -rf x'. A rule that allows does not need them: what a program does itself is covered by its glob.
func (r *reader) hidden(c *Command, in flow) {
	r.options(c)
	if r.strict {
		if scriptFirst[c.Program] && escapesToShell[c.Program] && slices.ContainsFunc(c.Args, shellEscape.MatchString) {
			r.refuse(errUnreadable)
		}
		return
	}
	if !r.spend(len(c.Stdin)) {
		return
	}
	for _, value := range (wrapper{script: executingOptions[c.Program]}).scripts(c.Args, c.Args) {
		r.value(value)
	}
	switch {
	case evaluatesNumbers[c.Program], c.Program == "printf" && len(c.Args) > 0 && strings.HasPrefix(c.Args[0], "-v"):
		for _, arg := range c.Args {
			r.document(arg)
		}
	case escapesToShell[c.Program]:
		for _, text := range c.texts() {
			for _, m := range shellEscape.FindAllStringSubmatch(text, -1) {
				r.text(strings.TrimRight(m[1], `"')`))
			}
			if strings.Contains(text, "(") {
				r.foreign(text)
			}
		}
	case c.Program == "crontab":
		c.executesOutput(in.before)
		for _, text := range c.texts() {
			for line := range strings.Lines(text) {
				r.text(cronTime.ReplaceAllString(line, ""))
			}
		}
	case c.Program == "make" || c.Program == "gmake":
		c.executesOutput(in.before)
		r.makefile(c)
	}
}

// executingOptions are the options of programs whose value is a command, apart from those that executingOption matches.
var executingOptions = map[string][]string{
	"tar": {"-I", "-F", "--use-compress-program", "--to-command", "--checkpoint-action", "--info-script",
		"--new-volume-script", "--rmt-command", "--rsh-command"},
	"sort": {"--compress-program"}, "split": {"--filter"}, "zip": {"-TT", "--unzip-command"}, "tcpdump": {"-z"},
	"rsync": {"-e", "--rsh", "--rsync-path"}, "scp": {"-S", "-o"}, "sftp": {"-S", "-o"}, "ssh": {"-o"},
	"man": {"-P", "--pager"}, "wget": {"--use-askpass"}, "nano": {"-s", "--speller"}, "git": {"-u", "-O",
		"--open-files-in-pager"},
	"go": {"-exec", "-toolexec", "-vettool"}, "make": {"--eval", "-E"}, "gmake": {"--eval", "-E"},
	"rg": {"--pre"}, "ag": {"--pager"}, "fzf": {"--preview"}, "nodemon": {"-x", "--exec"}, "capsh": {"-c"},
	"ansible": {"-a", "--args"}, "gcloud": {"--command"},
	"mapfile": {"-C"}, "readarray": {"-C"}, "complete": {"-C"}, "compgen": {"-C", "-W"},
}

// value reads the value of an option or of a variable whose value is a command.
func (r *reader) value(text string) {
	text = strings.TrimLeft(text, "=!| ")
	if m := executingOption.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	r.text(strings.TrimPrefix(text, "exec="))
}

// texts returns the arguments of a command, its input, and the contents of substitutions such as <(echo x).
func (c *Command) texts() (list []string) {
	for _, w := range c.words[1:] {
		if list = append(list, w.text); w.content != "" {
			list = append(list, w.content)
		}
	}
	return append(list, c.Stdin)
}

var (
	// evaluatesNumbers are commands of the shell that run the substitutions in a text if they expect a number or the
	// name of a variable. For example, bash runs reboot for test -v 'a[$(reboot)]'.
	evaluatesNumbers = kit.Set("test", "[", "let", "unset", "read", "declare", "typeset", "local", "mapfile",
		"readarray", "wait", "getopts", "compgen")

	// escapesToShell are programs with a command that runs others, for example ! in an editor.
	escapesToShell = kit.Set("ed", "red", "ex", "vi", "vim", "view", "nvim", "less", "more", "ftp", "sftp", "dc", "gdb",
		"lldb", "sqlite3", "psql", "mysql", "mariadb", "gnuplot", "ghci", "bind")

	shellEscape = regexp.MustCompile(`(?im)(?:!+|\.(?:shell|system)\s|(?:^|\s)(?:shell|system|term|terminal)\s|` +
		`from\s+program\s*'|^"[^"]*":)\s*([^!\s][^\n]*)`)

	cronTime = regexp.MustCompile(`^\s*(?:@\w+|(?:[-0-9*/,A-Za-z]+\s+){5})`)
)

// document reads the substitutions in a text that the shell expands like a here-document, for example the value of PS4.
func (r *reader) document(text string) {
	if !strings.ContainsAny(text, "$`") || !r.spend(parseCost*len(text)) {
		return
	}
	r.text("<<X\n" + strings.ReplaceAll(text, "\nX\n", "\n") + "\nX")
}

// expanded reads the substitutions in the values of the variables that an expression evaluates, as in x='a[$(reboot)]';
// echo $((x)).
func (r *reader) expanded(expression syntax.Node) {
	if r.strict || isNil(expression) {
		return
	}
	syntax.Walk(expression, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			r.document(r.values[n.Value])
		case *syntax.SglQuoted:
			r.document(n.Value)
		case *syntax.ParamExp:
			if n.Param != nil {
				r.document(r.values[n.Param.Value])
			}
		}
		return true
	})
}

// documentVariables are variables whose values shells expand before they use them.
var documentVariables = kit.Set("ENV", "BASH_ENV", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND")

// commandVariable matches the names of environment variables whose values are commands.
var commandVariable = regexp.MustCompile(`^(?:[A-Z0-9_]*(?:PAGER|EDITOR|BROWSER|ASKPASS|WRAPPER|_RSH|_SSH|_COMMAND)|` +
	`VISUAL|FCEDIT|LESSOPEN|LESSCLOSE|GIT_EXTERNAL_DIFF|GIT_CONFIG_VALUE_[0-9]+|MAKEFLAGS|CC|CXX|LD|SHELL)$`)

// variable reads the commands in the value of an environment variable.
func (r *reader) variable(name, value string) {
	switch {
	case documentVariables[name]:
		r.document(value)
		r.text(value)
	case commandVariable.MatchString(name):
		r.value(value)
	}
}

// environment reads the variables and functions that env receives as arguments.
func (r *reader) environment(word string) {
	name, value, _ := strings.Cut(word, "=")
	if function, ok := strings.CutPrefix(name, "BASH_FUNC_"); ok {
		r.text(strings.TrimRight(function, "%()") + value)
		return
	}
	r.variable(name, value)
}

// makefile reads the recipes that make receives as input or that the text has written.
func (r *reader) makefile(c *Command) {
	texts := []string{c.Stdin}
	for _, name := range append([]string{"Makefile", "makefile", "GNUmakefile"}, c.Args...) {
		texts = append(texts, r.files[path.Clean(name)].content)
	}
	for _, arg := range c.Args {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.Contains(value, " ") {
			texts = append(texts, value) // SHELL=..., --eval=...
		}
	}
	for _, text := range texts {
		r.foreign(text)
	}
}

var (
	awkSeparator = regexp.MustCompile(`(?m)^(?:-F|--field-separator)[\n=]?.*$`)
	awkLiteral   = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	awkRuns      = regexp.MustCompile(`\bsystem\b|\bgetline\b|\|`)
	awkCommand   = regexp.MustCompile(`\bsystem\b|"\s*\|\s*getline|\|\s*"`)
	awkFile      = regexp.MustCompile(`>\s*"([^"]*)"`)
)

// awk reads the commands that a program of awk runs. Their texts can be joined, come from -v, or be lines of the input.
func (r *reader) awk(c *Command, in flow) {
	program := awkSeparator.ReplaceAllString(strings.Join(c.Args, "\n"), "")
	if slices.Contains(c.Args, "-f") {
		program += "\n" + c.Stdin
	}
	for _, m := range awkFile.FindAllStringSubmatch(program, -1) {
		c.Writes = append(c.Writes, m[1])
	}
	switch {
	case !awkRuns.MatchString(program):
		return
	case r.strict:
		if awkCommand.MatchString(program) {
			r.refuse(errUnreadable)
		}
		return
	}
	r.foreign(program)
	joined := ""
	for _, m := range awkLiteral.FindAllStringSubmatch(program, -1) {
		text := unescape(m[1], false)
		r.text(text)
		joined += text
	}
	r.text(joined)
	for i, arg := range c.Args {
		if _, value, ok := strings.Cut(arg, "="); ok && i > 0 && c.Args[i-1] == "-v" {
			r.text(value)
		}
	}
	c.executesOutput(in.before)
	r.stdinScript(c)
}

var (
	// sedExecutes matches the command e of GNU sed, which runs a command, or the lines of the input.
	sedExecutes = regexp.MustCompile(`(?m)(?:^|[;{}]|[0-9$/!,#|])[ \t]*e(?:[ \t]+([^\n]+)|[ \t]*(?:$|[;}]))`)
	sedWrites   = regexp.MustCompile(`(?m)(?:^|[;{}]|[0-9$/!,#|gpIiMm])[ \t]*[wW][ \t]*(/[^\n;}]+)`)
	sedReplaces = regexp.MustCompile(`s[/#|,@:]`)
)

// sed reads the commands that a script of sed runs, and the files that it writes.
func (r *reader) sed(c *Command, in flow) {
	for _, text := range c.texts() {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "--expression="), "-e")
		for _, m := range sedWrites.FindAllStringSubmatch(text, -1) {
			c.Writes = append(c.Writes, strings.TrimSpace(m[1]))
		}
		runs := false
		for _, m := range sedExecutes.FindAllStringSubmatch(text, -1) {
			runs = true
			r.text(m[1])
		}
		for _, at := range sedReplaces.FindAllStringIndex(text, -1) {
			replacement, flags := substitution(text[at[1]:], text[at[1]-1])
			if strings.Contains(flags, "e") {
				runs = true
				r.text(replacement)
			}
		}
		if runs {
			c.executesOutput(in.before)
			r.stdinScript(c)
		}
	}
}

// substitution returns the replacement and the flags of the command s of sed, without its first delimiter.
func substitution(text string, delimiter byte) (replacement, flags string) {
	var parts [3]strings.Builder
	part := 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
			parts[part].WriteByte(text[i])
		case text[i] == delimiter && part < 2:
			part++
		case part == 2 && strings.IndexByte("0123456789egipIMm", text[i]) < 0:
			return parts[1].String(), parts[2].String()
		default:
			parts[part].WriteByte(text[i])
		}
	}
	return parts[1].String(), parts[2].String()
}

// printed reads the texts that a script of another language could print.
func (r *reader) printed(c *Command) {
	if !interpreters[interpreterOf(c.Program)] && !scriptFirst[c.Program] {
		return
	}
	for _, arg := range c.Args {
		if !r.spend(len(arg)) {
			return
		}
		for _, m := range printedLiteral.FindAllStringSubmatch(arg, -1) {
			r.text(unescape(m[1]+m[2]+m[3], true))
		}
	}
}

// printedLiteral matches a literal of another language, and the replacement of sed.
var printedLiteral = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|s/[^/]*/((?:[^/\\]|\\.)*)/`)

// renames notes that later commands can run a program under another name, for example after cp /bin/rm x.
func (r *reader) renames(c *Command) {
	switch c.Program {
	case "alias":
		for _, arg := range c.Args {
			if name, value, ok := strings.Cut(arg, "="); ok {
				r.names[strings.ToLower(name)] = strings.Fields(value)
			}
		}
	case "cp", "ln", "mv", "install", "hash":
		args := slices.DeleteFunc(slices.Clone(c.Args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
		if len(args) == 2 && dangerous[programOf(args[0])] {
			r.names[programOf(args[1])] = args[:1]
		}
	}
}

// renamed reads a command under the name that a program had before.
func (r *reader) renamed(c *Command, in flow) {
	if to := r.names[c.Program]; len(to) > 0 {
		delete(r.names, c.Program) // an alias does not contain itself
		r.command(slices.Concat(staticWords(to), c.words[1:]), in)
		r.names[c.Program] = to
	}
	if body := r.functions[c.Program]; body != nil && len(c.Args) > 0 {
		delete(r.functions, c.Program)
		lists := [2][]string{r.lists["@"], r.lists["*"]}
		r.lists["@"], r.lists["*"] = c.Args, c.Args
		r.stmt(body, in)
		r.lists["@"], r.lists["*"] = lists[0], lists[1]
		r.functions[c.Program] = body
	}
}
