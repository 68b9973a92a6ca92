package shell

import (
	"regexp"
	"slices"
	"strings"
)

// find reads the commands that find or fd run.
func (r *reader) find(c *Command, in flow) {
	in.stdin, in.before = "", nil
	for i := 0; i < len(c.Args); i++ {
		joined, ok := executesFound(c.Program, c.Args[i])
		if !ok {
			continue
		}
		command := c.words[i+2:]
		end := slices.IndexFunc(command, func(w word) bool { return w.text == ";" })
		if c.Program == "find" {
			for at := 1; at < len(command) && (end < 0 || at < end); at++ {
				if command[at].text == "+" && command[at-1].text == "{}" {
					end = at
				}
			}
		}
		if end >= 0 {
			command = command[:end]
		}
		i += len(command)
		if joined != "" {
			command = append([]word{{text: joined, glob: joined}}, command...)
		}
		if r.strict && insertsCode(c.Program, command) {
			r.refuse(errUnreadable)
		}
		r.command(command, in)
	}
	r.refuseDynamic(c)
}

// executesFound reports whether an argument of find or fd begins a command, and returns the program if it is a part of
// the argument, as in fd --exec=rm.
func executesFound(program, arg string) (joined string, ok bool) {
	if program == "find" {
		return "", slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, arg)
	}
	if name, value, _ := strings.Cut(arg, "="); strings.HasPrefix(arg, "--") {
		return value, name == "--exec" || name == "--exec-batch"
	}
	if len(arg) < 2 || arg[0] != '-' {
		return "", false
	}
	at := strings.IndexAny(arg, "xXdeEtcjSo") // x and X, or other letters with a value
	if at < 0 || arg[at] != 'x' && arg[at] != 'X' {
		return "", false
	}
	return strings.TrimPrefix(arg[at+1:], "="), true
}

// placeholder matches the words that find and fd replace with the name of a file.
var placeholder = regexp.MustCompile(`\{(/?|//|\.|/\.)\}`)

// insertsCode reports whether the name of a file can become a part of a script or of a program's name. For example,
// find -exec sh -c 'git log {}' runs reboot for a file named "a;reboot".
func insertsCode(finder string, command []word) bool {
	if len(command) == 0 {
		return false
	}
	isPlaceholder := func(w word) bool { return placeholder.MatchString(w.text) }
	if finder != "find" && !slices.ContainsFunc(command, isPlaceholder) {
		command = append(slices.Clone(command), word{text: "{}", glob: "{}"})
	}
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

// refuseDynamic refuses arguments of unknown value for a program that could run them.
func (r *reader) refuseDynamic(c *Command) {
	if r.strict && !allStatic(c.words) {
		r.refuse(errUnreadable)
	}
}
