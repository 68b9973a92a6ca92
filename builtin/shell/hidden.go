package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// hidden reads the commands in the arguments, the input and the environment of programs that have another purpose, for
// example tar -I 'rm -rf x'. A rule that allows does not need them: what a program does itself is covered by its glob.
func (r *reader) hidden(c *Command, in flow) {
	r.options(c)
	if g, at := grammarOf(c.words); g != nil && c.Program != "git" {
		texts, operands := r.judge(g, c.words[1+at:])
		r.checkTexts(c.Program, texts, operands)
	}
	if r.strict {
		if scriptFirst[c.Program] && escapesToShell[c.Program] && slices.ContainsFunc(c.Args, shellEscape.MatchString) {
			r.refuse(errUnreadable)
		}
		escapes := commandEscapes[c.Program]
		if escapes != nil && (slices.ContainsFunc(c.Args, escapes.MatchString) || escapes.MatchString(c.Stdin)) {
			r.refuse(errUnreadable)
		}
		return
	}
	if !r.spend(len(c.Stdin)) {
		return
	}
	if sqlClients[c.Program] {
		for _, arg := range c.Args { // psql -f x.sql
			if content := r.files[path.Clean(arg)].content; content != "" && r.spend(len(c.Stdin)+len(content)) {
				c.Stdin += content
			}
		}
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

// value reads the value of an option or of a variable whose value is a command.
func (r *reader) value(text string) {
	text = strings.TrimLeft(text, "=!| ")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "commands="), "command=")
	if strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") { // of aws ssm send-command
		r.foreign("run(" + text + ")")
		return
	}
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

	// commandEscapes match the commands that run others in the arguments and the input of programs, for rules that allow.
	commandEscapes = map[string]*regexp.Regexp{
		"ed": bang, "red": bang, "ex": bang, "vi": bang, "vim": bang, "nvim": bang, "ftp": bangOrPipe, "sftp": bangOrPipe,
		"make": makeSetting, "gmake": makeSetting, "psql": psqlEscape, "dc": bang, "sqlite3": sqliteEscape,
		"mysql": mysqlEscape, "mariadb": mysqlEscape,
	}
	bang         = regexp.MustCompile(`!`)
	bangOrPipe   = regexp.MustCompile(`[!|]`)
	makeSetting  = regexp.MustCompile(`(?s)^[^=]*=.*[$\x60]|^\.?(?:SHELL\w*|MAKE\w*|GNUMAKEFLAGS)[:+?!]*=`)
	psqlEscape   = regexp.MustCompile("(?i)\\\\!|\\\\[a-z][^|\n]*[|]|`|\\bprogram\\s*(?:e?'|[$]|u&)")
	mysqlEscape  = regexp.MustCompile(`(?im)\\[!ep.]|^\s*(?:system|pager|edit|source)\b|^--pager`)
	sqliteEscape = regexp.MustCompile(`(?im)^\s*\.(?:sh?|she\w*|sy\w*|loa?d?|e|ex\w*|w\w*)\b|^\s*\.\w+\s.*\||` +
		`^-(?:init|cmd)|load_extension|edit\s*\(`)

	cronTime = regexp.MustCompile(`^\s*(?:@\w+|(?:[-0-9*/,A-Za-z]+\s+){5})`)
)

// makefile reads the recipes that make receives as input or that the text has written.
func (r *reader) makefile(c *Command) {
	texts := []string{c.Stdin}
	for _, w := range c.words {
		texts = append(texts, w.content)
	}
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
