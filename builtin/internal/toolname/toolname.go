package toolname

import (
	"fmt"
	"slices"
	"strings"
)

// MaxStored bounds the names of tools that are kept: a model can make them up.
const MaxStored = 256

// Check reports an empty name in a list of names.
func Check(field string, names []string) error {
	if i := slices.Index(names, ""); i >= 0 {
		return fmt.Errorf("%s[%d] is empty; give it a name or leave it out", field, i)
	}
	return nil
}

// Match reports whether one of the names is that of the tool. In a name, "*" stands for any text: "*" for
// every tool, "fs_*" for those that begin with fs_.
func Match(names []string, tool string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return Wildcard(name, tool) })
}

// Wildcard reports whether a pattern, in which "*" stands for any text, the empty one too, is the whole text.
// It takes time in proportion to the product of both lengths at most.
func Wildcard(pattern, text string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, first)
	if !ok {
		return false
	}
	for {
		piece, more, wild := strings.Cut(rest, "*")
		if !wild {
			return strings.HasSuffix(text, piece)
		}
		at := strings.Index(text, piece)
		if at < 0 {
			return false
		}
		text, rest = text[at+len(piece):], more
	}
}

// MaxDisplay bounds the names of tools in texts: a model can make them up.
const MaxDisplay = 64
