package mcp

import (
	"slices"
	"strings"
)

// minSecret is the length from which a value is redacted. Shorter ones, for example "1" or "true", are common words.
const minSecret = 6

// redactor returns a replacer of the secrets in a text, the longest first.
func redactor(secrets []string) *strings.Replacer {
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return len(s) < minSecret })
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, "[redacted]")
	}
	return strings.NewReplacer(pairs...)
}
