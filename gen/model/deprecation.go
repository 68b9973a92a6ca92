package model

import "strings"

// Deprecation returns the paragraph of a doc comment that begins with "Deprecated:", or "" without one. Generated names
// repeat the paragraph of their point, payload or exit, because gopls and staticcheck only read the comment of the name
// itself.
func Deprecation(doc string) string {
	for paragraph := range strings.SplitSeq(doc, "\n\n") {
		if strings.HasPrefix(paragraph, "Deprecated:") {
			return strings.TrimRight(paragraph, "\n")
		}
	}
	return ""
}
