package main

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hookgen/hookgen/internal/terminal"
)

// visible returns a text in one line that is safe to print in a terminal, see [terminal.Escape]. If the text has more
// than most characters it is cut, and its length is added; a most of 0 means that it is not cut.
func visible(text string, most int) string {
	beginning, length := cut(text, most)
	return terminal.Escape(beginning) + length
}

// quotes escapes the characters that would end a quotation.
var quotes = strings.NewReplacer(`"`, `\"`, `\`, `\\`)

// quoted is like visible, in quotation marks.
func quoted(text string, most int) string {
	beginning, length := cut(text, most)
	return `"` + terminal.Escape(quotes.Replace(beginning)) + length + `"`
}

// cut returns the first characters of a text, and a note of its length if there are more.
func cut(text string, most int) (beginning, length string) {
	n := 0
	for i := range text {
		if n++; most > 0 && n > most {
			return text[:i], fmt.Sprintf("... (%d bytes)", len(text))
		}
	}
	return text, ""
}

// visibleJSON is visible for JSON: the text keeps its meaning. The characters that it escapes are in strings only, and
// the blanks between values become spaces.
func visibleJSON(text []byte) []byte {
	var out []byte
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\n' || terminal.IsVisible(r) && (r != utf8.RuneError || size > 1):
			out = append(out, text[:size]...)
		case r == '\t' || r == '\r': // in a string, JSON has an escape
			out = append(out, ' ')
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		}
		text = text[size:]
	}
	return out
}
