package shorten

import (
	"strings"
	"unicode"
)

// Line returns the text as one line of at most maxRunes characters. Each run of blanks, line breaks and control
// characters becomes one blank. Use it to put untrusted text into a list or a heading, so that the text cannot begin a
// new line.
func Line(s string, maxRunes int) string {
	if maxRunes < 1 {
		return ""
	}
	var b strings.Builder
	blank, left := false, maxRunes+1 // one more than maxRunes, so that To notices a longer text
	for _, c := range s {
		if left <= 0 {
			break
		}
		if unicode.IsSpace(c) || unicode.IsControl(c) || c == '\u2028' || c == '\u2029' {
			blank = b.Len() > 0
			continue
		}
		if blank {
			b.WriteByte(' ')
			blank = false
			left--
		}
		b.WriteRune(c)
		left--
	}
	return To(b.String(), maxRunes)
}
