package redact

import "strings"

var maskBytes, unseen = chars("\x1f"), chars("\x1f\x00")

// value redacts the value of a name and returns the position from which the search continues.
func (n *named) value(a assignment) (next int) {
	s, at := n.s, a.op.at
	if a.op.nextLine {
		return n.below(a)
	}
	for a.op.sign == ':' && (strings.HasPrefix(s[at:], "&") || strings.HasPrefix(s[at:], "!!")) { // tags of YAML
		end := notSpaces.skip(s, at, 64)
		if end == len(s) || !isBlank(s[end]) {
			break
		}
		at = skipBlanks(s, end)
	}
	opening := maskBytes.skip(s, at, 4) // for example, of a quotation mark
	if strings.HasPrefix(s[opening:], Redacted) {
		at = opening
	}
	clean := at // after marks, so that a secret after them is found
	for strings.HasPrefix(s[clean:], Redacted) {
		clean += len(Redacted)
	}
	if clean == len(s) || clean > at && !isAlnum(s[clean]) {
		return clean
	}
	at = unseen.skip(s, clean, len(s)) // for example, an opening quotation mark
	if at == len(s) || at > clean && isSpace(s[at]) {
		return at
	}
	if isQuote(s[at]) {
		if !a.op.quoted && closesQuote(s, a.start, at) { // "token=" + token
			return at
		}
		return n.quoted(a, at)
	}
	if c, size := escapeAt(s, at, false); size > 1 && isQuote(c) {
		return at // the decoded view has the quote
	}
	if q := literalMarks.skip(s, at, 2); q < len(s) && isQuote(s[q]) { // b"x", r'x', @"x" and $'x'
		return n.quoted(a, q)
	}
	switch s[at] {
	case '{', '[':
		return n.bracket(a, at)
	case '|', '>':
		if a.op.sign == ':' && length(lineFrom(s, at), "block-scalar") > 0 {
			return n.block(a, lineEnd(s, at))
		}
	case '<':
		if size := length(s[at:min(len(s), at+60)], "here-document"); size > 0 {
			text := hereDocument(s, at, strings.TrimLeft(s[at:at+size], "<~'\"-"))
			if n.hides(&a, s[text.from:text.to]) {
				n.found = append(n.found, text)
			}
			return text.to
		}
	}
	return n.bare(a, at)
}

func afterQuote(s string, start int) bool { return start > 0 && isQuote(s[start-1]) }

// closesQuote reports whether the quote at q closes a text that contains the name at start: the line has an odd
// number of such quotes before the name, and no literal begins at q.
func closesQuote(s string, start, q int) bool {
	if start > 0 && s[start-1] == s[q] {
		return true
	}
	odd := strings.Count(s[lineStart(s, start):start], s[q:q+1])%2 == 1
	return odd && (q+1 == len(s) || strings.IndexByte(" \t\r\n)+,;.]}:&|?", s[q+1]) >= 0)
}

var literalMarks = chars("rRbBfFuUL@$")

// quoted redacts a value in quotes, and the literals that are joined to it: "hun" + "ter2".
func (n *named) quoted(a assignment, q int) (next int) {
	s := n.s
	if a.kind < everything && !a.op.flag && (a.op.sign == ',' || a.op.sign == 'c') {
		a.kind = weak
	}
	first := true
	for {
		from, to, after := quotedSpan(s, q)
		value := s[from:to]
		if a.op.flag && first && !isFlagValue(value) {
			return from
		}
		if a.op.sign == ',' && !a.op.flag && first && a.kind == everything && !isRandom(value) && !hasScheme(value) {
			return from // for example, a list of names: {"password", "token"}
		}
		if first && !n.hides(&a, value) {
			return max(from, after)
		}
		if to > from && value != Redacted {
			n.found = append(n.found, span{from, to, ""})
		}
		first = false
		joined := joinedQuote(s, after)
		if joined < 0 || joined == after && closesQuote(s, a.start, joined) {
			return after
		}
		q = joined
	}
}

// isFlagValue reports whether the text after a flag can be its value: one word that does not begin with a dash.
func isFlagValue(s string) bool { return s != "" && s[0] != '-' && !strings.ContainsAny(s, " \t\r\n") }

// quotedSpan returns the span inside the quotes that begin at q, and the position after them.
func quotedSpan(s string, q int) (from, to, after int) {
	if triple := strings.Repeat(s[q:q+1], 3); strings.HasPrefix(s[q:], triple) {
		to, _ = index(s, q+3, triple)
		return q + 3, to, min(to+3, len(s))
	}
	to = quoteEnd(s, q+1, s[q])
	return q + 1, to, min(to+1, len(s))
}

