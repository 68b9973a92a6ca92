package main

import (
	"fmt"
	"go/token"
	"io"
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
		line = strings.TrimRight(line, "\r\n")
		at := strings.Index(line, "//")
		found := generateLine{pos: token.Position{Filename: file, Line: number, Column: at + 1}}
		command, exact := strings.CutPrefix(line, generatePrefix)
		if !exact || command == "" || command[0] != ' ' && command[0] != '\t' {
			if generateSlip.MatchString(line) && strings.Contains(line, "hookgen") {
				found.problem = "go generate ignores this line: " +
					"write //go:generate at its beginning, without blanks before and after the slashes"
				all = append(all, found)
			}
			continue
		}
		words, err := splitGenerate(command, file, number)
		if err != nil {
			if strings.Contains(line, "hookgen") {
				found.problem = err.Error() + ": correct the quotes"
				all = append(all, found)
			}
			continue
		}
		if len(words) > 1 && words[0] == "-command" {
			aliases[words[1]] = words[2:]
			continue
		}
		if len(words) > 0 && aliases[words[0]] != nil {
			words = slices.Concat(aliases[words[0]], words[1:])
		}
		args, in, runs := hookgenArguments(words)
		base := within(filepath.Dir(file), in)
		switch {
		case !runs && !strings.Contains(strings.Join(words, " "), "hookgen"):
			continue
		case !runs:
			found.problem = "hookgen check cannot read the flags of hookgen in this line: write " + suggestedLine +
				", with the flags after it"
		default:
			i := &invocation{stdout: io.Discard, stderr: io.Discard}
			if err := i.parse(args); err != nil {
				found.problem = fmt.Sprintf("hookgen does not understand the line (%v): write %s, with the flags after it", err,
					suggestedLine)
				break
			}
			if i.command != "" {
				continue // it generates something else
			}
			found.dir, found.out = i.dir, i.out
			found.dir = within(base, found.dir)
			if found.out != "" {
				found.out = within(base, found.out)
			}
		}
		all = append(all, found)
	}
	return all
}

// splitGenerate splits a command as go generate does: into words, strings in double quotes, and variables.
func splitGenerate(command, file string, line int) ([]string, error) {
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
		words = append(words, os.Expand(word, func(name string) string { return generateVariable(name, file, line) }))
	}
	return words, nil
}

// generateVariable returns the value of a variable that go generate sets.
func generateVariable(name, file string, line int) string {
	switch name {
	case "GOFILE":
		return filepath.Base(file)
	case "GOLINE":
		return strconv.Itoa(line)
	case "GOPACKAGE":
		return gen.PackageIn(filepath.Dir(file))
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
var valueFlags = []string{
	"-C",
	"-exec",
	"-gcflags",
	"-ldflags",
	"-mod",
	"-modfile",
	"-overlay",
	"-p",
	"-pkgdir",
	"-tags",
}

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
