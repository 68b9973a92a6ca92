package shell

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/toolname"
)

//go:embed words.txt
var wordTable string

// list returns the list of words.txt with a name.
func list(name string) []string { return listIn(wordTable, name) }

// listIn returns the lines of the list of a table with a name.
func listIn(table, name string) (words []string) {
	_, rest, _ := strings.Cut(table, "\n: "+name+"\n")
	for line := range strings.Lines(rest) {
		if line == "\n" {
			break
		}
		words = append(words, strings.TrimSpace(line))
	}
	return words
}

// set returns the list of words.txt with a name as a set.
func set(name string) map[string]bool {
	words := make(map[string]bool)
	for _, word := range list(name) {
		words[word] = true
	}
	return words
}

// patterns returns a pattern that matches what one of the patterns in the list of words.txt with a name matches.
func patterns(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join(list(name), "|"))
}

// The lists that more than one file needs.
var (
	shells       = set("shells")
	interpreters = set("interpreters")
	runners      = set("runners")
	dangerous    = set("dangerous")
	remote       = set("remote")
	downloaders  = set("downloaders")
)

//go:embed rules.txt
var ruleTable string

// A pattern describes commands of one program, as a line of rules.txt. The arguments contain one of the words of each
// list, in order, one of the options of each list, and none of the options of forbidden.
type pattern struct {
	words     [][]string
	options   [][]string
	forbidden []string
	anywhere  bool // words can precede the first one
}

// patternsOf returns the patterns of a rule by program.
func patternsOf(rule string) map[string][]pattern {
	all := make(map[string][]pattern)
	for _, line := range listIn(ruleTable, rule) {
		tokens := strings.Fields(line)
		var p pattern
		for i, token := range tokens[1:] {
			choices := strings.Split(token, "|")
			options, forbidden := strings.CutPrefix(token, "!")
			switch {
			case token == "...":
				p.anywhere = p.anywhere || i == 0
			case forbidden:
				p.forbidden = strings.Split(options, "|")
			case strings.HasPrefix(token, "-"):
				p.options = append(p.options, choices)
			default:
				p.words = append(p.words, choices)
			}
		}
		for program := range strings.SplitSeq(tokens[0], "|") {
			all[program] = append(all[program], p)
		}
	}
	return all
}

// matcher returns the condition of a rule of rules.txt.
func matcher(rule string) func(*Command) bool {
	all := patternsOf(rule)
	return func(c *Command) bool {
		args := c.Args
		if subcommand, rest := gitArguments(c.words); subcommand != "" {
			args = append([]string{subcommand}, rest...)
		}
		if last := len(args) - 1; last >= 0 && args[last] == "-h" || slices.ContainsFunc(args, asksOnly) {
			return false
		}
		family, _, _ := strings.Cut(strings.ReplaceAll(c.Program, "_", "."), ".") // mkfs for mkfs.ext4, newfs for newfs_hfs
		patterns := slices.Concat(all[c.Program], all[interpreterOf(c.Program)], all[family])
		return slices.ContainsFunc(patterns, func(p pattern) bool { return p.matches(args) })
	}
}

// asksOnly reports whether an argument makes a program only show its plan.
func asksOnly(arg string) bool {
	return strings.HasPrefix(arg, "--dry-run") || arg == "--dryrun" || arg == "--help"
}

// matches reports whether the arguments of a command match.
func (p pattern) matches(args []string) bool {
	has := func(choices []string) bool {
		return slices.ContainsFunc(choices, func(o string) bool { return hasChoice(args, o) })
	}
	hasNot := func(choices []string) bool { return !has(choices) }
	if p.forbidden != nil && has(p.forbidden) || slices.ContainsFunc(p.options, hasNot) {
		return false
	}
	found := 0
	for i, arg := range args {
		if found == len(p.words) {
			break
		}
		switch {
		case slices.ContainsFunc(p.words[found], func(w string) bool { return fits(w, strings.ToLower(arg)) }):
			found++
		case found > 0 || p.anywhere || strings.HasPrefix(arg, "-") || i > 0 && strings.HasPrefix(args[i-1], "-"):
		default:
			return false // another subcommand
		}
	}
	return found == len(p.words)
}

// hasChoice reports whether the arguments contain an option: -x, --long, or -long with one dash or two.
func hasChoice(args []string, option string) bool {
	switch {
	case strings.HasPrefix(option, "--"):
		return hasOption(args, "", option)
	case len(option) == 2:
		return hasOption(args, option[1:])
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		arg = strings.ToLower(arg)
		return fits(option, arg) || fits("-"+option, arg)
	})
}

// fits reports whether an argument is a word of rules.txt, in which "*" matches any text and "?" one character.
func fits(word, arg string) bool {
	if before, after, ok := strings.Cut(word, "?"); ok {
		return len(arg) > len(before) && strings.HasPrefix(arg, before) && (after == "*" || fits(after, arg[len(before)+1:]))
	}
	return arg == word || len(word) > 1 && toolname.Wildcard(word, arg)
}
