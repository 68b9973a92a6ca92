package emit

import (
	"strings"
	"unicode/utf8"

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

// docText returns a doc comment as line comments, each with its line break. An empty one is replaced by the first of
// otherwise.
func docText(doc string, otherwise ...string) string {
	lines := docLines(doc)
	if len(lines) == 0 && len(otherwise) > 0 {
		lines = docLines(otherwise[0])
	}
	return strings.Join(append(lines, ""), "\n")
}

// docHead returns a doc comment without its deprecation, which comes last in generated comments, and an empty line for
// the sentences that follow.
func docHead(doc string) string {
	if head := docText(strings.Replace(doc, model.Deprecation(doc), "", 1)); head != "" {
		return head + "//\n"
	}
	return ""
}

// deprecation returns the end of a comment: the deprecation in a doc comment, or "".
func deprecation(doc string) string {
	if text := docText(model.Deprecation(doc)); text != "" {
		return "//\n" + text
	}
	return ""
}

// printable removes characters that end a line comment or are invisible in it.
func printable(r rune) rune {
	if r == '\r' || r == '\u2028' || r == '\u2029' || r == 0 || r == '\ufeff' {
		return -1
	}
	return r
}

// filled fills the paragraphs of a rendered template: consecutive lines that begin with //. in the template. No line
// of a spec's comment does, because comments get a blank after the slashes. It also removes indentation, which gofmt
// makes anew, because gofmt formats a comment as documentation only if it is not indented.
func filled(text string) string {
	var out, paragraph strings.Builder
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimLeft(line, "\t")
		if words, ok := strings.CutPrefix(line, "//."); ok {
			paragraph.WriteString(words)
			continue
		}
		if paragraph.Len() > 0 {
			out.WriteString(strings.Join(fill(paragraph.String()), "\n") + "\n")
			paragraph.Reset()
		}
		out.WriteString(line)
	}
	return out.String()
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
