package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxEncodings is how often a text can be encoded. For example, a URL in the query of another one is encoded twice.
const maxEncodings = 3

// An escape is a text that stands for a character.
type escape struct {
	text string
	char byte
}

// escapes are the escapes of JSON, HTML and XML, by their first byte.
var escapes = byFirst(entries("escapes", func(fields []string) escape {
	text, _ := strconv.Unquote(fields[0])
	char, _ := strconv.Unquote(fields[1])
	return escape{text, char[0]}
}), func(e escape) string { return e.text })

// unescaped are bytes that begin no escape, and inURL the bytes of URLs and forms.
var unescaped, inURL, upperHex = chars(`"%\&=+`).not(), chars("a-zA-Z0-9%.~_+/:?&=#@,;!*()$'-"), alphabets["HEX"]

// decode returns the view of s with the escapes of URLs, JSON, XML and mails replaced by their characters. For example,
// a secret follows the name in ?x=password%3Dhunter2, in "{\"password\":\"hunter2\"}", and in a mail whose lines are
// divided. It returns false if s has no escape.
func decode(s string) (v view, ok bool) {
	b := builder{bytes: make([]byte, 0, len(s))}
	mail := isMail(s)
	line, isJSON := 0, false // the end of a line, and whether it has escapes of JSON
	run, isURL := 0, false   // the end of a part in the alphabet of URLs, and whether it has escapes of URLs
	for at := 0; at < len(s); {
		if from := at; unescaped[s[at]] {
			at = unescaped.skip(s, at, len(s))
			b.bytes = append(b.bytes, s[from:at]...)
			continue
		}
		c, size := escapeAt(s, at, mail)
		switch s[at] {
		case '\\', '"':
			if at >= line && (size > 1 || c == '"') {
				line = lineEnd(s, at)
				isJSON = size > 1 || hasEscape(s[at:line], '\\')
			}
			if isJSON && s[at] == '"' {
				c = mask // it closes the text of JSON that holds the escapes
			}
		case '%', '+':
			if at >= run && (size > 1 || c == '+') {
				run = inURL.skip(s, at, len(s))
				isURL = size > 1 || hasEscape(s[at:run], '%')
			}
			if isURL && s[at] == '+' {
				c = ' '
			}
		}
		if s[at] == '=' && c == '\n' { // a line was divided here
			b.drop(size)
		} else {
			b.put(c, size)
		}
		ok = ok || size > 1
		at += size
	}
	b.text = string(b.bytes)
	return b.view, ok
}

// hasEscape reports whether s has an escape that begins with a byte.
func hasEscape(s string, begin byte) bool {
	for at := 0; ; at++ {
		n := strings.IndexByte(s[at:], begin)
		if n < 0 {
			return false
		}
		at += n
		if _, size := escapeAt(s, at, false); size > 1 {
			return true
		}
	}
}

// escapeAt returns the character of the escape at at, and the length of the escape. It is 1 if there is none.
func escapeAt(s string, at int, mail bool) (c byte, size int) {
	if s[at] == '\\' && at > 0 && s[at-1] == 0x1b {
		return s[at], 1 // it ends a link of a terminal
	}
	rest := s[at:min(len(s), at+6)]
	for _, e := range escapes[rest[0]] {
		if strings.HasPrefix(rest, e.text) {
			return e.char, len(e.text)
		}
	}
	switch {
	case rest[0] == '%':
		c, size = hexByte(rest, 1, 2)
		if c >= utf8.RuneSelf && !(at > 2 && s[at-3] == '%') && !strings.HasPrefix(s[at+size:], "%") {
			return '%', 1 // a letter outside ASCII has more bytes
		}
		return c, size
	case strings.HasPrefix(rest, `\u`):
		return hexByte(rest, 2, 4)
	case strings.HasPrefix(rest, `\x`):
		return hexByte(rest, 2, 2)
	case rest[0] != '=' || at > 0 && s[at-1] == '=':
	case mail && strings.HasPrefix(rest, "=\n"):
		return '\n', 2
	case mail && strings.HasPrefix(rest, "=\r\n"):
		return '\n', 3
	case len(rest) > 2 && upperHex[rest[1]] && upperHex[rest[2]] &&
		(mail || at > 2 && s[at-3] == '=' || length(rest, "quoted-printable") > 0):
		return hexByte(rest, 1, 2)
	}
	return s[at], 1
}

// hexByte returns the byte of an escape with digits from from on. In a text of Go or JSON, control characters and those
// outside ASCII are masks.
func hexByte(escape string, from, digits int) (c byte, size int) {
	end := from + digits
	if len(escape) < end || !anyHex.all(escape[from:end]) {
		return escape[0], 1
	}
	n, _ := strconv.ParseUint(escape[from:end], 16, 16)
	if escape[0] == '\\' && (n <= ' ' || n >= utf8.RuneSelf) {
		return mask, end
	}
	return byte(n), end
}

// isMail reports whether s has a line of a mail that was divided, because lines have at most 76 characters there.
func isMail(s string) bool {
	for line := range strings.Lines(s) {
		n := len(strings.TrimRight(line, "\r\n"))
		if n > 60 && n <= 77 && n < len(line) && line[n-1] == '=' && line[n-2] != '=' {
			return true
		}
	}
	return false
}
