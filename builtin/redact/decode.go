package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A decoder finds the parts of a text that are encoded. A secret in them is found in the decoded part, also if the
// encoding divides it or changes the characters around it.
type decoder struct {
	sign string // a part has it
	part func(s string, at, from int) (begin, end int)
	// decode returns the plain bytes of the escape at the beginning of s and the length of the escape, or 0 if there is
	// none. before is the byte in front of s.
	decode func(s string, before byte) (plain string, size int)
}

var decoders = []decoder{
	{"%", addressAround, percentEscape},
	{`\`, lineAround, backslashEscape},
	{"&", lineAround, entityEscape},
	{"=\n", mailAround, mailEscape},
	{"=\r\n", mailAround, mailEscape},
}

// maxEncodings is how often a text can be encoded. For example, a URL in the query of another one is encoded twice.
const maxEncodings = 3

// appendDecoded appends the spans of an encoded text that are secret after decoding. For example, the value of
// ?x=password%3Dhunter2 and of "{\"password\":\"hunter2\"}" are secrets.
func (r *Redactor) appendDecoded(spans []span, s string) []span {
	for _, d := range decoders {
		for at := 0; ; {
			n := strings.Index(s[at:], d.sign)
			if n < 0 {
				break
			}
			from, to := d.part(s, at+n, at)
			visit(to - from)
			text, origins := d.all(s[from:to])
			for range maxEncodings {
				if text == "" {
					break
				}
				for _, p := range seen(text, func(view string) []span { return r.findPlain(view, text) }) {
					spans = append(spans, span{from + int(origins[p.from]), from + int(origins[p.to]), p.kind})
				}
				var again []int32
				text, again = d.all(text)
				for i, position := range again {
					again[i] = origins[position]
				}
				origins = again
			}
			at = to
		}
	}
	return spans
}

// all decodes a text. origins has the position in s of each byte of the result, and of its end. The result is "" if s
// has no escape.
func (d *decoder) all(s string) (text string, origins []int32) {
	var b strings.Builder
	decoded, before := false, byte(0)
	for at := 0; at < len(s); {
		plain, size := d.decode(s[at:], before)
		decoded = decoded || size > 1
		if size == 0 {
			plain, size = s[at:at+1], 1
		}
		for range len(plain) {
			origins = append(origins, int32(at))
		}
		b.WriteString(plain)
		at += size
		before = s[at-1]
	}
	if !decoded {
		return "", nil
	}
	return b.String(), append(origins, int32(len(s)))
}

// inURL are the bytes of URLs and forms.
var inURL = chars("a-zA-Z0-9%.~_+/:?&=#@,;!*()$'-")

func addressAround(s string, at, from int) (begin, end int) {
	for begin, end = at, at+1; begin > from && inURL[s[begin-1]]; begin-- {
	}
	for end < len(s) && inURL[s[end]] {
		end++
	}
	return begin, end
}

func lineAround(s string, at, from int) (begin, end int) {
	return from + strings.LastIndexByte(s[from:at], '\n') + 1, lineEnd(s, at)
}

// mailAround returns the rest of a mail. Its lines have at most 76 characters, and the longer ones are divided.
func mailAround(s string, at, from int) (begin, end int) {
	line := at - strings.LastIndexByte(s[max(0, at-100):at], '\n') - 1 - max(0, at-100)
	if line < 60 || line > 76 || s[at-1] == '=' {
		return at, at + 2
	}
	return from, len(s)
}

func percentEscape(s string, _ byte) (string, int) {
	switch {
	case s[0] == '+':
		return " ", 1
	case s[0] == '%' && len(s) >= 3 && anyHex.all(s[1:3]):
		return string([]byte{nibble(s[1])<<4 | nibble(s[2])}), 3
	}
	return "", 0
}

// backslashEscape decodes an escape of JSON. Other backslashes stay, for example those of paths of Windows.
func backslashEscape(s string, _ byte) (string, int) {
	if s[0] == '"' { // it closes the text that holds the escapes
		return string(rune(mask)), 1
	}
	if s[0] != '\\' || len(s) < 2 {
		return "", 0
	}
	switch s[1] {
	case '"', '\\', '/', '\'':
		return s[1:2], 2
	case 'n':
		return "\n", 2
	case 'r':
		return "\r", 2
	case 't':
		return "\t", 2
	case 'u':
		if len(s) >= 6 && anyHex.all(s[2:6]) {
			if c, err := strconv.ParseUint(s[2:6], 16, 16); err == nil && c > ' ' && c < utf8.RuneSelf {
				return string(rune(c)), 6
			}
			return string(rune(mask)), 6
		}
	}
	return "", 0
}

// entities are the escapes of XML and HTML.
var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#34;", `"`, "&#39;", "'", "&apos;", "'",
	"&amp;", "&")

func entityEscape(s string, _ byte) (string, int) {
	if s[0] != '&' {
		return "", 0
	}
	size := strings.IndexByte(s[:min(len(s), 6)], ';') + 1
	if plain := entities.Replace(s[:size]); len(plain) == 1 {
		return plain, size
	}
	return "", 0
}

// mailEscape decodes the encoding of mails: =3D is an equals sign, and one at the end of a line joins two lines.
func mailEscape(s string, before byte) (string, int) {
	switch {
	case s[0] != '=', before == '=':
	case strings.HasPrefix(s, "=\n"):
		return "", 2
	case strings.HasPrefix(s, "=\r\n"):
		return "", 3
	case len(s) >= 3 && upperHex.all(s[1:3]):
		return string([]byte{nibble(s[1])<<4 | nibble(s[2])}), 3
	}
	return "", 0
}

// nibble returns the value of a hexadecimal digit.
func nibble(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}
