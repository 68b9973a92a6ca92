package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
)

// unescape decodes the escapes of $'...', printf and echo -e.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	text, _, _ := expand.Format(&expand.Config{}, s, nil) // without arguments there is no error
	return text
}

// output returns the output of a command if its arguments or its input contain it, for example of echo 'rm -rf x'.
func (c *Command) output() string {
	switch c.Program {
	case "echo":
		args := c.Args
		for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
			args = args[1:]
		}
		return unescape(strings.Join(args, " ")) + "\n" // echo of dash decodes escapes without -e
	case "printf":
		return printed(c.Args)
	case "cat", "tee", "grep", "head", "tail", "sort", "uniq":
		if c.Program != "cat" || strings.Trim(strings.Join(c.Args, ""), "-AbeEnstTuv") == "" {
			return c.Stdin // or some of its lines
		}
	}
	return ""
}

// conversions removes the conversions of printf, whose place the arguments after the format take.
var conversions = regexp.MustCompile(`%[-+ #0-9.*]*[a-zA-Z]`)

// printed returns about what printf prints: the format and then its arguments.
func printed(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return unescape(strings.Join(append([]string{conversions.ReplaceAllString(args[0], "")}, args[1:]...), " "))
}

var (
	decoders = list("decoders")
	filters  = set("filters")
)

// decodes reports whether the command decodes its input, as base64 -d does.
func (c *Command) decodes() bool {
	return slices.ContainsFunc(decoders, func(entry string) bool {
		program, letter, optional := strings.Cut(entry, ":")
		return program == c.Program && (!optional || hasOption(c.Args, letter, "--decode", "--decompress", "--uncompress",
			"--revert"))
	})
}

// conceals reports whether the command prints a text that is not known here: it decodes one, or it changes a text that
// the command line contains, as in echo 'xm -xf y' | sed s/x/r/.
func (c *Command) conceals(output string) bool {
	if c.decodes() {
		return true
	}
	isCode := interpreters[interpreterOf(c.Program)] && hasOption(c.Args, "ecEpr", "--eval")
	return output == "" && (isCode || filters[c.Program] && c.Stdin != "" && !strings.Contains(c.Stdin, "$"))
}
