package gen

import "strings"

// deprecation returns the paragraph of a doc comment that begins with "Deprecated:", without its final line end, or ""
// if there is none. Every generated name that people write for a deprecated point, payload or exit repeats the
// paragraph: gopls and staticcheck warn only about names whose own comment has one.
func deprecation(doc string) string {
	for paragraph := range strings.SplitSeq(doc, "\n\n") {
		if strings.HasPrefix(paragraph, "Deprecated:") {
			return strings.TrimRight(paragraph, "\n")
		}
	}
	return ""
}
