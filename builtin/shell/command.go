package shell

import (
	"path"
	"slices"
	"strings"
)

// A Command is a program with its arguments, as a shell would run it. For example, the text "sudo /bin/rm 'a b' > log"
// contains the commands sudo and rm; rm has the argument "a b" and writes to log. Quotes are removed. A variable that
// the text assigns is replaced with its value; any other variable remains, for example $HOME.
type Command struct {
	Program string   // the base name in lower case: "rm" for \rm, "rm" and /bin/RM; "" for a redirection alone
	Args    []string // in order
	Writes  []string // the files to which output is redirected
	Reads   []string // the files from which input is redirected
	Stdin   string   // the input, if known: a here-document, a here-string or the output of a preceding echo

	// Executes are the commands whose output the command runs as a program. For example, in "curl x | sh" the shell
	// executes the output of curl. The output can also be substituted into sh -c, eval or source.
	Executes []*Command

	words     []word // Program and Args as written
	dirs      []string
	input     []*Command // the commands whose output is the input
	parent    *Command   // the command that runs this one, for example sudo
	forks     bool       // the command is a function that calls itself in the background or in a pipeline
	concealed bool       // the output is a text that the command decodes or changes in an unknown way
	opaque    bool       // the command runs code that can run others, and that is not read here
	empties   []string   // the files of Writes that are emptied first
}

// Parse returns every command that a shell would run for the text, including commands nested in other commands. A text
// that bash and dash understand differently yields the commands of both. Text that is not valid shell, for example of
// another language, is searched for commands. Parse reports false if the text is too large or too deeply nested.
func Parse(text string) ([]*Command, bool) {
	return readAll(len(text), func(r *reader) { r.text(text) })
}

// ParseWords returns the commands in the words of one command, for example the arguments of a process. Words that could
// be scripts, as in ["sh", "-c", "rm -rf /"], are parsed too. Like [Parse], it reports false if a text is too large or
// too deeply nested.
func ParseWords(words []string) ([]*Command, bool) {
	text := strings.Join(words, " ")
	operator := func(w string) bool { return slices.Contains([]string{"|", "||", "&&", "&", ";", ">", ">>"}, w) }
	return readAll(len(text), func(r *reader) {
		r.command(staticWords(words), flow{})
		for _, w := range words {
			if strings.ContainsAny(w, " \t\n;|&") {
				r.text(w)
			}
		}
		if slices.ContainsFunc(words, operator) { // the tool joins the words, or the model believes that it does
			r.text(text)
		}
	})
}

// readAll reads a text of size bytes in each language, and returns the distinct commands.
func readAll(size int, read func(*reader)) (found []*Command, ok bool) {
	for _, lang := range AnyShell.variants() {
		r := newReader(lang, size)
		read(r)
		if r.exceeded {
			return r.found, false
		}
		if !slices.EqualFunc(found, r.found, sameCommand) {
			found = append(found, r.found...)
		}
	}
	return found, true
}

func sameCommand(a, b *Command) bool {
	return a.Program == b.Program && slices.Equal(a.Args, b.Args) && slices.Equal(a.Writes, b.Writes) &&
		slices.Equal(a.Reads, b.Reads) && a.Stdin == b.Stdin && len(a.Executes) == len(b.Executes)
}

// programOf returns the base name of a program in lower case. A variable that usually names a program counts as this
// program: $SHELL is a shell.
func programOf(word string) string {
	if word == "" {
		return ""
	}
	name := strings.TrimSuffix(path.Base(strings.ToLower(strings.ReplaceAll(word, `\`, "/"))), ".exe")
	if name == "$shell" || name == "$bash" {
		return "sh"
	}
	return name
}

// isUnknown reports whether the program is known only when the command runs.
func (c *Command) isUnknown() bool {
	return strings.ContainsAny(c.Program, "$*?") || len(c.Program) > 2 && strings.Contains(c.Program, "[") ||
		c.Program == "<()"
}

// isStdin reports whether a file is the standard input.
func isStdin(file string) bool {
	return file == "-" || file == "/dev/stdin" || file == "/dev/fd/0" || file == "/proc/self/fd/0"
}

// A flow holds the properties that a command inherits from the commands around it.
type flow struct {
	stdin   string     // the input, if known
	before  []*Command // the commands whose output is the input
	writes  []string
	reads   []string
	empties []string
	parent  *Command
}
