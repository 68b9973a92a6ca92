package redact

import (
	"slices"
	"strings"
)

// A span is a part of a text that must be replaced.
type span struct{ from, to int }

// replace returns s with each span replaced by Redacted. The spans are in order and do not overlap.
func replace(s string, spans []span) string {
	var b strings.Builder
	b.Grow(len(s))
	done := 0
	for _, p := range spans {
		b.WriteString(s[done:p.from])
		b.WriteString(Redacted)
		done = p.to
	}
	b.WriteString(s[done:])
	return b.String()
}

// merge sorts spans and joins those that overlap.
func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	merged := spans[:0]
	for _, p := range spans {
		if n := len(merged); n > 0 && p.from < merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, p.to)
			continue
		}
		if p.from < p.to {
			merged = append(merged, p)
		}
	}
	return merged
}

// without returns the spans that overlap none of others. Both lists are sorted.
func without(spans, others []span) []span {
	kept := spans[:0]
	for _, p := range spans {
		for len(others) > 0 && others[0].to <= p.from {
			others = others[1:]
		}
		if len(others) == 0 || others[0].from >= p.to {
			kept = append(kept, p)
		}
	}
	return kept
}

// find returns the spans of a text that the built-in rules replace. Each finder reads the text once and independently
// of the others, so that the time is linear in the length of the text.
func (r *Redactor) find(s string) []span {
	var secrets []span
	if !r.KeepSecrets {
		secrets = appendPrivateKeys(secrets, s)
		secrets = appendURLSecrets(secrets, s)
		secrets = appendTokens(secrets, s)
	}
	secrets = merge(appendElements(secrets, s, r))
	secrets = merge(appendNamed(secrets, s, r, slices.Clone(secrets)))
	if r.KeepPersonal {
		return secrets
	}
	// For example, the host of https://user:pa@ss@example.org is not a part of an e-mail address.
	personal := without(merge(appendPersonal(nil, s)), secrets)
	return merge(append(secrets, personal...))
}

// spans returns the spans that the built-in rules and Patterns replace.
func (r *Redactor) spans(s string) []span {
	found := r.find(s)
	if len(r.Patterns) == 0 {
		return found
	}
	for _, p := range r.Patterns {
		for _, at := range p.FindAllStringIndex(s, -1) {
			found = append(found, span{at[0], at[1]})
		}
	}
	return merge(found)
}

// Classes of bytes. Bytes of letters outside ASCII count as letters.
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80 }
func isAlnum(c byte) bool  { return isDigit(c) || isLetter(c) }
func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isBlank(c byte) bool  { return c == ' ' || c == '\t' }
func isSpace(c byte) bool  { return isBlank(c) || c == '\n' || c == '\r' }
func isQuote(c byte) bool  { return c == '"' || c == '\'' || c == '`' }

func skipBlanks(s string, at int) int {
	for at < len(s) && isBlank(s[at]) {
		at++
	}
	return at
}

func skipSpaces(s string, at int) int {
	for at < len(s) && isSpace(s[at]) {
		at++
	}
	return at
}

// lineEnd returns the position of the line break after at, or the end of the text.
func lineEnd(s string, at int) int {
	if n := strings.IndexByte(s[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(s)
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
	digits = chars("0-9")
	hex    = chars("0-9a-f")
	anyHex = chars("0-9a-fA-F")
	lower  = chars("a-z0-9")
	upper  = chars("A-Z0-9")
	alnum  = chars("A-Za-z0-9")
	word   = chars("A-Za-z0-9_")
	slug   = chars("A-Za-z0-9_-")
	dotted = chars("A-Za-z0-9_.-")
	equals = chars("A-Za-z0-9_=-")
	base32 = chars("A-Z2-7")
	std64  = chars("A-Za-z0-9+/=")
	path   = chars("A-Za-z0-9+/=_-")
	any64  = chars("A-Za-z0-9+/=_.~%-")
)
