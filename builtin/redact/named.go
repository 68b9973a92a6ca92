package redact

import (
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// appendNamed appends the spans of values after the name of a secret. Each line has a value hunter2 or more:
//
//	password=hunter2, "password": "hunter2", --password hunter2, Password: hunter2
//	os.Setenv("API_KEY", "..."), Cookie: a=b; c=d, map[password:hunter2]
//	machine example.org login bob password hunter2
//	- name: DB_PASSWORD
//	  value: hunter2
//	password: |
//	  hunter2
//
// known are the secrets found before, in order. They contain no names.
func appendNamed(found []span, s string, r *Redactor, known []span) []span {
	n := named{s: s, r: r, found: found}
	if !r.KeepSecrets && (strings.Contains(s, "Secret")) {
		n.kubernetes = isKubernetesSecret(s)
	}
	n.jwk = strings.Contains(s, `"kty"`)
	for i := 0; i < len(s); {
		for len(known) > 0 && known[0].to <= i {
			known = known[1:]
		}
		if len(known) > 0 && known[0].from <= i {
			i = known[0].to
			continue
		}
		if !nameBytes[s[i]] {
			if i < n.inside && isQuote(s[i]) {
				i = n.listed(i)
			} else {
				i++
			}
			continue
		}
		start := i
		for i < len(s) && nameBytes[s[i]] {
			i++
		}
		if end := trimName(s, &start, i); end > start {
			i = max(i, n.name(start, end))
		}
	}
	if !r.KeepSecrets {
		n.schemes()
		n.passwordFiles()
	}
	return n.found
}

// named finds the values of names in one text.
type named struct {
	s     string
	r     *Redactor
	found []span
	names map[string]nameInfo

	all        bool // the object or block has secrets only
	seen       int  // brackets before this position were read
	inside     int  // values before this position are in an object or a block whose name is a secret
	pair       int  // the value of a name such as "value" before this position is secret
	kubernetes bool // data and stringData are secret
	jwk        bool // the text has a JSON web key
}

var nameBytes = func() *alphabet {
	a := chars("A-Za-z0-9_.-")
	for c := 0x80; c < 0x100; c++ {
		a[c] = true
	}
	return a
}()

// trimName skips an escape sequence before a name, as in \npassword, and returns the end without punctuation.
func trimName(s string, start *int, end int) int {
	at := *start
	switch {
	case at > 0 && s[at-1] == '\\' && (at < 2 || s[at-2] != '\\') && end-at > 1 && strings.IndexByte("nrt", s[at]) >= 0:
		at++
	case at > 0 && s[at-1] == '\\' && s[at] == 'u' && end-at > 5 && anyHex.all(s[at+1:at+5]):
		at += 5
	case at > 0 && s[at-1] == '%' && end-at > 2 && anyHex.all(s[at:at+2]):
		at += 2
	}
	for at < end && (s[at] == '-' || s[at] == '.') {
		at++
	}
	for end > at && (s[end-1] == '.' || s[end-1] == '-') {
		end--
	}
	*start = at
	return end
}

// name looks for the value of the name s[start:end] and returns the position from which the search continues.
func (n *named) name(start, end int) (next int) {
	op, ok := operatorAfter(n.s, start, end)
	if !ok {
		return end
	}
	name := n.s[start:end]
	about := n.about(name)
	kind := n.kind(name, about, start, op)
	if op.sign == ' ' && strings.EqualFold(name, "by") && strings.EqualFold(lastWord(n.s, start), "identified") {
		kind = everything // IDENTIFIED BY 'hunter2'
	}
	if op.sign == ' ' && !n.blankAssigns(kind, start, end, &op) {
		return end
	}
	if kind == open {
		if (op.sign == ':' || op.sign == '=') && pairNames[lowerName(name)] {
			n.beginPair(op.at)
		}
		if about.makers != nil && !n.r.KeepSecrets {
			return n.value(name, start, op, weak, about.makers)
		}
		return end
	}
	return n.value(name, start, op, kind, about.makers)
}

// A nameInfo describes the values of a name, from the words of the name.
type nameInfo struct {
	kind      secrecy
	describes bool // the values are about a secret
	makers    providerList
}

// maxNames bounds the names of a text that are remembered.
const maxNames = 1000

// about returns the information about a name. The names of a text repeat, so that it remembers them.
func (n *named) about(name string) nameInfo {
	info, ok := n.names[name]
	if !ok {
		info = nameInfo{n.r.secret(name), isDescription(name), providersOf(name)}
		if n.names == nil {
			n.names = make(map[string]nameInfo)
		}
		if len(n.names) < maxNames {
			n.names[name] = info
		}
	}
	return info
}

// kind returns the secrecy of a name in its context.
func (n *named) kind(name string, about nameInfo, start int, op operator) secrecy {
	kind := about.kind
	if kind == everything {
		if start > 0 && n.s[start-1] == ':' && strings.Contains(n.s[max(0, start-100):start], "arn:aws") {
			return open
		}
		return kind
	}
	s := n.s
	if name == "PASS" && op.sign == ':' { // the result of a test
		return open
	}
	if !n.r.KeepSecrets {
		lower := lowerName(name)
		switch {
		case start < n.pair && valueNames[lower]:
			n.pair = 0
			return everything
		case n.kubernetes && (lower == "data" || lower == "stringdata"):
			return everything
		case n.jwk && op.quoted && jwkNames[name]:
			return weak
		case start < n.inside && (n.all || !about.describes):
			return everything
		case start > 0 && (s[start-1] == '?' || s[start-1] == '&') && queryNames[lower]:
			return everything
		}
	}
	// For example, API key: x and Secret access key: x.
	if labelEnds[lowerName(name)] && start >= 2 && s[start-1] == ' ' && isLetter(s[start-2]) && op.sign != ' ' {
		from := start - 1
		for from > 0 && start-from < 20 && isLetter(s[from-1]) {
			from--
		}
		if label := n.r.secret(s[from : start+len(name)]); label > kind {
			return label
		}
	}
	return kind
}

var (
	// pairNames are names whose value names another value, as in {"name": "PASSWORD", "value": "hunter2"}.
	pairNames  = kit.Set("name", "key", "id", "field", "variable", "parametername", "k")
	valueNames = kit.Set("value", "val", "parametervalue", "v", "plaintext")
	queryNames = kit.Set("sig", "signature", "xamzsignature", "xamzcredential", "xamzsecuritytoken", "xgoogsignature",
		"code",
		"key", "auth", "sid", "apikey", "accesskeyid", "hmac")
	labelEnds = kit.Set("key", "keys", "code", "codes", "token", "tokens", "phrase", "id")
	jwkNames  = kit.Set("d", "p", "q", "dp", "dq", "qi", "k")
)

// lowerName returns a name in lower case without punctuation.
func lowerName(name string) string {
	if len(name) > 40 {
		return ""
	}
	return strings.Map(func(c rune) rune {
		switch {
		case c == '_' || c == '-':
			return -1
		case 'A' <= c && c <= 'Z':
			return c + 'a' - 'A'
		}
		return c
	}, name)
}

// beginPair makes the next value secret if the text at at names a secret.
func (n *named) beginPair(at int) {
	s := n.s
	for at < len(s) && (isQuote(s[at]) || s[at] == '\\' || isBlank(s[at])) {
		at++
	}
	end := at
	for end < len(s) && (nameBytes[s[end]] || s[end] == ' ') && end-at < 100 {
		end++
	}
	if !n.r.KeepSecrets && n.r.secret(strings.TrimSpace(s[at:end])) > weak {
		n.pair = end + 200
	}
}

// An operator connects a name with its value.
type operator struct {
	sign     byte // '=', ':', '>' for =>, 'w' for :=, 'c' for a comparison, '+' for +=, ',' or ' '
	at       int  // the position of the value
	spaced   bool // blanks surround the operator
	quoted   bool // the name is quoted
	nextLine bool // the value is on another line
}

// operatorAfter returns the operator after the name s[start:end].
func operatorAfter(s string, start, end int) (op operator, ok bool) {
	at := end
	for at < len(s) && s[at] == '\\' {
		at++
	}
	if n := quoteAt(s, at); n > 0 {
		op.quoted = true
		at += n
	} else {
		at = end
	}
	if at < len(s) && s[at] == ']' { // env["PASSWORD"] = "hunter2"
		at++
	}
	if at+1 < len(s) && (s[at] == '?' || s[at] == '!') && s[at+1] == ':' {
		at++
	}
	after := at
	at = skipBlanks(s, at)
	op.spaced = at > after
	if at == len(s) {
		return op, false
	}
	if op.spaced && !op.quoted {
		at = skipNote(s, at)
	}
	n := 0
	op.sign, n = signAt(s, at)
	switch {
	case n == 0 && op.spaced && !op.quoted:
		op.sign, op.at = ' ', at
		return op, true
	case n == 0 || op.sign == ',' && !(op.quoted && afterQuote(s, start)):
		return op, false
	}
	at += n
	op.at = skipBlanks(s, at)
	switch {
	case op.sign == ',' || s[at-1] == '|' && s[at-2] == '|': // only before a literal
		ok = op.at < len(s) && isQuote(s[op.at])
	case op.sign == '|': // only in a table
		ok = strings.HasPrefix(strings.TrimLeft(s[lineStart(s, start):start], " \t"), "|")
	default:
		ok = true
	}
	if !ok {
		return op, false
	}
	if op.sign == ':' && !op.quoted {
		op.at = skipType(s, op.at, &op)
	}
	op.spaced = op.spaced || op.at > at
	for op.at < len(s) && s[op.at] == '\\' && op.at+1 < len(s) && (s[op.at+1] == '\n' || s[op.at+1] == '\r') {
		op.at = skipBlanks(s, skipLine(s, op.at))
	}
	op.nextLine = op.at < len(s) && (s[op.at] == '\n' || s[op.at] == '\r')
	return op, op.at < len(s)
}

func skipLine(s string, at int) int { return min(lineEnd(s, at)+1, len(s)) }

// quoteAt returns the length of the quote at at, which may be escaped for HTML, URLs or JSON, or 0.
func quoteAt(s string, at int) int {
	if at >= len(s) {
		return 0
	}
	switch s[at] {
	case '"', '\'', '`':
		return 1
	case '&', '%', 'u':
		for _, q := range []string{"&quot;", "&#34;", "&#39;", "%22", "%27", "u0022", "u0027"} {
			if strings.HasPrefix(s[at:], q) {
				return len(q)
			}
		}
	}
	return 0
}

// skipNote skips a remark between a name and a colon, as in Password [none]: and Password (again):.
func skipNote(s string, at int) int {
	end := byte(0)
	switch s[at] {
	case '[':
		end = ']'
	case '(':
		end = ')'
	default:
		return at
	}
	note := s[at:min(len(s), at+40)]
	n := strings.IndexByte(note, end)
	if n < 0 || strings.ContainsAny(note[:n], "\n\"'`=") || at+n+1 >= len(s) || s[at+n+1] != ':' {
		return at
	}
	return at + n + 1
}

// signAt returns the kind and the length of the operator at at.
func signAt(s string, at int) (sign byte, n int) {
	rest := s[at:min(len(s), at+5)]
	has := func(prefix string) bool { return strings.HasPrefix(rest, prefix) }
	switch rest[0] {
	case '=':
		switch {
		case has("==="):
			return 'c', 3
		case has("=="):
			return 'c', 2
		case has("=>"):
			return '>', 2
		case has("=~"):
			return 0, 0
		}
		return '=', 1
	case ':':
		switch {
		case has(":="):
			return 'w', 2
		case has("::"), has("://"):
			return 0, 0
		}
		return ':', 1
	case '!':
		if has("!==") {
			return 'c', 3
		}
		if has("!=") {
			return 'c', 2
		}
	case '?':
		if has("?=") {
			return '=', 2
		}
	case '+':
		if has("+=") {
			return '+', 2
		}
	case '|':
		switch {
		case has("||="):
			return '=', 3
		case has("||"):
			return '>', 2
		case has("| "):
			return '|', 1
		}
	case '-':
		if has("->") {
			return '>', 2
		}
	case ',':
		return ',', 1
	case '%':
		switch {
		case has("%3D"), has("%3d"):
			return '=', 3
		case has("%3A"), has("%3a"):
			return ':', 3
		}
	case '&':
		switch {
		case has("&#61;"):
			return '=', 5
		case has("&#58;"):
			return ':', 5
		}
	}
	return 0, 0
}

// skipType skips the type in password: str = "hunter2".
func skipType(s string, at int, op *operator) int {
	end := at
	for end < len(s) && (isAlnum(s[end]) || s[end] == '_' || s[end] == '&') {
		end++
	}
	if end == at || !typeWords[strings.ToLower(strings.TrimLeft(s[at:end], "&"))] {
		return at
	}
	for end < len(s) && end-at < 60 && (isAlnum(s[end]) || strings.IndexByte(" []<>|?,_.", s[end]) >= 0) {
		end++
	}
	if end+1 < len(s) && s[end] == '=' && s[end+1] != '=' && s[end+1] != '>' {
		op.sign = '='
		return skipBlanks(s, end+1)
	}
	return at
}

// blankAssigns reports whether a blank connects the name s[start:end] with a value.
func (n *named) blankAssigns(kind secrecy, start, end int, op *operator) bool {
	s := n.s
	if kind == open || n.r.KeepSecrets {
		return false
	}
	word := wordAt(s, op.at)
	if start > 0 && s[start-1] == '-' { // --password hunter2
		return op.at < len(s) && strings.IndexByte("-\r\n", s[op.at]) < 0 && !strings.HasPrefix(word, "id=") && kind > weak
	}
	if kind == weak {
		return false
	}
	switch word {
	case "is", "was": // the password is hunter2
		at := skipBlanks(s, op.at+len(word))
		if at < len(s) && (hasDigit(wordAt(s, at)) || isQuote(s[at])) {
			op.at = at
			return true
		}
		return false
	case "=", "|", "":
		if op.at >= len(s) || s[op.at] == '\n' || s[op.at] == '\r' {
			return kind == everything && n.netrc(start, op)
		}
	case "0", "4", "5", "6", "7", "8", "9": // enable secret 5 $1$..., password 7 0822455D0A16
		at := skipBlanks(s, op.at+len(word))
		if kind == everything && at < len(s) && !isSpace(s[at]) && at > op.at+len(word) {
			op.at = at
			return true
		}
	case "string", "str": // const password string = "hunter2"
		at := skipBlanks(s, op.at+len(word))
		if strings.HasPrefix(s[at:], "= ") || strings.HasPrefix(s[at:], `="`) {
			op.sign, op.at = '=', skipBlanks(s, at+1)
			return true
		}
		return false
	}
	if kind == everything && (s[op.at] == '\'' || s[op.at] == '"') && !afterQuote(s, start) { // PASSWORD 'hunter2'
		after := skipBlanks(s, min(quoteEnd(s, op.at+1, s[op.at], 0)+1, len(s)))
		return after == len(s) || s[after] != '{' // not the label of a block
	}
	before := lastWord(s, start)
	switch before {
	case "ENV", "ARG", "setx", "-x", "-gx", "-Ux":
		return kind > weak
	}
	if lower := s[start:end]; lower == "requirepass" || lower == "masterauth" || lower == "bindpw" || lower == "rootpw" {
		return true
	}
	return n.netrc(start, op)
}

func afterQuote(s string, start int) bool { return start > 0 && isQuote(s[start-1]) }

// netrc reports whether the name at start is a keyword of a .netrc file, which continues machine x or login x.
func (n *named) netrc(start int, op *operator) bool {
	s := n.s
	if end := start + len("password"); end > len(s) || s[start:end] != "password" {
		return false
	}
	at := start
	var before [2]string
	beginning := 0
	for i := range before {
		for at > 0 && isSpace(s[at-1]) && start-at < 300 {
			at--
		}
		to := at
		for at > 0 && !isSpace(s[at-1]) && start-at < 300 {
			at--
		}
		before[i] = s[at:to]
		if i == 0 {
			beginning = at
		}
	}
	if !(before[0] == "default" && beginning == lineStart(s, start)) && before[1] != "machine" &&
		before[1] != "login" && before[1] != "account" {
		return false
	}
	op.at = skipSpaces(s, op.at)
	return op.at < len(s)
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

// listed handles a quoted text inside a list or object whose name is a secret and returns the position after it. A text
// before a colon is a name.
func (n *named) listed(at int) int {
	end := quoteEnd(n.s, at+1, n.s[at], 0)
	if end >= len(n.s) {
		return at + 1
	}
	next := skipSpaces(n.s, end+1)
	if next < len(n.s) && (n.s[next] == ':' || n.s[next] == '=') {
		return at + 1
	}
	before := at
	for before > 0 && isSpace(n.s[before-1]) && at-before < 200 {
		before--
	}
	if before > 0 && (n.s[before-1] == '[' || n.s[before-1] == ',') && hidden(n.s[at+1:end], everything, nil, "") {
		n.found = append(n.found, span{at + 1, end})
	}
	return end + 1
}

// isKubernetesSecret reports whether a manifest has a Secret, in YAML or JSON.
func isKubernetesSecret(s string) bool {
	for at := 0; ; {
		n := strings.Index(s[at:], "Secret")
		if n < 0 {
			return false
		}
		at += n + len("Secret")
		from := max(0, at-len("Secret")-12)
		before := strings.TrimRight(s[from:at-len("Secret")], " \"'\\:")
		after := s[at:min(len(s), at+1)]
		if strings.HasSuffix(before, "kind") && !nameBytesAll(after) {
			return true
		}
	}
}

func nameBytesAll(s string) bool { return s != "" && nameBytes.all(s) }
