package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Classes of bytes. Bytes of letters outside ASCII count as letters.
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80 }
func isAlnum(c byte) bool  { return isDigit(c) || isLetter(c) }
func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isBlank(c byte) bool  { return c == ' ' || c == '\t' }
func isSpace(c byte) bool  { return isBlank(c) || c == '\n' || c == '\r' }
func isQuote(c byte) bool  { return c == '"' || c == '\'' || c == '`' }
func isName(s string) bool { return s != "" && word.all(s) }

// isDottedName reports whether s is a name, or names joined by dots, as in cfg.Password.
func isDottedName(s string) bool {
	if s == "" || !isLetter(s[0]) && s[0] != '_' {
		return false
	}
	for i := range len(s) {
		if !isAlnum(s[i]) && s[i] != '_' && s[i] != '.' {
			return false
		}
	}
	return s[len(s)-1] != '.' && !strings.Contains(s, "..")
}

// visited counts the bytes that scans of any length read. It is nil except in tests.
var visited *int

// visit counts the bytes of a scan.
func visit(bytes int) {
	if visited != nil {
		*visited += bytes
	}
}

func skipBlanks(s string, from int) int {
	at := from
	for at < len(s) && isBlank(s[at]) {
		at++
	}
	visit(at - from)
	return at
}

func skipSpaces(s string, from int) int {
	at := from
	for at < len(s) && isSpace(s[at]) {
		at++
	}
	visit(at - from)
	return at
}

// index returns the position of part at or after from, or the end of the text.
func index(s string, from int, part string) (at int, ok bool) {
	n := strings.Index(s[from:], part)
	if at = from + n; n < 0 {
		at = len(s)
	}
	visit(at - from)
	return at, n >= 0
}

func skipLine(s string, at int) int { return min(lineEnd(s, at)+1, len(s)) }

// lineEnd returns the position of the line break after at, or the end of the text.
func lineEnd(s string, at int) int {
	end, _ := index(s, at, "\n")
	return end
}

// lineFrom returns the rest of the line at at, but at most 200 bytes.
func lineFrom(s string, at int) string {
	s = s[at:min(len(s), at+200)]
	return s[:lineEnd(s, 0)]
}

// lineStart returns the beginning of the line that contains at, but at most 400 bytes before at.
func lineStart(s string, at int) int {
	from := max(0, at-400)
	return from + strings.LastIndexByte(s[from:at], '\n') + 1
}

// beginsLine reports whether only indentation and marks precede the name at start on its line.
func beginsLine(s string, start int) bool {
	at := start
	for at > 0 && start-at < 400 && lineMarks[s[at-1]] {
		at--
	}
	return at == 0 || start-at == 400 || s[at-1] == '\n'
}

var lineMarks = chars(" \t\"'#>+*|/\x1f-")

// before returns the last byte before at on its line that is not a blank, or 0 if there is none.
func before(s string, at int) byte {
	for at > 0 && isBlank(s[at-1]) {
		at--
	}
	if at == 0 || s[at-1] == '\n' {
		return 0
	}
	return s[at-1]
}

// wordAt returns the text at at up to the next blank.
func wordAt(s string, at int) string {
	end := at
	for end < len(s) && !isSpace(s[end]) && end-at < 64 {
		end++
	}
	return s[at:end]
}

// lastWord returns the word before start, without blanks.
func lastWord(s string, start int) string {
	to := start
	for to > 0 && isBlank(s[to-1]) && start-to < 8 {
		to--
	}
	from := to
	for from > 0 && !isSpace(s[from-1]) && to-from < 16 {
		from--
	}
	return s[from:to]
}

// An alphabet is a set of bytes.
type alphabet [256]bool

// chars makes an alphabet of a list of bytes and ranges, for example "a-z0-9_". A minus sign at the end is a member.
func chars(list string) *alphabet {
	var a alphabet
	for i := 0; i < len(list); i++ {
		if i+2 < len(list) && list[i+1] == '-' {
			for c := int(list[i]); c <= int(list[i+2]); c++ {
				a[c] = true
			}
			i += 2
			continue
		}
		a[list[i]] = true
	}
	return &a
}

// all reports whether all bytes of s are in the alphabet.
func (a *alphabet) all(s string) bool {
	for i := range len(s) {
		if !a[s[i]] {
			return false
		}
	}
	return true
}

var (
	digits   = chars("0-9")
	lowerHex = chars("0-9a-f")
	upperHex = chars("0-9A-F")
	anyHex   = chars("0-9a-fA-F")
	lower    = chars("a-z0-9")
	upper    = chars("A-Z0-9")
	alnum    = chars("A-Za-z0-9")
	word     = chars("A-Za-z0-9_")
	slug     = chars("A-Za-z0-9_-")
	dotted   = chars("A-Za-z0-9_.-")
	equals   = chars("A-Za-z0-9_=-")
	base32   = chars("A-Z2-7")
	std64    = chars("A-Za-z0-9+/=")
	path     = chars("A-Za-z0-9+/=_-")
	any64    = chars("A-Za-z0-9+/=_.~%-")
)

// isForeign reports whether the character that contains the byte at at is neither ASCII nor Latin. Such a character and
// a letter of ASCII belong to different words, as in 密码api_key.
func isForeign(s string, at int) bool {
	if s[at] < utf8.RuneSelf {
		return false
	}
	from := at
	for from > max(0, at-utf8.UTFMax+1) && !utf8.RuneStart(s[from]) {
		from--
	}
	c, size := utf8.DecodeRuneInString(s[from:])
	return from+size <= at || !unicode.Is(unicode.Latin, c)
}
