package redact

import (
	"encoding/base64"
	"strings"
)

// appendTokens appends the spans of tokens with well-known forms. A token begins with a word.
func appendTokens(found []span, s string) []span {
	runs := runs{s: s, ends: make(map[*alphabet]span, 8)}
	for i := 0; i < len(s); {
		if !alnum[s[i]] && s[i] != '$' && s[i] != '{' {
			i++
			continue
		}
		p, ok := runs.tokenAt(i)
		if n := max(escaped(s, i), quotedPrintable(s, i)); !ok && n > 0 {
			p, ok = runs.tokenAt(i + n)
		}
		if ok {
			found = append(found, p)
			i = p.to
			continue
		}
		i = max(i+1, alnum.skip(s, i, len(s))) // a token can follow the dollar sign or the brace
	}
	return appendMarked(found, s)
}

// escaped returns the number of bytes of the word at at that belong to an escape sequence or are an option of a
// command. For example, a token begins after the n of \nghp_..., after the 3D of %3Dghp_... and after the p of
// -pghp_....
func escaped(s string, at int) int {
	if at == 0 {
		return 0
	}
	from, size := at, 0 // hexadecimal digits
	switch last, c := s[at-1], s[at]; {
	case last == 0x1b, last == '\\' && strings.IndexByte("nrtbfv", c) >= 0, last == '-' && (at == 1 || isSpace(s[at-2])):
		return 1
	case last == '%':
		size = 2
	case last == '\\' && c == 'x':
		from, size = at+1, 2
	case last == '\\' && c == 'u':
		from, size = at+1, 4
	}
	if size > 0 && from+size <= len(s) && anyHex.all(s[from:from+size]) {
		return from + size - at
	}
	return 0
}

// quotedPrintable returns 2 if the word at at begins with the digits of a character in the encoding of mails, as in
// =3Dghp_.... Only characters that are encoded there count: other words can begin with such digits, too.
func quotedPrintable(s string, at int) int {
	if at == 0 || s[at-1] != '=' {
		return 0
	}
	return max(length(s[at-1:min(len(s), at+2)], "quoted-printable")-1, 0)
}

// beginsWord reports whether a word can begin at at: no ASCII letter or digit precedes it, or one that belongs to an
// escape sequence. A letter of another script does not matter, because there words need no blanks between them.
func beginsWord(s string, at int) bool {
	if at == 0 || !alnum[s[at-1]] {
		return true
	}
	return skipEscape(s, at-1) == at
}

// skipEscape returns the end of the escape sequence that contains at, or at.
func skipEscape(s string, at int) int {
	for begin := at; begin > max(0, at-5); begin-- {
		if end := begin + escaped(s, begin); end > at && s[begin-1] != '-' && s[begin-1] != 0x1b {
			return end
		}
	}
	return at
}

// runs finds the ends of runs of bytes. It remembers the last run of each alphabet, so that a run is read once however
// many prefixes it contains.
type runs struct {
	s    string
	ends map[*alphabet]span
}

// end returns the end of the run of bytes of a that contains at, or at if a does not contain the byte at at.
func (r *runs) end(a *alphabet, at int) int {
	if p := r.ends[a]; p.from <= at && at < p.to {
		return p.to
	}
	end := a.skip(r.s, at, len(r.s))
	r.ends[a] = span{at, end, ""}
	return end
}

// tokenAt returns the span of the token that begins at at.
func (r *runs) tokenAt(at int) (span, bool) {
	s := r.s
	if at+8 > len(s) {
		return span{}, false
	}
	second := s[at+1]
	switch s[at] {
	case 'e':
		if second == 'y' || second == 'w' {
			if end := r.webToken(at); end > at {
				return span{at, end, "json-web-token"}, true
			}
		}
	case 'M', 'N', 'O':
		if end := r.end(dotted, at); end-at >= 56 && end-at <= 90 && fits(s[at:end], "discord-token") && isRandom(s[at:end]) {
			return span{at, end, "discord-token"}, true
		}
	}
	if !seconds[s[at]][second] {
		return span{}, false
	}
	for _, f := range formsBy[s[at]] {
		if f.prefix[1] != second || !strings.HasPrefix(s[at:], f.prefix) {
			continue
		}
		from := at + len(f.prefix)
		end := r.end(f.body, from)
		cut := end == len(s)
		if end > from && (s[end-1] == '.' || s[end-1] == ',') { // the end of a sentence
			end--
		}
		n := end - from
		body := s[from:min(end, from+256)]
		fits := n >= f.least && (f.most == 0 || n <= f.most) && f.test(body)
		if !fits && !(cut && f.begins(body)) {
			continue
		}
		if isRepetitive(body) || published[s[at:end]] || f.by == "random" && at > 0 && s[at-1] == '_' {
			continue
		}
		if f.isAddress() {
			return span{from, end, f.kind}, true
		}
		return span{at, end, f.kind}, true
	}
	return span{}, false
}

// webToken returns the end of the JSON web token that begins at at, or 0. The first segment of a token is a JSON object
// that names an algorithm, a type or a key. A token that was cut is recognised by the beginning of that object.
func (r *runs) webToken(at int) int {
	head := r.end(slug, at)
	if head-at < 10 || strings.IndexByte("Jo0kA", r.s[at+2]) < 0 { // {", and { before a line break, a tab or a blank
		return 0
	}
	end := r.end(any64, at)
	if strings.HasPrefix(r.s[head:], ".ey") && end-head > 10 || headerBegins(r.s[at:min(head, at+32)]) {
		visit(end - head)
		return head + len(strings.TrimRight(r.s[head:end], ".-"))
	}
	return 0
}

// headerBegins reports whether part is the beginning of the header of a JSON web token.
func headerBegins(part string) bool {
	plain, _ := base64.RawURLEncoding.DecodeString(part[:len(part)/4*4])
	object := strings.TrimLeft(strings.TrimPrefix(string(plain), "{"), " \t\r\n")
	return hasAny(object, "header-names", func(object, name string) bool {
		return strings.HasPrefix(object, `"`+name+`"`)
	})
}

// appendMarked appends the spans of tokens with a mark in the middle.
func appendMarked(found []span, s string) []span {
	for i := range markedForms {
		m := &markedForms[i]
		for at := 0; ; {
			mark, more := index(s, at, m.mark)
			if !more {
				break
			}
			at = mark + len(m.mark)
			to := m.after.skip(s, at, m.mostEnd+1)
			right := to - at
			if right < m.leastEnd || right > m.mostEnd {
				continue
			}
			from := min(skipEscape(s, m.before.back(s, mark, m.most+1)), mark)
			left := mark - from
			if m.most == 0 && from > 0 && (!beginsWord(s, from) || s[from-1] == '+' || s[from-1] == '/') { // in base64
				continue
			}
			if left >= m.least && left <= m.most && !isRepetitive(s[from:to]) {
				found = append(found, span{from, to, m.kind})
				at = to
			}
		}
	}
	return found
}
