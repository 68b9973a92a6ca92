package main

import (
	"fmt"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A generateLine is a go:generate line that runs hookgen, or that was probably meant to.
type generateLine struct {
	pos     token.Position
	dir     string // of the spec that it generates from
	out     string // of -o; "" if it is not given
	problem string // why go generate or hookgen check cannot use the line, with the remedy; "" if they can
}

const (
	generatePrefix   = "//go:generate"
	suggestedLine    = "//go:generate go tool hookgen"
	ruleGenerateLine = "generate-line"
)

// generateSlip matches a line that go generate ignores because of its blanks.
var generateSlip = regexp.MustCompile(`^[ \t]*//[ \t]*go:generate[ \t]`)

// generateLines returns the go:generate lines of a Go file that concern hookgen. Lines for other tools, and lines that
// run another command of hookgen, are left out.
func generateLines(file string, text []byte) []generateLine {
	var all []generateLine
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		found := generateLine{pos: token.Position{Filename: file, Line: number, Column: strings.Index(line, "//") + 1}}
		if found.read(strings.TrimRight(line, "\r\n")) {
			all = append(all, found)
		}
	}
	return all
}

// read sets the fields of a go:generate line but its position, and reports whether the line concerns hookgen. Quotes,
// variables and commands that the file defines are a problem, because only go generate expands them.
func (g *generateLine) read(line string) bool {
	concerns := strings.Contains(line, "hookgen")
	command, exact := strings.CutPrefix(line, generatePrefix)
	if !exact || command == "" || command[0] != ' ' && command[0] != '\t' {
		g.problem = "go generate ignores this line: " +
			"write //go:generate at its beginning, without blanks before and after the slashes"
		return concerns && generateSlip.MatchString(line)
	}
	args, runs := hookgenArguments(strings.Fields(command))
	if !runs || strings.ContainsAny(command, `"$`) {
		g.problem = "hookgen check cannot read the flags of hookgen in this line: write " + suggestedLine +
			", with the flags after it, without quotes and variables"
		return concerns
	}
	var i invocation
	if err := i.parse(args); err != nil {
		g.problem = fmt.Sprintf("hookgen does not understand the line (%v): write %s, with the flags after it", err,
			suggestedLine)
		return true
	}
	base := filepath.Dir(g.pos.Filename)
	g.dir = within(base, i.dir)
	if i.out != "" {
		g.out = within(base, i.out)
	}
	return i.command.name == ""
}

// hookgenArguments returns the arguments for hookgen in a command. It reports false if the command does not run hookgen
// directly, by go tool or by go run in the directory of the file.
func hookgenArguments(words []string) (args []string, runs bool) {
	at := slices.IndexFunc(words, isHookgen)
	byGo := at > 1 && words[0] == "go" && (words[1] == "tool" || words[1] == "run") && (at == 2 || words[2][0] == '-') &&
		!slices.ContainsFunc(words[:at], func(w string) bool { return strings.HasPrefix(w, "-C") })
	if at != 0 && !byGo {
		return nil, false
	}
	return words[at+1:], true
}

// isHookgen reports whether a word is the command, as a program, a package or a package with a version.
func isHookgen(word string) bool {
	name, _, _ := strings.Cut(word, "@")
	return strings.TrimSuffix(path.Base(filepath.ToSlash(name)), ".exe") == "hookgen"
}
