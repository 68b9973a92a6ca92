package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A decoder finds the parts of a text that are encoded. A secret in them is found in the decoded part, also if the
// encoding divides it or changes the characters around it.
type decoder struct {
	sign    string // a part has it
	part    func(s string, at, from int) (begin, end int)
	escapes *[256][]escape
	number  string // begins an escape with hexadecimal digits, for example "%" in %20; "": there is none
	digits  int
}

var decoders = []decoder{
	{"%", addressAround, escapesOf("percent"), "%", 2},
	{`\`, lineAround, escapesOf("backslash"), `\u`, 4},
	{"&", lineAround, escapesOf("entity"), "", 0},
	{"=\n", mailAround, escapesOf("mail"), "=", 2},
	{"=\r\n", mailAround, escapesOf("mail"), "=", 2},
}

// An escape is a sequence of bytes in an encoded text.
type escape struct{ text, plain string }

// escapesOf returns the escapes of a decoder by their first bytes.
func escapesOf(decoder string) *[256][]escape {
	escapes := new([256][]escape)
	for _, row := range table("escapes") {
		if text, err := strconv.Unquote(row[1]); err == nil && row[0] == decoder {
			plain, _ := strconv.Unquote(row[2])
			escapes[text[0]] = append(escapes[text[0]], escape{text, plain})
		}
	}
	return escapes
}

// decode returns the plain bytes of the escape at the beginning of s and the length of the escape, or 0 if there is
// none. before is the byte in front of s.
func (d *decoder) decode(s string, before byte) (plain string, size int) {
	if d.number == "=" && before == '=' {
		return "", 0
	}
	for _, e := range d.escapes[s[0]] {
		if strings.HasPrefix(s, e.text) {
			return e.plain, len(e.text)
		}
	}
	size = len(d.number) + d.digits
	if d.digits == 0 || len(s) < size || s[0] != d.number[0] || s[len(d.number)-1] != d.number[len(d.number)-1] {
		return "", 0
	}
	c, err := strconv.ParseUint(s[len(d.number):size], 16, 16)
	switch {
	case err != nil || d.number == "=" && strings.ToUpper(s[:size]) != s[:size]:
		return "", 0
	case d.digits == 4 && (c <= ' ' || c >= utf8.RuneSelf):
		return string(rune(mask)), size
	}
	return string([]byte{byte(c)}), size
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
	b := make([]byte, 0, len(s))
	origins = make([]int32, 0, len(s)+1)
	decoded, before := false, byte(0)
	for at := 0; at < len(s); before = s[at-1] {
		if c := s[at]; d.escapes[c] == nil && (d.number == "" || c != d.number[0]) {
			b, origins = append(b, c), append(origins, int32(at))
			at++
			continue
		}
		plain, size := d.decode(s[at:], before)
		decoded = decoded || size > 1
		if size == 0 {
			plain, size = s[at:at+1], 1
		}
		for range len(plain) {
			origins = append(origins, int32(at))
		}
		b = append(b, plain...)
		at += size
	}
	if !decoded {
		return "", nil
	}
	return string(b), append(origins, int32(len(s)))
}

// inURL are the bytes of URLs and forms.
var inURL = chars("a-zA-Z0-9%.~_+/:?&=#@,;!*()$'-")

func addressAround(s string, at, from int) (begin, end int) {
	return inURL.back(s, at, at-from), inURL.skip(s, at+1, len(s))
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
