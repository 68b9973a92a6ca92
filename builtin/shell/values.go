package shell

import (
	"slices"
	"strings"
)

// valuesOf returns the values of options: of letters, which can follow others, and of long names.
func valuesOf(args []string, letters string, long ...string) (values []string) {
	for i, arg := range args {
		switch value, joined, ok := optionIn(arg, letters, long); {
		case ok && joined:
			values = append(values, value)
		case ok:
			values = append(values, args[i+1:min(i+2, len(args))]...)
		}
	}
	return values
}

// hasOption reports whether the arguments before "--" contain an option: one of the letters, alone or with others, or
// a long name, also shortened or with a value.
func hasOption(args []string, letters string, long ...string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		_, _, ok := optionIn(arg, letters, long)
		return ok
	})
}

// optionIn reports whether a word has an option, and returns the value in the same word.
func optionIn(arg, letters string, long []string) (value string, joined, ok bool) {
	if strings.HasPrefix(arg, "--") {
		name, value, joined := strings.Cut(arg, "=")
		return value, joined, slices.ContainsFunc(long, func(l string) bool {
			return name == l || len(name) > 4 && strings.HasPrefix(l, name)
		})
	}
	at := strings.IndexAny(arg, letters)
	if at < 1 || arg[0] != '-' {
		return "", false, false
	}
	return arg[at+1:], at+1 < len(arg), true
}
