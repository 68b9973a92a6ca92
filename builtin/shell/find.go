package shell

import (
	"regexp"
	"slices"
	"strings"
)

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
