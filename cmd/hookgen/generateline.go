package main

import (
	"fmt"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/hookgen/hookgen/gen"
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
	aliases := map[string][]string{}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		found := generateLine{pos: token.Position{Filename: file, Line: number, Column: strings.Index(line, "//") + 1}}
		if found.read(strings.TrimRight(line, "\r\n"), aliases) {
			all = append(all, found)
		}
	}
	return all
}

// read sets the fields of a go:generate line but its position, and reports whether the line concerns hookgen. It adds
// the command that the line defines, if any, to aliases.
func (g *generateLine) read(line string, aliases map[string][]string) bool {
	command, exact := strings.CutPrefix(line, generatePrefix)
	if !exact || command == "" || command[0] != ' ' && command[0] != '\t' {
		g.problem = "go generate ignores this line: " +
			"write //go:generate at its beginning, without blanks before and after the slashes"
		return generateSlip.MatchString(line) && strings.Contains(line, "hookgen")
	}
	words, err := splitGenerate(command, g.pos)
	if err != nil {
		g.problem = err.Error() + ": correct the quotes"
		return strings.Contains(line, "hookgen")
	}
	if len(words) > 1 && words[0] == "-command" {
		aliases[words[1]] = words[2:]
		return false
	}
	if len(words) > 0 && aliases[words[0]] != nil {
		words = slices.Concat(aliases[words[0]], words[1:])
	}
	args, in, runs := hookgenArguments(words)
	if !runs {
		g.problem = "hookgen check cannot read the flags of hookgen in this line: write " + suggestedLine +
			", with the flags after it"
		return strings.Contains(strings.Join(words, " "), "hookgen")
	}
	var i invocation
	if err := i.parse(args); err != nil {
		g.problem = fmt.Sprintf("hookgen does not understand the line (%v): write %s, with the flags after it", err,
			suggestedLine)
		return true
	}
	base := within(filepath.Dir(g.pos.Filename), in)
	g.dir = within(base, i.dir)
	if i.out != "" {
		g.out = within(base, i.out)
	}
	return i.command.name == ""
}

// splitGenerate splits a command as go generate does: into words, strings in double quotes, and variables.
func splitGenerate(command string, at token.Position) ([]string, error) {
	var words []string
	for command = strings.TrimLeft(command, " \t"); command != ""; command = strings.TrimLeft(command, " \t") {
		word := command
		if command[0] == '"' {
			quoted, err := strconv.QuotedPrefix(command)
			if err != nil {
				return nil, fmt.Errorf("a string has no end")
			}
			if word, err = strconv.Unquote(quoted); err != nil {
				return nil, err
			}
			command = command[len(quoted):]
			if command != "" && command[0] != ' ' && command[0] != '\t' {
				return nil, fmt.Errorf("a blank is missing after %s", quoted)
			}
		} else {
			if end := strings.IndexAny(command, " \t"); end >= 0 {
				word = command[:end]
			}
			command = command[len(word):]
		}
		words = append(words, os.Expand(word, func(name string) string { return generateVariable(name, at) }))
	}
	return words, nil
}

// generateVariable returns the value of a variable that go generate sets for the line at a position.
func generateVariable(name string, at token.Position) string {
	switch name {
	case "GOFILE":
		return filepath.Base(at.Filename)
	case "GOLINE":
		return strconv.Itoa(at.Line)
	case "GOPACKAGE":
		return gen.PackageIn(filepath.Dir(at.Filename))
	case "GOOS":
		return runtime.GOOS
	case "GOARCH":
		return runtime.GOARCH
	case "DOLLAR":
		return "$"
	}
	return os.Getenv(name)
}

// valueFlags are the flags of go run and go tool that take a value as the next argument.
var valueFlags = []string{"-C", "-exec", "-gcflags", "-ldflags", "-mod", "-modfile", "-overlay", "-p",
	"-pkgdir", "-tags"}

// hookgenArguments returns the arguments for hookgen in a command, and the directory of the flag -C, in which hookgen
// would run. It reports false if the command does not run hookgen directly, by go tool or by go run.
func hookgenArguments(words []string) (args []string, in string, runs bool) {
	if len(words) == 0 {
		return nil, "", false
	}
	if isHookgen(words[0]) {
		return words[1:], "", true
	}
	if len(words) < 3 || words[0] != "go" || words[1] != "tool" && words[1] != "run" {
		return nil, "", false
	}
	rest := words[2:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		name, value, given := strings.Cut(rest[0], "=")
		rest = rest[1:]
		if !given && slices.Contains(valueFlags, name) && len(rest) > 0 {
			value, rest = rest[0], rest[1:]
		}
		if name == "-C" {
			in = value
		}
	}
	if len(rest) == 0 || !isHookgen(rest[0]) {
		return nil, "", false
	}
	return rest[1:], in, true
}

// isHookgen reports whether a word is the command, as a program, a package or a package with a version.
func isHookgen(word string) bool {
	name, _, _ := strings.Cut(word, "@")
	return strings.TrimSuffix(path.Base(filepath.ToSlash(name)), ".exe") == "hookgen"
}
