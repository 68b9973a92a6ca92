package shell

import (
	_ "embed"
	"regexp"
	"strings"
)

//go:embed words.txt
var wordTable string

// list returns the list of words.txt with a name.
func list(name string) (words []string) {
	_, rest, _ := strings.Cut(wordTable, "\n: "+name+"\n")
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
