package gen

import (
	"strings"

	"github.com/dave/jennifer/jen"
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
	deprecation := Deprecation(doc)
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
	comment(g, strings.Split(fill("// "+strings.Join(sentences, " ")), "\n")...)
}

// plainDoc reports whether gofmt would leave a comment unchanged. That is certain for paragraphs of words, without
// headings, lists, links and code.
func plainDoc(lines []string) bool {
	empty := func(i int) bool { return i >= 0 && i < len(lines) && lines[i] == "//" }
	for i, l := range lines {
		if empty(i) {
			if empty(i - 1) {
				return false
			}
			continue
		}
		if len(l) < 4 || l[:3] != "// " || strings.Contains(l, "``") || strings.Contains(l, "''") {
			return false // what gofmt lays out or writes otherwise
		}
		c := l[3]
		capital := 'A' <= c && c <= 'Z'
		if capital && empty(i-1) && empty(i+1) {
			return false // perhaps a heading
		}
		if !('a' <= c && c <= 'z' || capital || c == '"' || c == '(') {
			return false
		}
	}
	return true
}
