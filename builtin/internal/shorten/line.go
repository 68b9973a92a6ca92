package shorten

import (
	"strings"
	"unicode"
)

// Line returns the text as one line of at most maxRunes characters: runs of blanks, line breaks and control
// characters become one blank each. What comes from a payload is put into a list or a heading with it, so that
// it cannot begin a line of its own there.
func Line(s string, maxRunes int) string {
	if maxRunes < 1 {
		return ""
	}
	var b strings.Builder
	blank, left := false, maxRunes+1 // one more than may stay, so that cut sees that there is more
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
