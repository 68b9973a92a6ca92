package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// visibleJSON is visible for JSON: the text keeps its meaning. The characters that it escapes are in strings only.
func visibleJSON(text []byte) []byte {
	var out []byte
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\n' || seen(r) && (r != utf8.RuneError || size > 1):
			out = append(out, text[:size]...)
		case r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
		text = text[size:]
	}
	return out
}

// visible returns a text that is safe to print in a terminal. The texts of a record come from models and tools: one
// with control characters could clear the screen, and bidirectional overrides in it could reorder the words of a line.
// So characters that are invisible, move the cursor, or change the direction become escapes as in Go. If the text has
// more than most characters it is cut, and its length is added; a most of 0 means that it is not cut.
func visible(text string, most int) string { return escape(text, most, "") }

// quoted is like visible, in quotation marks.
func quoted(text string, most int) string { return `"` + escape(text, most, `"\`) + `"` }

// escape escapes also the characters in more.
func escape(text string, most int, more string) string {
	var b strings.Builder
	n := 0
	for i, r := range text {
		if n++; most > 0 && n > most {
			fmt.Fprintf(&b, "... (%d bytes)", len(text))
			break
		}
		switch {
		case strings.ContainsRune(more, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case seen(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// seen reports whether a reader of a terminal sees a character as itself. unicode.IsPrint accepts some letters and
// marks that are drawn as nothing.
func seen(r rune) bool {
	const brailleBlank = 0x2800
	return unicode.IsPrint(r) && r != brailleBlank &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
