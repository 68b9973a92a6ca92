package redact

import "strings"

// bare redacts a value without quotes.
func (n *named) bare(a assignment, at int) (next int) {
	s := n.s
	if isHeader(a.name) && (a.op.sign == ':' || a.op.sign == '=') {
		return n.header(a, at)
	}
	if end := templateEnd(s, at); end > at {
		return end
	}
	to := n.bareEnd(a, at, maxJudged)
	value := s[at:to]
	trimmed := strings.TrimRight(value, ".:!?")
	if trimmed == "" || a.kind == everything && trimmed != value && len(value)-len(trimmed) > 1 && len(trimmed) <= 4 {
		return to
	}
	if !n.hides(&a, value) || isCodeValue(s, a, at, to) {
		return at
	}
	isIdentifier := a.kind == onlyTexts && len(value) < 24 && !hasDigit(value) // for example, token: identifier
	if a.op.spaced && isDottedName(trimmed) && (isIdentifier || isProse(lineFrom(s, at))) {
		return at
	}
	if to == at+maxJudged {
		to = n.bareEnd(a, at, len(s))
	}
	if scheme := schemeLength(s[at:]); scheme > 0 {
		to = n.bareEnd(a, at+scheme, len(s))
	} else if a.kind == everything && a.op.spaced && beginsLine(s, a.start) {
		if rest := passphraseEnd(s, to); rest > to {
			to = rest
		}
	}
	n.found = append(n.found, span{at, to, ""})
	return to
}

// maxJudged bounds the bytes of a value without quotes that decide whether it is secret. In a=b,a=b,a=b each value
// without blanks reaches to the end of the text, so that the time would be quadratic without a bound.
const maxJudged = 101

// bareEnd returns the end of the value without quotes that begins at at, but at most most bytes after at.
func (n *named) bareEnd(a assignment, at, most int) int {
	end := min(bareEnd(n.s[:min(len(n.s), at+most+1)], a, at), at+most)
	visit(end - at)
	return end
}

// insideBare are bytes that never end a value without quotes.
var insideBare = chars("A-Za-z0-9_.:=/+~@#$*!?\x80-\xff-")

// bareEnd returns the end of the value without quotes that begins at at.
func bareEnd(s string, a assignment, at int) int {
	depth := 0
	alone := a.op.sign == '=' && !a.op.spaced && beginsLine(s, a.start) // a line of an .env file
	for i := at; i < len(s); i++ {
		c := s[i]
		if insideBare[c] {
			continue
		}
		if isSpace(c) || c == 0 { // zero is between the variables of an environment
			return i
		}
		next := byte('\n')
		if i+1 < len(s) {
			next = s[i+1]
		}
		switch c {
		case '"', '\'', '`':
			if !alnum[next] || i == at {
				return i
			}
		case mask: // for example, a closing quotation mark
			first := i
			if i = maskBytes.skip(s, i, len(s)) - 1; i+1 == len(s) || !alnum[s[i+1]] {
				return maskBytes.back(s, first, first-at)
			}
		case '<':
			if !alone || next == '/' {
				return i
			}
		case ',', ';', '&':
			if isSpace(next) || isQuote(next) || next == '\\' || c == '&' && next == '&' || followedByName(s, i+1) {
				return i
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}', '>':
			if depth--; depth < 0 && (c != '>' || !alone) && (i+1 == len(s) || !alnum[next]) {
				return i
			}
		case '\\':
			if strings.IndexByte("nrt\"'`u\\\n\r", next) >= 0 {
				return i
			}
		case '%':
			if a.op.sign == '=' && (strings.HasPrefix(s[i:], "%26") || strings.HasPrefix(s[i:], "%20")) {
				return i
			}
		case '|':
			if a.op.sign == '|' || next == '|' {
				return i
			}
		}
	}
	return len(s)
}

// templateEnd returns the end of the template at at, as in ${{ secrets.TOKEN }}, or at.
func templateEnd(s string, at int) int {
	if s[at] != '$' && s[at] != '{' && s[at] != '<' {
		return at
	}
	line := lineFrom(s, at)
	if visit(len(line)); !strings.ContainsAny(line, "})>") { // every template ends with one, and a pattern takes longer
		return at
	}
	return at + length(line, "template")
}

