package emit

import (
	"strings"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
	"github.com/hookgen/hookgen/gen/model"
)

// docLines returns a doc comment as line comments. Text of a spec cannot break out of them.
func docLines(doc string) []string {
	doc = strings.TrimSpace(doc)
	if doc == "" {
		return nil
	}
	lines := strings.Split(doc, "\n")
	for i, l := range lines {
		l = strings.TrimRight(strings.Map(printable, l), " \t")
		switch {
		case l == "":
			lines[i] = "//"
		case strings.HasPrefix(strings.TrimSpace(l), "+build"), strings.HasPrefix(l, "go:"), strings.HasPrefix(l, "hookgen:"),
			strings.HasPrefix(l, "line "):
			lines[i] = "// - " + l // prose that a tool could take for a directive
		case l[0] == '\t':
			lines[i] = "//" + l
		default:
			lines[i] = "// " + l
		}
	}
	return lines
}

// splitDoc returns a doc comment as two lists of line comments: first the comment without its deprecation, and then the
// deprecation, which comes last in generated comments.
func splitDoc(doc string) (head, deprecated []string) {
	deprecation := model.Deprecation(doc)
	return docLines(strings.Replace(doc, deprecation, "", 1)), docLines(deprecation)
}

// printable removes characters that end a line comment or are invisible in it.
func printable(r rune) rune {
	if r == '\r' || r == '\u2028' || r == '\u2029' || r == 0 || r == '\ufeff' {
		return -1
	}
	return r
}

// comment adds comment lines, and the "// " that they lack.
func comment(g interface{ Comment(string) *jen.Statement }, lines ...string) {
	for _, l := range lines {
		if !strings.HasPrefix(l, "//") {
			l = strings.TrimRight("// "+l, " ")
		}
		g.Comment(l)
	}
}

// prose adds a paragraph of generated documentation.
func prose(g interface{ Comment(string) *jen.Statement }, sentences ...string) {
	comment(g, fill(strings.Join(sentences, " "))...)
}

// fill breaks a comment line into lines of at most proseColumns. The documentation of the spec is not filled: its lines
// end where the author ended them.
func fill(text string) []string {
	const begin = "//"
	lines, line := []string(nil), begin
	for _, word := range strings.Fields(text) {
		if line != begin && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > proseColumns {
			lines, line = append(lines, line), begin
		}
		line += " " + word
	}
	return append(lines, line)
}

// proseColumns is the longest line of a comment, if it can be broken at all.
const proseColumns = 100
