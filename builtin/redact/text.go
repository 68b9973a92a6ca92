package redact

import (
	"regexp"
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

// visited counts the bytes that scans of any length read. It is nil except in tests.
var visited *int

// visit counts the bytes of a scan.
func visit(bytes int) {
	if visited != nil {
		*visited += bytes
	}
}

// past returns the position after a text at at, or at if another one is there.
func past(s string, at int, text string) int {
	if strings.HasPrefix(s[at:], text) {
		return at + len(text)
	}
	return at
}

func skipBlanks(s string, from int) int { return blanks.skip(s, from, len(s)) }
func skipSpaces(s string, from int) int { return spaces.skip(s, from, len(s)) }

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
	at := lineMarks.back(s, start, 400)
	return at == 0 || start-at == 400 || s[at-1] == '\n'
}

// before returns the last byte before at on its line that is not a blank, or 0 if there is none.
func before(s string, at int) byte {
	if at = blanks.back(s, at, len(s)); at == 0 || s[at-1] == '\n' {
		return 0
	}
	return s[at-1]
}

// wordAt returns the text at at up to the next blank.
func wordAt(s string, at int) string { return s[at:notSpaces.skip(s, at, 64)] }

// lastWord returns the word before start, without blanks.
func lastWord(s string, start int) string {
	to := blanks.back(s, start, 8)
	return s[notSpaces.back(s, to, 16):to]
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

// not returns the bytes that are not in the alphabet.
func (a *alphabet) not() *alphabet {
	other := alphabet{}
	for c := range a {
		other[c] = !a[c]
	}
	return &other
}

// skip returns the end of the bytes of the alphabet that begin at at, but at most most bytes after at.
func (a *alphabet) skip(s string, at, most int) int {
	from := at
	for at < len(s) && a[s[at]] && at-from < most {
		at++
	}
	visit(at - from)
	return at
}

// back returns the beginning of the bytes of the alphabet that end before at, but at most most bytes before at.
func (a *alphabet) back(s string, at, most int) int {
	from := at
	for at > 0 && a[s[at-1]] && from-at < most {
		at--
	}
	visit(from - at)
	return at
}

// all reports whether all bytes of s are in the alphabet.
func (a *alphabet) all(s string) bool { return a.skip(s, 0, len(s)) == len(s) }

// alphabets are the sets of bytes that tables name.
var alphabets = func() map[string]*alphabet {
	alphabets := map[string]*alphabet{"-": chars("")}
	for _, row := range table("alphabets") {
		alphabets[row[0]] = chars(row[1])
	}
	return alphabets
}()

var (
	digits, anyHex, lowerHex   = alphabets["digits"], alphabets["anyhex"], alphabets["hex"]
	lower, upper, alnum, word  = alphabets["lower"], alphabets["upper"], alphabets["alnum"], alphabets["word"]
	slug, dotted, std64, any64 = alphabets["slug"], alphabets["dotted"], alphabets["std64"], alphabets["any64"]

	nameBytes      = chars("A-Za-z0-9_.\x80-\xff-")
	blanks, spaces = chars(" \t"), chars(" \t\r\n")
	notSpaces      = spaces.not()
	lineMarks      = chars(" \t\"'#>+*|/\x1f-")
)

// syntax has the patterns of the table of the same name. They match at the beginning of a text.
var syntax = func() map[string]*regexp.Regexp {
	forms, syntax := make(map[string]string), make(map[string]*regexp.Regexp)
	for _, row := range table("syntax") {
		forms[row[0]] += "|" + strings.Join(row[1:], " ")
		syntax[row[0]] = regexp.MustCompile(`(?s)^(?:` + forms[row[0]][1:] + `)`)
		syntax[row[0]].Longest()
	}
	return syntax
}()

// fits reports whether the whole text has a form of the table syntax.
func fits(s, form string) bool { return length(s, form) == len(s) }

// length returns the length of the form of the table syntax at the beginning of s, or 0.
func length(s, form string) int {
	visit(min(len(s), 64))
	n := syntax[form].FindStringIndex(s)
	if n == nil {
		return 0
	}
	return n[1]
}

// isDottedName reports whether s is a name, or names joined by dots, as in cfg.Password.
func isDottedName(s string) bool {
	return s != "" && !isDigit(s[0]) && strings.Trim(s, ".") == s && !strings.Contains(s, "..") && dottedNames.all(s)
}

var dottedNames = chars("A-Za-z0-9_.\x80-\xff")

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
