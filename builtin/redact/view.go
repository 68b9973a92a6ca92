package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A view is a text as a reader sees it, which the finders read. It lacks the colors of terminals and the characters
// without width. Symbols outside ASCII are masks, so that each byte above ASCII belongs to a letter or is invalid.
type view struct {
	text    string
	gaps    []gap
	divides bool // an invisible text divides a word, and the view has a blank for it
}

// A gap is a place at which a view lacks bytes of the text.
type gap struct {
	at    int // twice the position in the view; one more if the bytes belong to the escape of the byte there
	bytes int // all that are missing up to here
}

// A builder makes a view from the beginning to the end.
type builder struct {
	view
	bytes   []byte
	missing int
}

// put appends the byte of an escape.
func (b *builder) put(c byte, size int) {
	if b.bytes = append(b.bytes, c); size > 1 {
		b.missing += size - 1
		b.gaps = append(b.gaps, gap{2*len(b.bytes) - 1, b.missing})
	}
}

// drop leaves out bytes of the text.
func (b *builder) drop(size int) {
	b.missing += size
	b.gaps = append(b.gaps, gap{2 * len(b.bytes), b.missing})
}

// mask replaces each byte of a symbol or a control character, except zero and ESC.
const mask = 0x1f

// viewOf returns the view of s. With joined, a word that invisible texts divide is one word. For example, grep colors a
// part of a token; and a program prints a token directly after a word of another color.
func viewOf(s string, joined bool) view {
	b := builder{bytes: make([]byte, 0, len(s))}
	for at := 0; at < len(s); {
		if from := at; plainBytes[s[at]] {
			at = plainBytes.skip(s, at, len(s))
			b.bytes = append(b.bytes, s[from:at]...)
			continue
		}
		if size := invisible(s, at); size > 0 {
			from := at
			for at += size; at < len(s) && invisible(s, at) > 0; {
				at += invisible(s, at)
			}
			if n := len(b.bytes); n > 0 && at < len(s) && slug[b.bytes[n-1]] && joins[s[at]] {
				b.divides = true
				if !joined {
					b.put(' ', 1)
					from++
				}
			}
			b.drop(at - from)
			continue
		}
		c, size := utf8.DecodeRuneInString(s[at:])
		switch {
		case c == 0, c == 0x1b, c < utf8.RuneSelf && !isControl(byte(c)), c == utf8.RuneError && size == 1,
			c >= utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsMark(c) || unicode.IsNumber(c)):
			b.bytes = append(b.bytes, s[at:at+size]...)
		case unicode.IsSpace(c) && !unicode.IsControl(c):
			b.bytes = append(b.bytes, "   "[:size]...)
		default:
			b.bytes = append(b.bytes, "\x1f\x1f\x1f\x1f"[:size]...)
		}
		at += size
	}
	b.text = string(b.bytes)
	return b.view
}

// plainBytes are visible and begin no invisible text.
var plainBytes = chars(" \t\r\n!-9;-[]_-~")

// introduces holds the second bytes of the introducers of control sequences.
var introduces = chars("ux0e[")

// joins holds the bytes that can begin a secret or continue a token, also after an invisible text.
var joins = chars("A-Za-z0-9+/_.~%${(-")

// isControl reports whether c is a control character of ASCII and not a blank.
func isControl(c byte) bool { return c < ' ' && !isSpace(c) || c == 0x7f }

// origins returns the spans of the text for spans of its view, in place. The spans are in order and do not overlap. An
// invisible text next to a span stays.
func (v *view) origins(spans []span) []span {
	missing := func(gaps *[]gap, before *int, at int) int { // bytes before at
		for len(*gaps) > 0 && (*gaps)[0].at <= at {
			*before, *gaps = (*gaps)[0].bytes, (*gaps)[1:]
		}
		return *before
	}
	begins, ends, begun, ended := v.gaps, v.gaps, 0, 0
	for i, p := range spans {
		spans[i].from += missing(&begins, &begun, 2*p.from)
		spans[i].to += missing(&ends, &ended, 2*p.to-1)
	}
	return spans
}

// invisible returns the length of the control sequence or the character without width at at, or 0. Links and titles are
// read, because their addresses can contain secrets.
func invisible(s string, at int) int {
	next := s[min(at+1, len(s)-1)]
	switch c := s[at]; {
	case c == ':':
		return kindOfMark(s, at)
	case c == 0x9b, c == 0xc2 && next == 0x9b, c == 0x1b && strings.IndexByte("[()", next) >= 0,
		(c == '\\' || c == '^') && introduces[next] && hasAny(s[at:], "introducers", strings.HasPrefix):
		return length(s[at:min(len(s), at+128)], "control-sequence")
	case c >= utf8.RuneSelf:
		if c, size := utf8.DecodeRuneInString(s[at:]); unicode.Is(unicode.Cf, c) { // without width
			return size
		}
	}
	return 0
}

// kindOfMark returns the length of the kind of a mark at at, with its colon, or 0. Finders see each mark of a Redactor
// as [Redacted]. A text that only looks like a kind can be a secret, and stays in the view.
func kindOfMark(s string, at int) int {
	const opening = "[REDACTED"
	if at < len(opening) || s[at-1] != 'D' || s[at-len(opening):at] != opening {
		return 0
	}
	inner, _, closed := strings.Cut(s[at+1:min(len(s), at+64)], "]")
	kind, pseudonym, _ := strings.Cut(inner, ":")
	if !kinds[kind] {
		pseudonym = inner
	}
	if !closed || inner == "" || pseudonym != "" && !isPseudonym(pseudonym) {
		return 0
	}
	return 1 + len(inner)
}
