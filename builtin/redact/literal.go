package redact

import (
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// value redacts the value of a name and returns the position from which the search continues.
func (n *named) value(name string, start int, op operator, kind secrecy, makers providerList) (next int) {
	s, at := n.s, op.at
	if op.nextLine {
		return n.below(name, start, op, kind)
	}
	for at < len(s) && (s[at] == '!' || s[at] == '&') && op.sign == ':' { // a tag or an anchor of YAML
		end := at
		for end < len(s) && !isSpace(s[end]) {
			end++
		}
		if s[at] == '!' && !strings.HasPrefix(s[at:], "!!") || end == len(s) || !isBlank(s[end]) {
			break
		}
		at = skipBlanks(s, end)
	}
	clean := skipMarkers(s, at)
	if clean == len(s) || clean > at && !isAlnum(s[clean]) {
		return clean
	}
	at = clean
	escapes := 0
	for at+escapes < len(s) && s[at+escapes] == '\\' {
		escapes++
	}
	if q := at + escapes; quoteAt(s, q) > 0 {
		if !op.quoted && closesQuote(s, start, q) { // "token=" + token
			return q
		}
		return n.quoted(name, q, escapes, op, kind, makers)
	}
	if q := prefixedQuote(s, at); q > at {
		return n.quoted(name, q, 0, op, kind, makers)
	}
	switch s[at] {
	case '{', '[':
		return n.bracket(at, kind, op)
	case '|', '>':
		if op.sign == ':' && isBlockScalar(s, at) {
			return n.block(start, lineEnd(s, at), kind)
		}
	case '<':
		if strings.HasPrefix(s[at:], "<<") {
			if p, ok := hereDocument(s, at); ok {
				if hidden(s[p.from:p.to], kind, makers, "") {
					n.found = append(n.found, p)
				}
				return p.to
			}
		}
	}
	return n.bare(name, start, at, op, kind, makers)
}

// closesQuote reports whether the quote at q closes a text that contains the name at start: the line has an odd number
// of such quotes before the name, and no literal begins at q.
func closesQuote(s string, start, q int) bool {
	if start > 0 && s[start-1] == s[q] {
		return true
	}
	odd := strings.Count(s[lineStart(s, start):start], s[q:q+1])%2 == 1
	return odd && (q+1 == len(s) || strings.IndexByte(" \t\r\n)+,;.]}:&|?", s[q+1]) >= 0)
}

// skipMarkers skips Redacted, so that a secret after it is found.
func skipMarkers(s string, at int) int {
	for strings.HasPrefix(s[at:], Redacted) {
		at += len(Redacted)
	}
	return at
}

// prefixedQuote returns the position of the quote in literals such as b"x", r'x', @"x" and $'x', or at.
func prefixedQuote(s string, at int) int {
	for i := at; i < min(len(s), at+3); i++ {
		if isQuote(s[i]) {
			return i
		}
		if strings.IndexByte("rRbBfFuUL@$", s[i]) < 0 {
			break
		}
	}
	return at
}

// quoted redacts a value in quotes, and the literals that are joined to it: "hun" + "ter2".
func (n *named) quoted(name string, q, escapes int, op operator, kind secrecy, makers providerList) (next int) {
	s := n.s
	if kind < everything && (op.sign == ',' || op.sign == 'c') {
		kind = weak
	}
	first := true
	for {
		from, to, after := quotedSpan(s, q, escapes)
		value := s[from:to]
		if op.sign == ',' && first && kind == everything && !isRandom(value) && !hasScheme(value) {
			return from // for example, a list of names: {"password", "token"}
		}
		if first && !hidden(value, kind, makers, name) {
			return max(from, after)
		}
		if to > from && value != Redacted {
			n.found = append(n.found, span{from, to})
		}
		first = false
		joined := joinedQuote(s, after)
		if joined < 0 {
			return after
		}
		q = joined
	}
}

// quotedSpan returns the span inside the quotes that begin at q, and the position after them.
func quotedSpan(s string, q, escapes int) (from, to, after int) {
	if size := quoteAt(s, q); size > 1 { // an escaped quote such as &quot;
		from = q + size
		mark := s[q:from]
		if s[q] == 'u' {
			mark = `\` + mark
		}
		if n := strings.Index(s[from:], mark); n >= 0 {
			return from, from + n, from + n + len(mark)
		}
		return from, len(s), len(s)
	}
	quote := s[q]
	if triple := strings.Repeat(string(quote), 3); strings.HasPrefix(s[q:], triple) {
		from = q + 3
		if n := strings.Index(s[from:], triple); n >= 0 {
			return from, from + n, from + n + 3
		}
		return from, len(s), len(s)
	}
	from = q + 1
	to = quoteEnd(s, from, quote, escapes)
	return from, to, min(to+1+escapes, len(s))
}

// joinedQuote returns the position of the next literal that is joined to the one before at, or -1.
func joinedQuote(s string, at int) int {
	next := skipBlanks(s, at)
	if next == at && next < len(s) && isQuote(s[next]) && next > 1 && !isBlank(s[next-2]) {
		return next // a shell joins 'a'"b"
	}
	switch {
	case next < len(s) && (s[next] == '+' || s[next] == '.' || s[next] == '&'):
		next++
	case next < len(s) && s[next] == '\\' && next+1 < len(s) && s[next+1] == '\n':
		next++
	default:
		return -1
	}
	next = skipSpaces(s, next)
	if next < len(s) && (isQuote(s[next])) {
		return next
	}
	return -1
}

// quoteEnd returns the end of a quoted text: the next quote that has as many backslashes as the opening quote. A text
// without such a quote in the next lines ends with its line, or with s.
func quoteEnd(s string, at int, quote byte, escapes int) int {
	run, line := 0, -1
	for i := at; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			run++
			continue
		case s[i] == quote && (run == escapes || escapes == 0 && run%2 == 0):
			return i - run*min(escapes, 1)
		case s[i] == '\n':
			if line < 0 {
				line = i
			}
			if escapes > 0 || i-line > maxQuoted {
				return line
			}
		}
		run = 0
	}
	if line >= 0 {
		return line
	}
	return len(s)
}

// maxQuoted bounds the bytes of a quoted text after its first line.
const maxQuoted = 8 << 10

// bracket redacts a value that is an object or a list.
func (n *named) bracket(at int, kind secrecy, op operator) (next int) {
	s := n.s
	if kind <= weak || strings.HasPrefix(s[at:], "{{") || strings.HasPrefix(s[at:], "[]") || at < max(n.inside, n.seen) {
		return at
	}
	end := bracketEnd(s, at)
	n.seen = end
	inner := strings.TrimSpace(s[at+1 : max(at+1, end-1)])
	if s[at] == '{' || strings.Contains(inner, "{") {
		if kind == everything {
			n.inside, n.all = end, n.kubernetes
		}
		return at
	}
	switch {
	case end < len(s) && s[end] == '(', !strings.ContainsAny(inner, "\"'`") && (kind == onlyTexts ||
		isCode(inner, "", op)):
		return at
	case strings.Trim(inner, " \t\r\n,\"'") == "" || strings.Trim(inner, "0123456789.,- ") == "":
		return end
	}
	n.found = append(n.found, span{at, end})
	return end
}

// bracketEnd returns the position after the bracket that closes the one at at. A bracket that is not closed ends with
// the line, or with the text if a quoted text follows.
func bracketEnd(s string, at int) int {
	depth := 0
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	if first := skipSpaces(s, at+1); first < len(s) && (isQuote(s[first]) || s[first] == '{') {
		return len(s)
	}
	return lineEnd(s, at)
}

// hereDocument returns the text between <<EOF and EOF.
func hereDocument(s string, at int) (span, bool) {
	from := at + 2
	for from < len(s) && strings.IndexByte("-~'\"", s[from]) >= 0 {
		from++
	}
	to := from
	for to < len(s) && isAlnum(s[to]) {
		to++
	}
	name := s[from:to]
	if name == "" || len(name) > 40 {
		return span{}, false
	}
	begin := skipLine(s, to)
	for line := begin; line < len(s); line = skipLine(s, line) {
		if strings.TrimSpace(s[line:lineEnd(s, line)]) == name {
			return span{begin, max(begin, line-1)}, true
		}
	}
	return span{begin, len(s)}, true
}

// isBlockScalar reports whether at begins a block scalar of YAML: "|" or ">" with indicators at the end of a line.
func isBlockScalar(s string, at int) bool {
	rest := strings.TrimLeft(lineFrom(s, at+1), "+-0123456789")
	rest = strings.TrimSpace(rest)
	return rest == "" || rest[0] == '#'
}

// below redacts a value on the lines after a name.
func (n *named) below(name string, start int, op operator, kind secrecy) (next int) {
	s := n.s
	at := skipSpaces(s, op.at)
	if at == len(s) || kind <= weak {
		return op.at
	}
	if isQuote(s[at]) || s[at] == '\\' && at+1 < len(s) && isQuote(s[at+1]) {
		op.nextLine, op.at = false, at
		return n.value(name, start, op, kind, nil)
	}
	if op.sign != ':' || !beginsLine(s, start) {
		return op.at
	}
	return n.block(start, lineEnd(s, op.at), kind)
}

// beginsLine reports whether only indentation and marks precede the name at start on its line.
func beginsLine(s string, start int) bool {
	return strings.Trim(s[lineStart(s, start):start], " \t-\"'#>+*•|/") == ""
}

// block redacts the lines after the line end at end that are indented more than the line of the name at start. In
// YAML, the items of a list may have the same indentation. A single word under a label belongs to the label.
func (n *named) block(start, end int, kind secrecy) (next int) {
	s := n.s
	indent := start - lineStart(s, start)
	if quote := start - 1; quote >= 0 && isQuote(s[quote]) {
		indent--
	}
	item := false // the block is a list
	from, to := -1, end
	for at := skipLine(s, end); at < len(s); at = skipLine(s, at) {
		line := s[at:lineEnd(s, at)]
		text := strings.TrimLeft(line, " \t")
		lead := len(line) - len(text)
		text = strings.TrimRight(text, " \t\r")
		if text == "" {
			continue
		}
		isItem := strings.HasPrefix(text, "- ")
		if from < 0 {
			item = isItem
		}
		if lead < indent || lead == indent && !(item && isItem) {
			break
		}
		if from < 0 {
			from = at + lead
			if begin := strings.TrimPrefix(text, "- "); start < n.inside && isMapping(begin) {
				return from
			}
		}
		to = at + lead + len(text)
	}
	if from < 0 {
		return n.label(end, indent, kind)
	}
	if begin := strings.TrimPrefix(s[from:to], "- "); isMapping(begin) {
		n.inside, n.all = max(n.inside, to), n.kubernetes
		return from
	}
	if text := s[from:to]; !hidden(text, kind, nil, "") || isProse(text) {
		return from
	}
	n.found = append(n.found, span{from, to})
	return to
}

// label redacts a single word on the line after a label such as "Password:".
func (n *named) label(end, indent int, kind secrecy) (next int) {
	s := n.s
	at := skipLine(s, end)
	line := strings.TrimRight(s[at:lineEnd(s, at)], " \t\r")
	if indent > 0 || line == "" || strings.ContainsAny(line, " \t") || strings.HasSuffix(line, ":") ||
		strings.IndexByte("#*|<>{}()[]-=", line[0]) >= 0 || kind < onlyTexts || !hidden(line, kind, nil, "") ||
		!hasDigit(line) && len(line) < 6 {
		return end
	}
	n.found = append(n.found, span{at, at + len(line)})
	return at + len(line)
}

// isMapping reports whether a block of YAML begins with a name and a colon.
func isMapping(block string) bool {
	line, _, _ := strings.Cut(block, "\n")
	name, rest, ok := strings.Cut(strings.TrimRight(line, "\r"), ":")
	return ok && (rest == "" || isBlank(rest[0])) && name != "" && !strings.ContainsAny(strings.Trim(name, "\"'"), " \"'")
}

// bare redacts a value without quotes.
func (n *named) bare(name string, start, at int, op operator, kind secrecy, makers providerList) (next int) {
	s := n.s
	if isHeader(name) && (op.sign == ':' || op.sign == '=') {
		return n.header(start, at, op)
	}
	if end := templateEnd(s, at); end > at {
		return end
	}
	to := n.bareEnd(start, at, op)
	value := s[at:to]
	trimmed := strings.TrimRight(value, ".:!?")
	if trimmed == "" || kind == everything && trimmed != value && len(value)-len(trimmed) > 1 && len(trimmed) <= 4 {
		return to
	}
	if !hidden(value, kind, makers, name) || isCodeValue(s, name, start, at, to, op) {
		return at
	}
	if kind == onlyTexts && op.spaced && len(value) < 24 && !hasDigit(value) && isDottedName(trimmed) {
		return at // for example, token: identifier
	}
	if op.spaced && isDottedName(trimmed) && isProse(lineFrom(s, at)) {
		return at
	}
	if scheme := schemeLength(s[at:]); scheme > 0 {
		to = n.bareEnd(start, at+scheme, op)
	} else if kind == everything && op.spaced && beginsLine(s, start) {
		if rest := passphraseEnd(s, to); rest > to {
			to = rest
		}
	}
	n.found = append(n.found, span{at, to})
	return to
}

// templateEnd returns the end of the template at at, as in ${{ secrets.TOKEN }}, or at.
func templateEnd(s string, at int) int {
	line := lineFrom(s, at)
	for _, t := range [][2]string{{"${{", "}}"}, {"{{", "}}"}, {"${", "}"}, {"$(", ")"}, {"<%", "%>"}} {
		if strings.HasPrefix(line, t[0]) {
			if n := strings.Index(line, t[1]); n > 0 {
				return at + n + len(t[1])
			}
			break
		}
	}
	return at
}

// passphraseEnd returns the end of the words after the first one of a value that is the rest of a line, as in
// password: correct horse battery staple. It returns at if the line continues in another way.
func passphraseEnd(s string, at int) int {
	rest := strings.TrimRight(lineFrom(s, at), " \t\r")
	if i := strings.Index(rest, " #"); i >= 0 {
		rest = strings.TrimRight(rest[:i], " \t")
	}
	if rest == "" || !isBlank(rest[0]) || len(rest) > 120 || strings.ContainsAny(rest, ":=()[]{}<>\"'`;,|/\\") {
		return at
	}
	return at + len(rest)
}

// bareEnd returns the end of the value without quotes that begins at at.
func (n *named) bareEnd(start, at int, op operator) int {
	s := n.s
	depth := 0
	alone := op.sign == '=' && !op.spaced && beginsLine(s, start) // a line of an .env file
	for i := at; i < len(s); i++ {
		c := s[i]
		if isSpace(c) {
			return i
		}
		next := byte('\n')
		if i+1 < len(s) {
			next = s[i+1]
		}
		switch c {
		case '"', '\'', '`':
			if !isAlnum(next) || i == at {
				return i
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
			if depth--; depth < 0 && (c != '>' || !alone) && (i+1 == len(s) || !isAlnum(next)) {
				return i
			}
		case '\\':
			if strings.IndexByte("nrt\"'`u\\\n\r", next) >= 0 {
				return i
			}
		case '%':
			if op.sign == '=' && (strings.HasPrefix(s[i:], "%26") || strings.HasPrefix(s[i:], "%20")) {
				return i
			}
		case '|':
			if op.sign == '|' || next == '|' {
				return i
			}
		}
	}
	return len(s)
}

// followedByName reports whether another name with a value begins at at, as after the semicolon in Password=x;User=y.
func followedByName(s string, at int) bool {
	end := at
	for end < len(s) && end-at < 40 && (nameBytes[s[end]] || s[end] == ' ') {
		end++
	}
	return end == at || end < len(s) && (s[end] == '=' || s[end] == ':')
}

// isHeader reports whether a name is an HTTP header whose value is the rest of the line.
func isHeader(name string) bool {
	lower := strings.ToLower(name[max(0, len(name)-20):])
	return strings.HasSuffix(lower, "cookie") || strings.HasSuffix(lower, "cookies") ||
		strings.HasSuffix(lower, "authorization")
}

// header redacts the value of an HTTP header. In a quoted header the value ends with the quote, otherwise with the
// line.
func (n *named) header(start, at int, op operator) (next int) {
	s := n.s
	end := at
	quote := byte(0)
	if start > 0 && isQuote(s[start-1]) {
		quote = s[start-1]
	}
	alone := beginsLine(s, start) && quote == 0
	for end < len(s) && s[end] != '\n' && s[end] != '\r' {
		c := s[end]
		if c == quote || quote == 0 && !alone && isQuote(c) {
			break
		}
		if c == '\\' && end+1 < len(s) && strings.IndexByte("nr\"'", s[end+1]) >= 0 || c == '<' && !alone {
			break
		}
		end++
	}
	value := strings.TrimRight(s[at:end], " \t")
	if !alone && quote == 0 && !strings.Contains(value, "=") && schemeLength(value) == 0 && !isRandom(wordAt(value, 0)) {
		return at // for example, "the Authorization: header"
	}
	if !hidden(value, everything, nil, s[start:at]) || isProse(value) ||
		isCodeValue(s, "", start, at, n.bareEnd(start, at, op), op) {
		return at
	}
	n.found = append(n.found, span{at, at + len(value)})
	return at + len(value)
}

// hidden reports whether a value of a name of this kind is secret.
func hidden(value string, kind secrecy, makers providerList, name string) bool {
	value = strings.TrimSpace(value)
	if value == "" || isConstant(value) || isPlaceholder(value) {
		return false
	}
	switch kind {
	case weak:
		repeats := len(name) >= 4 && strings.Contains(strings.ToLower(value), strings.ToLower(name))
		return isRandom(value) && !repeats || makers.make(value)
	case onlyTexts:
		if isNumber(value) || isSmall(strings.TrimRight(value, ",;")) || typeWords[strings.ToLower(value)] || isColor(value) {
			return false
		}
	case everything:
		if isSmall(strings.TrimRight(value, ",;")) {
			return false
		}
	}
	return !isReference(value) && !isProse(value) && !(name != "" && namesItself(value, name))
}

// isNumber reports whether a value is a number.
func isNumber(value string) bool { return strings.Trim(value, "0123456789.,+-eE_%KkMm") == "" }

// isSmall reports whether a value is a number that is too short for a secret, as in SO_COOKIE = 0x39.
func isSmall(value string) bool {
	if rest, ok := strings.CutPrefix(value, "0x"); ok {
		return len(rest) <= 8 && anyHex.all(rest)
	}
	return len(value) < 4 && digits.all(value)
}

// isColor reports whether a value is a color such as #ff8800.
func isColor(value string) bool {
	return len(value) <= 9 && value[0] == '#' && anyHex.all(value[1:])
}

// isConstant reports whether a value is a constant such as null or true, or is redacted already.
func isConstant(value string) bool {
	if len(value) > 12 {
		return strings.Trim(strings.ReplaceAll(value, Redacted, ""), ", ") == ""
	}
	return constants[strings.ToLower(strings.TrimRight(value, ".,;:)"))] || value == Redacted
}

var constants = kit.Set("true", "false", "null", "nil", "none", "undefined", "yes", "no", "on", "off", "enabled",
	"disabled", "required", "optional", "n/a", "unset", "empty", "missing", "invalid", "default", "never", "always", "ok",
	"failed", "redacted", "hidden", "masked", "filtered", "omitted", "set", "not", "anonymous", "0", "-", "~", "[]", "{}",
	"()", `""`, "''", "redacted]", "error", "expired", "yes/no", "todo", "tbd", "prompt", "ask", "auto", "include",
	"same-origin", "read", "write", "plain", "basic", "bearer", "oauth", "oauth2")

// typeWords are types and keywords of programming languages that follow a name and a colon or an equals sign.
var typeWords = kit.Set("string", "str", "bool", "boolean", "int", "int32", "int64", "uint", "uint64", "float",
	"float64",
	"number", "any", "object", "bytes", "byte", "text", "varchar", "char", "optional", "option", "list", "dict", "map",
	"array", "buffer", "url", "secretstr", "self", "this", "new", "await", "async", "func", "function", "lambda", "return",
	"var", "let", "const", "void", "unknown", "error", "type", "interface", "struct", "chan", "case", "if", "for", "in",
	"use", "break", "continue", "pass", "raise", "throw", "yield", "else", "elif", "while", "switch", "uuid", "token",
	"rune", "json", "union", "tuple", "set", "final", "readonly", "static", "public", "import", "from", "class", "def",
	"not", "and", "or", "as", "is", "with", "del", "try", "assert", "print", "typeof", "make", "len", "append", "range")

// isPlaceholder reports whether a value is the name of a value instead of the value: $PASSWORD, ${password},
// <password>, {{ .Values.password }}, %s, your-api-key, **** and the like.
func isPlaceholder(v string) bool {
	if v == "" || strings.HasPrefix(v, Redacted) && len(v) == len(Redacted) {
		return true
	}
	last := v[len(v)-1]
	switch v[0] {
	case '$':
		if len(v) > 2 && (v[1] == '{' && last == '}' || v[1] == '(' && last == ')') {
			return true
		}
		if rest := strings.TrimPrefix(v[1:], "env:"); rest != "" && isName(rest) && (strings.ToUpper(rest) == rest ||
			strings.ToLower(rest) == rest && !hasDigit(rest)) {
			return true
		}
	case '<':
		return last == '>' && len(v) < 80
	case '{':
		return last == '}' && len(v) < 80
	case '%':
		return len(v) <= 3 || last == '%' && isName(v[1:len(v)-1])
	case '@':
		return last == '@' && len(v) > 2 && isName(v[1:len(v)-1])
	case '#':
		return strings.HasPrefix(v, "#{")
	case '!': // a tag of YAML
		return isName(v[1:]) && !hasDigit(v)
	case ':', '?':
		return isName(v[1:]) && !hasDigit(v)
	}
	if strings.Contains(v, "%") && strings.Trim(v, "%dsvqrxT,:.;-_/[](){} '\"#") == "" {
		return true // a format
	}
	if strings.Contains(v, "{{") && strings.Contains(v, "}}") || strings.HasPrefix(v, "%(") {
		return true
	}
	lower := strings.ToLower(v)
	for _, p := range []string{
		"your-",
		"your_",
		"your ",
		"my-",
		"example",
		"placeholder",
		"insert-",
		"insert_",
		"enter-",
	} {
		if strings.HasPrefix(lower, p) && !hasDigit(v) {
			return true
		}
	}
	return strings.Trim(v, v[:1]) == "" && len(v) > 1 && !isAlnum(v[0]) || len(v) >= 3 && strings.Trim(lower, "x*.-") == ""
}

func isName(s string) bool { return s != "" && word.all(s) }

// isReference reports whether a value says where a secret is instead of the secret.
func isReference(v string) bool {
	for _, p := range []string{
		"arn:aws:",
		"op://",
		"vault:",
		"vault://",
		"awssm://",
		"ssm:",
		"gcpsm://",
		"azurekeyvault://",
		"ref+",
		"secret://",
		"file://",
		"env:",
		"env://",
		"ENC[",
		"projects/",
		"sops:",
		"keyring:",
		"sealed:",
	} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	if n := strings.Index(v, "://"); n > 0 && n < 16 && lower.all(v[:n]) {
		return true // credentials in URLs have rules of their own
	}
	if strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "~/") ||
		strings.HasPrefix(v, "../") {
		return !isRandom(v) && strings.Count(v, "/") >= 1 && len(v) < 200 && !strings.HasSuffix(v, "=") &&
			isPath(v)
	}
	return false
}

// isPath reports whether v is a path of a file of ordinary names.
func isPath(v string) bool {
	for part := range strings.SplitSeq(v, "/") {
		if len(part) > 40 || strings.ContainsAny(part, "+=!@#$%^&*") {
			return false
		}
	}
	return true
}

// proseWords begin a sentence about a secret: "password: must have 8 characters".
var proseWords = kit.Set("is", "are", "was", "must", "should", "cannot", "can't", "can", "could", "will", "would",
	"may",
	"has", "have", "had", "the", "a", "an", "this", "that", "these", "your", "our", "their", "its", "it", "if", "when",
	"and",
	"or", "not", "no", "for", "to", "in", "of", "on", "by", "with", "from", "as", "at", "use", "used", "using", "enter",
	"please", "choose", "which", "what", "see", "does", "do", "did", "required", "optional", "invalid", "incorrect",
	"wrong",
	"missing", "expired", "changed", "set", "unset", "none", "only", "all", "any", "some", "each", "every", "one", "two",
	"value", "values", "stored", "needed", "too", "be", "been", "being", "but", "so", "than", "then", "there", "they",
	"we",
	"you", "i", "he", "she", "who", "how", "why", "where", "because", "before", "after", "between", "access", "request",
	"failed", "error", "could", "unable", "found", "detected", "redacted", "removed", "replaced", "given", "returns")

// isProse reports whether a value is a sentence about a secret and not a secret.
func isProse(v string) bool {
	first, rest, more := strings.Cut(v, " ")
	lower := strings.ToLower(strings.Trim(first, ".,;:!?()\"'"))
	if proseWords[lower] && (more || len(v) <= 9) {
		return !more || strings.TrimSpace(rest) != "" || true
	}
	if !more || hasDigit(v) || len(v) > 400 {
		return false
	}
	lower = strings.ToLower(v)
	for _, w := range []string{
		"password",
		"secret",
		"token",
		"api key",
		"passphrase",
		"credential",
		"cookie",
		"authoriz",
	} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}

// namesItself reports whether a value repeats the name, as in password: userPassword and signing_key_data = key.
func namesItself(value, name string) bool {
	if len(value) > 60 || hasDigit(value) && (!isUpper(value[0]) && !strings.Contains(value, ".") || isRandom(value)) {
		return false
	}
	var buffer, other [maxWords]string
	words, _ := split(buffer[:0], value)
	own, _ := split(other[:0], name)
	if len(words) == 0 || len(own) == 0 {
		return false
	}
	last := singular(words[len(words)-1])
	for _, w := range own {
		if len(w) > 2 && singular(w) == last {
			return true
		}
	}
	last = singular(own[len(own)-1])
	for _, w := range words {
		if singular(w) == last {
			return true
		}
	}
	return false
}

// isCodeValue reports whether the value s[at:to] is an expression of a program, as in password = os.Getenv("PASSWORD").
func isCodeValue(s, name string, start, at, to int, op operator) bool {
	value := s[at:to]
	if value == "" {
		return false
	}
	if op.sign == 'w' || op.sign == 'c' || op.sign == '+' {
		return true
	}
	if call := strings.IndexAny(value, "([{"); call > 0 && isDottedName(value[:call]) {
		if op.spaced || strings.HasSuffix(value, "()") || strings.HasSuffix(value, "{}") || start > 0 &&
			strings.IndexByte("(,", s[start-1]) >= 0 ||
			call >= 3 && to < len(s) && isQuote(s[to]) {
			return true
		}
	}
	if value[0] == '(' && op.spaced {
		return true
	}
	if name != "" && strings.ContainsAny(value, ".[") && start > 0 &&
		isDottedName(strings.TrimRight(value, "[]0123456789,)")) {
		before := strings.TrimRight(s[lineStart(s, start):start], " \t")
		if before == "" || before[len(before)-1] == '(' || before[len(before)-1] == ',' {
			return !hasDigit(strings.TrimRight(value, "[]0123456789,)"))
		}
	}
	if strings.IndexByte("&*", value[0]) >= 0 && len(value) > 1 && isDottedName(value[1:]) {
		return true
	}
	if !op.spaced {
		return false
	}
	if isCode(strings.TrimRight(value, ",;)"), s[to:min(len(s), to+4)], op) {
		return true
	}
	return false
}

// isCode reports whether a value could be an expression and not a literal: a name with dots, or a name before a comma,
// a semicolon or an operator. Names with digits are no expressions.
func isCode(value, after string, op operator) bool {
	if !isDottedName(value) || hasDigit(value) {
		return false
	}
	if strings.Contains(value, ".") || typeWords[strings.ToLower(value)] {
		return true
	}
	after = strings.TrimLeft(after, ")")
	switch {
	case strings.HasPrefix(after, ","), strings.HasPrefix(after, ";"), strings.HasPrefix(after, "{"):
		return true
	case strings.HasPrefix(after, " +"), strings.HasPrefix(after, " |"), strings.HasPrefix(after, " &"),
		strings.HasPrefix(after, " ?"), strings.HasPrefix(after, " ="), strings.HasPrefix(after, " !"):
		return true
	}
	return false
}

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

// schemes are words before a credential in an HTTP header.
var schemes = kit.Set("bearer", "basic", "digest", "token", "negotiate", "apikey", "ssws", "hmac", "aws4-hmac-sha256",
	"oauth", "key", "bot", "splunk", "gitlab", "zoho-oauthtoken")

// schemeLength returns the length of the scheme at the beginning of s, for example 7 for "Bearer x", or 0.
func schemeLength(s string) int {
	w := wordAt(s, 0)
	if !schemes[strings.ToLower(w)] || len(w) == len(s) || !isBlank(s[len(w)]) {
		return 0
	}
	return skipBlanks(s, len(w))
}

func hasScheme(s string) bool { return schemeLength(s) > 0 && len(s) > 12 }

// schemes redacts credentials after "Bearer" and "Basic" anywhere in the text.
func (n *named) schemes() {
	s := n.s
	for at := 0; at < len(s); {
		i := strings.IndexAny(s[at:], "bB")
		if i < 0 {
			return
		}
		at += i
		w := ""
		switch {
		case len(s) >= at+6 && strings.EqualFold(s[at:at+6], "bearer"):
			w = s[at : at+6]
		case len(s) >= at+5 && strings.EqualFold(s[at:at+5], "basic"):
			w = s[at : at+5]
		}
		if w == "" || at > 0 && isAlnum(s[at-1]) && !(at > 1 && s[at-2] == '\\') {
			at++
			continue
		}
		at += len(w)
		from := skipBlanks(s, at)
		if strings.HasPrefix(s[at:], "%20") {
			from = at + 3
		}
		to := from
		for to < len(s) && any64[s[to]] {
			to++
		}
		value := strings.TrimRight(s[from:to], ".-")
		if from > at && len(value) >= 8 && !isPlaceholder(value) && isCredential(value) {
			n.found = append(n.found, span{from, from + len(value)})
		}
		at = max(at, to)
	}
}

// isCredential reports whether the word after "basic" or "bearer" is a credential, in contrast to "a basic
// understanding" and "Basic Authentication".
func isCredential(v string) bool {
	if hasDigit(v) {
		return !isDottedName(v) || isRandom(v) || len(v) >= 9
	}
	rest := v[1:]
	return strings.ToLower(rest) != rest && strings.ToUpper(v) != v && len(v) >= 12 || strings.HasSuffix(v, "=")
}

// passwordFiles redacts the passwords in lines of .pgpass files, host:port:database:user:password, and in the options
// -u and --user of curl.
func (n *named) passwordFiles() {
	s := n.s
	for at := 0; at < len(s); at = skipLine(s, at) {
		end := lineEnd(s, at)
		line := strings.TrimRight(s[at:end], "\r")
		if len(line) > 4096 {
			continue
		}
		if strings.Count(line, ":") == 4 && !strings.ContainsAny(line, " \t/") {
			fields := strings.Split(line, ":")
			if port := fields[1]; (len(port) >= 4 && digits.all(port) || port == "*") && fields[4] != "" &&
				!digits.all(fields[2]) && !isPlaceholder(fields[4]) {
				n.found = append(n.found, span{at + len(line) - len(fields[4]), at + len(line)})
			}
		}
		if curl := strings.Index(line, "curl"); curl >= 0 {
			n.curl(at+curl, at+len(line))
		}
	}
}

// curl redacts the password after -u user: in a command line.
func (n *named) curl(from, to int) {
	s := n.s
	for at := from; at < to; at++ {
		if s[at] != '-' || !isBlank(s[at-1]) {
			continue
		}
		w := wordAt(s, at)
		var value int
		switch {
		case w == "-u" || w == "--user" || w == "-U" || w == "--proxy-user":
			value = skipBlanks(s, at+len(w))
		case strings.HasPrefix(w, "--user="):
			value = at + len("--user=")
		case strings.HasPrefix(w, "-u") && strings.Contains(w, ":"):
			value = at + len("-u")
		default:
			continue
		}
		end := value
		if value < to && isQuote(s[value]) {
			value++
			end = min(to, quoteEnd(s, value, s[value-1], 0))
		} else {
			for end < to && !isSpace(s[end]) && s[end] != '\\' && !isQuote(s[end]) {
				end++
			}
		}
		if user, password, ok := strings.Cut(s[value:max(value, end)], ":"); ok && password != "" &&
			!isPlaceholder(password) {
			n.found = append(n.found, span{value + len(user) + 1, end})
		}
		at = max(at, end-1)
	}
}
