package shorten

import (
	"encoding/json"
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

// JSON returns a JSON value as one line of at most maxRunes characters. Texts appear without quotes.
func JSON(v json.RawMessage, maxRunes int) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return Line(s, maxRunes)
	}
	return Line(string(v), maxRunes)
}

// FoldCase returns equal texts for texts that differ only in case. Unlike strings.ToLower, it also folds characters
// such as the long s (ſ).
func FoldCase(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}
