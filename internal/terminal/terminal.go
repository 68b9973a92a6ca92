package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsVisible reports whether a terminal shows a character. Some characters that Unicode counts as printable letters or
// symbols are shown as nothing or as a blank, for example the Hangul filler.
func IsVisible(r rune) bool {
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
		r != '\u2800' && r != '\U0001d159'
}

// Escape escapes the characters of a text that a terminal would obey or hide: control characters, invisible characters,
// characters that change the writing direction, and invalid UTF-8. The escapes are those of Go: for example, a line
// break becomes \n. The result is one line.
func Escape(s string) string {
	clean := true
	for _, r := range s {
		if !IsVisible(r) || r == utf8.RuneError {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case IsVisible(r):
			b.WriteRune(r)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\n':
			b.WriteString(`\n`)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}
