package page

import (
	"fmt"
	"go/doc"
	"go/doc/comment"
	"strings"
	"unicode"
	"unicode/utf8"
)

// comment returns a comment of Go as paragraphs, with an empty line after them.
func (w *writer) comment(text string) string {
	if markdown := w.markdown(text); markdown != "" {
		return markdown + "\n\n"
	}
	return ""
}

// inline returns a comment on one line, for a cell of a table.
func (w *writer) inline(text string) string {
	return strings.Join(strings.Fields(w.markdown(text)), " ")
}

// synopsis returns the first sentence of the comment on a name, without the name.
func (w *writer) synopsis(name, text string) string {
	sentence := w.inline(new(doc.Package).Synopsis(clean(text)))
	rest, ok := strings.CutPrefix(sentence, name+" ")
	if !ok {
		return sentence
	}
	first, size := utf8.DecodeRuneInString(rest)
	return string(unicode.ToUpper(first)) + rest[size:]
}

// markdown converts a comment of Go. Its headings become paragraphs, so that the page has no headings but its own.
func (w *writer) markdown(text string) string {
	parser := comment.Parser{
		LookupSym:     func(recv, name string) bool { return w.anchor(recv, name) != "" },
		LookupPackage: w.lookupPackage,
	}
	parsed := parser.Parse(clean(text))
	printer := comment.Printer{DocLinkURL: func(link *comment.DocLink) string {
		if link.ImportPath == "" {
			return "#" + w.anchor(link.Recv, link.Name)
		}
		return link.DefaultURL("https://pkg.go.dev")
	}}
	var blocks []string
	for _, block := range parsed.Content {
		format := "%s"
		if heading, ok := block.(*comment.Heading); ok {
			block, format = &comment.Paragraph{Text: heading.Text}, "**%s**"
		}
		text := printer.Markdown(&comment.Doc{Content: []comment.Block{block}})
		blocks = append(blocks, fmt.Sprintf(format, strings.Trim(string(text), "\n")))
	}
	return strings.Join(blocks, "\n\n")
}

// anchor returns the anchor of a name in the page, or "".
func (w *writer) anchor(recv, name string) string {
	if recv != "" {
		name = recv
	}
	for _, heading := range []string{pointHeading(name), exitHeading(name), typeHeading(name)} {
		if slug, ok := w.slugs[heading]; ok {
			return slug
		}
	}
	if name == w.spec.Interface {
		return w.slugs[pointsHeading]
	}
	return ""
}

// lookupPackage returns the import path of a package that a comment names.
func (w *writer) lookupPackage(name string) (string, bool) {
	for _, i := range w.spec.Imports {
		if i.Name == name {
			return i.Path, true
		}
	}
	return comment.DefaultLookupPackage(name)
}

// clean removes characters that are invisible or have no place in a text file.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, text)
}

// code returns text as a span of code.
func code(text string) string {
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// cell returns text for a cell of a table, where a bar would end the cell, also in a span of code.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
