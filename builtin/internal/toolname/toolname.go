package toolname

import (
	"fmt"
	"slices"
	"strings"
)

// MaxStored is the most characters of a name that is stored.
const MaxStored = 256

// MaxDisplay is the most characters of a name in a text for a person or a model.
const MaxDisplay = 64

// Check returns an error if a name in the field of a hook is empty.
func Check(field string, names []string) error {
	if i := slices.Index(names, ""); i >= 0 {
		return fmt.Errorf("%s[%d] is empty; give it a name or leave it out", field, i)
	}
	return nil
}

// Match reports whether one of the patterns matches the name of a tool. For example, "*" matches every tool, and "fs_*"
// matches names that begin with fs_.
func Match(names []string, tool string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return Wildcard(name, tool) })
}

// Wildcard reports whether a pattern matches the whole text. "*" matches any text, including the empty text. The time
// is at most proportional to the product of both lengths.
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