// joinedQuote returns the position of the next literal that is joined to the one before at, or -1.
func joinedQuote(s string, at int) int {
	next := skipBlanks(s, at)
	if next == at && next < len(s) && isQuote(s[next]) && next > 1 && !isBlank(s[next-2]) {
		return next // a shell joins 'a'"b"
	}
	if next == len(s) || strings.IndexByte("+.&", s[next]) < 0 && !strings.HasPrefix(s[next:], "\\\n") {
		return -1
	}
	next = skipSpaces(s, next+1)
	if next < len(s) && isQuote(s[next]) {
		return next
	}
	return -1
}

// quoteEnd returns the end of a quoted text: the next quote without a backslash. A text without such a quote in the
// next lines ends with its line, or with s.
func quoteEnd(s string, at int, quote byte) (end int) {
	from, line := at, -1
	defer func() { visit(end - from) }()
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			if line >= 0 && opensValue(s, i) {
				return line // the text was not closed, and another one begins
			}
			return i
		case '\n':
			if line < 0 {
				line = i
			}
			if i-line > maxQuoted {
				return line
			}
		}
	}
	if line >= 0 {
		return line
	}
	return len(s)
}

// opensValue reports whether a quote follows an operator and precedes a value. For example, a log was cut within
// password="x, and a line after it has token="y.
func opensValue(s string, at int) bool {
	before := strings.TrimRight(s[max(0, at-4):at], " ")
	return (strings.HasSuffix(before, "=") || strings.HasSuffix(before, ":")) && at+1 < len(s) &&
		(isAlnum(s[at+1]) || strings.HasPrefix(s[at+1:], Redacted))
}

// maxQuoted bounds the bytes of a quoted text after its first line.
const maxQuoted = 8 << 10

// bracket redacts a value that is an object or a list.
func (n *named) bracket(a assignment, at int) (next int) {
	s := n.s
	if a.kind <= weak || strings.HasPrefix(s[at:], "{{") || strings.HasPrefix(s[at:], "[]") || at < n.seen ||
		s[at] == '{' && at < n.inside {
		return at
	}
	end := n.bracketEnd(at)
	inner := ""
	if s[at] == '[' {
		n.seen, inner = end, strings.TrimSpace(s[at+1:max(at+1, end-1)])
	}
	if s[at] == '{' || strings.Contains(inner, "{") {
		if a.kind == everything {
			n.inside, n.all = max(n.inside, end), n.kubernetes
		}
		return at
	}
	switch {
	case end < len(s) && s[end] == '(', !strings.ContainsAny(inner, "\"'`") && (a.kind == onlyTexts || isCode(inner, "")):
		return at
	case strings.Trim(inner, " \t\r\n,\"'") == "" || strings.Trim(inner, "0123456789.,- ") == "":
		return end
	}
	n.found = append(n.found, span{at, end, ""})
	return end
}

// bracketEnd returns the position after the bracket that closes the one at at. A bracket that is not closed ends with
// the line, or with the text if a quoted text follows.
func (n *named) bracketEnd(at int) int {
	s := n.s
	if n.closes == nil {
		n.closes = closingBrackets(s)
		visit(len(s))
	}
	if end, ok := n.closes[at]; ok {
		return end + 1
	}
	if first := skipSpaces(s, at+1); first < len(s) && (isQuote(s[first]) || s[first] == '{') {
		return len(s)
	}
	return lineEnd(s, at)
}

// closingBrackets returns the position of the closing bracket for each opening one that is closed.
func closingBrackets(s string) map[int]int {
	closes := make(map[int]int)
	var opened []int
	for i := range len(s) {
		switch s[i] {
		case '[', '{':
			opened = append(opened, i)
		case ']', '}':
			if last := len(opened) - 1; last >= 0 {
				closes[opened[last]] = i
				opened = opened[:last]
			}
		}
	}
	return closes
}

// hereDocument returns the lines between the one at at and the next one that has the end mark only.
func hereDocument(s string, at int, end string) span {
	text := span{from: skipLine(s, at)}
	for text.to = text.from; text.to < len(s); text.to = skipLine(s, text.to) {
		if strings.TrimSpace(s[text.to:lineEnd(s, text.to)]) == end {
			return span{text.from, max(text.from, text.to-1), ""}
		}
	}
	return text
}
