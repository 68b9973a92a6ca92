package builtin

import "unicode/utf8"

// ellipsis ends a text that was cut.
const ellipsis = "…"

// summaryValue bounds a summary of a value, in characters.
const summaryValue = 200

// maxKeyShown bounds a name or a key in a text for a model, in characters.
const maxKeyShown = 80

// cut returns the text, or its beginning and an ellipsis, with at most maxRunes characters, the ellipsis
// included. Bytes that are no UTF-8 become replacement characters only in a text that is cut. Less than 1
// cuts everything. It looks no further into the text than it needs to.
func cut(s string, maxRunes int) string {
	if maxRunes < 1 {
		return ""
	}
	if len(s) <= maxRunes {
		return s
	}
	runes, last := 0, 0 // last is where the last character that may stay begins
	for i := range s {
		if runes == maxRunes-1 {
			last = i
		}
		if runes == maxRunes {
			return validText(s[:last]) + ellipsis
		}
		runes++
	}
	return s
}

// validText returns the text with a replacement character for what is no UTF-8.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
