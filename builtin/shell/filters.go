package shell

import (
	"regexp"
	"slices"
	"strings"
)

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