// passphraseEnd returns the end of the words after the first one of a value that is the rest of a line, as in
// password: correct horse battery staple. It returns at if the line continues in another way.
func passphraseEnd(s string, at int) int {
	rest, _, _ := strings.Cut(strings.TrimRight(lineFrom(s, at), " \t\r"), " #")
	if rest = strings.TrimRight(rest, " \t"); rest == "" || len(rest) > 120 || !fits(rest, "passphrase") {
		return at
	}
	return at + len(rest)
}

// followedByName reports whether another name with a value begins at at, as after the semicolon in Password=x;User=y.
func followedByName(s string, at int) bool {
	end := inField.skip(s, at, 40)
	return end == at || end < len(s) && (s[end] == '=' || s[end] == ':')
}

var inField = chars("A-Za-z0-9_. \x80-\xff-")

// isHeader reports whether a name is an HTTP header whose value is the rest of the line.
func isHeader(name string) bool {
	return hasAny(strings.ToLower(name[max(0, len(name)-20):]), "headers", strings.HasSuffix)
}

// header redacts the value of an HTTP header. In a quoted header the value ends with the quote, otherwise with the
// line.
func (n *named) header(a assignment, at int) (next int) {
	s := n.s
	quote := byte(0)
	if a.start > 0 && isQuote(s[a.start-1]) {
		quote = s[a.start-1]
	}
	alone := beginsLine(s, a.start) && quote == 0
	value := strings.TrimRight(s[at:n.headerEnd(at, maxJudged, quote, alone)], " \t\x1f")
	if !alone && quote == 0 && !strings.Contains(value, "=") && schemeLength(value) == 0 && !isRandom(wordAt(value, 0)) {
		return at // for example, "the Authorization: header"
	}
	credential := wordAt(value, schemeLength(value)) // in Token x, the first word looks like a type
	isCredential := len(credential) < len(value) && len(credential) >= 8 && any64.all(credential) && hasDigit(credential)
	if !n.hides(&a, value) || !isCredential && isCodeValue(s, a, at, n.bareEnd(a, at, maxJudged)) {
		return at
	}
	value = strings.TrimRight(s[at:n.headerEnd(at, len(s), quote, alone)], " \t\x1f")
	n.found = append(n.found, span{at, at + len(value), ""})
	return at + len(value)
}

// headerEnd returns the end of the value of an HTTP header that begins at at, but at most most bytes after at. quote is
// the quote of the header, or 0; alone reports whether the header has a line of its own.
func (n *named) headerEnd(at, most int, quote byte, alone bool) (end int) {
	s := n.s
	for end = at; end < len(s) && end-at < most && s[end] != '\n' && s[end] != '\r'; end++ {
		c := s[end]
		isEscape := c == '\\' && end+1 < len(s) && strings.IndexByte("nr\"'", s[end+1]) >= 0
		if c == quote || isEscape || !alone && (c == '<' || quote == 0 && isQuote(c)) {
			break
		}
	}
	visit(end - at)
	return end
}

// isCodeValue reports whether the value s[at:to] is an expression of a program, as in password = os.Getenv("PASSWORD").
func isCodeValue(s string, a assignment, at, to int) bool {
	value := s[at:to]
	if value == "" || strings.IndexByte("wc+", a.op.sign) >= 0 {
		return value != ""
	}
	if call := strings.IndexAny(value, "([{"); call > 0 && isDottedName(value[:call]) {
		argument := a.start > 0 && strings.IndexByte("(,", s[a.start-1]) >= 0
		if a.op.spaced || argument || strings.HasSuffix(value, "()") || strings.HasSuffix(value, "{}") ||
			call >= 3 && to < len(s) && isQuote(s[to]) {
			return true
		}
	}
	base := strings.TrimRight(value, "[]0123456789,)")
	if strings.ContainsAny(value, ".[") && a.start > 0 && isDottedName(base) {
		if last := before(s, a.start); last == 0 || last == '(' || last == ',' {
			return !hasDigit(base)
		}
	}
	isPointer := (value[0] == '&' || value[0] == '*') && isDottedName(value[1:])
	after := s[to:min(len(s), to+4)]
	return isPointer || a.op.spaced && (value[0] == '(' || isCode(strings.TrimRight(value, ",;)"), after))
}

// isCode reports whether a value could be an expression and not a literal: a name with dots, or a name before a
// comma, a semicolon or an operator. Names with digits do not count.
func isCode(value, after string) bool {
	if !isDottedName(value) || hasDigit(value) {
		return false
	}
	if strings.Contains(value, ".") || typeWords[strings.ToLower(value)] {
		return true
	}
	return length(strings.TrimLeft(after, ")"), "code-after") > 0
}
