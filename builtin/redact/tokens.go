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
		if !ok && i > 0 && (s[i-1] == 0x1b || s[i-1] == '-' && (i == 1 || isSpace(s[i-2]))) {
			// The first letter belongs to an escape sequence of a terminal, or is an option such as -p.
			p, ok = runs.tokenAt(i + 1)
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

// beginsWord reports whether a word can begin at at: no ASCII letter or digit precedes it. A letter of another script
// does not matter, because there words need no blanks between them.
func beginsWord(s string, at int) bool { return at == 0 || !alnum[s[at-1]] }

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
	for i := range formsBy[s[at]] {
		f := &formsBy[s[at]][i]
		if f.prefix[1] != second || !strings.HasPrefix(s[at:], f.prefix) {
			continue
		}
		from := at + len(f.prefix)
		end := r.end(f.body.of, from)
		cut := end == len(s)
		if end > from && (s[end-1] == '.' || s[end-1] == ',') { // the end of a sentence
			end--
		}
		body := s[from:min(end, from+256)]
		if !(f.body.has(end-from) && f.test(body)) && !(cut && f.begins(body)) {
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
			to := m.after.of.skip(s, at, m.after.most+1)
			if !m.after.has(to - at) {
				continue
			}
			from := m.before.of.back(s, mark, m.before.most+1)
			inBase64 := from > 0 && (!beginsWord(s, from) || s[from-1] == '+' || s[from-1] == '/')
			if m.before.has(mark-from) && !(m.before.most == 0 && inBase64) && !isRepetitive(s[from:to]) {
				found = append(found, span{from, to, m.kind})
				at = to
			}
		}
	}
	return found
}
