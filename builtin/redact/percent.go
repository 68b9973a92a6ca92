package redact

import "strings"

// maxEncodings is how often a text can be percent-encoded. A URL in the query of another one is encoded twice.
const maxEncodings = 3

// appendPercentEncoded appends the spans that are secret after percent-decoding. For example, the value of
// ?x=password%3Dhunter2 and the user in https%3A%2F%2Fbob%3Apw%40host are secrets.
func (r *Redactor) appendPercentEncoded(spans []span, s string) []span {
	for at := 0; ; {
		escape := strings.IndexByte(s[at:], '%')
		if escape < 0 {
			return spans
		}
		from, to := at+escape, at+escape+1
		for from > at && inURL[s[from-1]] {
			from--
		}
		for to < len(s) && inURL[s[to]] {
			to++
		}
		text, origins := percentDecoded(s[from:to])
		for range maxEncodings {
			if text == "" {
				break
			}
			for _, found := range seen(text, func(view string) []span { return r.findPlain(view, text) }) {
				spans = append(spans, span{from + origins[found.from], from + origins[found.to], found.kind})
			}
			var again []int
			text, again = percentDecoded(text)
			for i, position := range again {
				again[i] = origins[position]
			}
			origins = again
		}
		at = to
	}
}

// inURL are the bytes of URLs and forms.
var inURL = chars("a-zA-Z0-9%.~_+/:?&=#@,;!*()$-")

// percentDecoded returns a text without its percent-encoding, and for each byte of the result and its end the position
// in s. The result is "" if s has no encoding.
func percentDecoded(s string) (text string, origins []int) {
	var b strings.Builder
	decoded := false
	for i := 0; i < len(s); i++ {
		origins = append(origins, i)
		c := s[i]
		switch {
		case c == '%' && i+2 < len(s) && anyHex.all(s[i+1:i+3]):
			decoded = true
			c = nibble(s[i+1])<<4 | nibble(s[i+2])
			i += 2
		case c == '+':
			c = ' '
		}
		b.WriteByte(c)
	}
	if !decoded {
		return "", nil
	}
	return b.String(), append(origins, len(s))
}

// nibble returns the value of a hexadecimal digit.
func nibble(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}
