package redact

import (
	"strings"
	"unicode/utf8"
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
// known are the secrets found before, in order. They contain no names. See find for whole.
func appendNamed(found []span, s, whole string, r *Redactor, known []span) []span {
	n := named{s: s, r: r, found: found}
	n.scan(whole, known)
	return n.found
}

// scan is appendNamed.
func (n *named) scan(whole string, known []span) {
	s, r := n.s, n.r
	n.kubernetes = !r.KeepSecrets && (isKubernetesSecret(whole) || isKubernetesSecret(s))
	n.isLast = n.kubernetes && len(whole) > len(s)
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
		i = nameBytes.skip(s, i, len(s))
		if end := n.trimName(&start, i); end > start {
			i = max(i, n.name(start, end))
		}
	}
	if !r.KeepSecrets {
		n.schemes()
		n.passwordFiles()
	}
}

// named finds the values of names in one text.
type named struct {
	s     string
	r     *Redactor
	found []span
	names map[string]nameInfo

	closes   map[int]int   // the closing bracket of each opening one; nil: not read
	literals map[byte]span // the last quoted text in a list, by its quote

	all        bool // the object or block has secrets only
	seen       int  // brackets before this position were read
	inside     int  // values before this position are in an object or a block whose name is a secret
	pair       int  // the value of a name such as "value" before this position is secret
	kubernetes bool // data and stringData are secret in the documents that are a Secret
	document   span // the last document that inSecret read
	secret     bool // it is a Secret
	isLast     bool // a Secret follows the text
	jwk        bool // the text has a JSON web key
}

// trimName skips an escape sequence before a name, as in \napi_key, and returns the end without punctuation. In \token,
// the first letter belongs to the name.
func (n *named) trimName(start *int, end int) int {
	s, at := n.s, *start
	size := escaped(s, at)
	if size > 1 && size < end-at || size == 1 && at+1 < end && (s[at+1] == '-' || n.about(s[at:end]).kind <= weak) {
		at += size
	}
	if flag := strings.LastIndex(s[at:end], "--"); flag > 0 && s[at+flag-1] >= utf8.RuneSelf { // after another script
		at += flag
	}
	at += end - at - len(strings.TrimLeft(s[at:end], ".-"))
	*start = at
	return at + len(strings.TrimRight(s[at:end], ".-"))
}

// An assignment is a name with its operator, and the values that are secret after it.
type assignment struct {
	name   string
	start  int // the position of the name
	op     operator
	kind   secrecy
	makers providerList
}

// name looks for the value of the name s[start:end] and returns the position from which the search continues.
func (n *named) name(start, end int) (next int) {
	name := n.s[start:end]
	op, ok := operatorAfter(n.s, start, end)
	basic := false
	if !ok {
		if op.at, basic = setterValue(n.s, name, end); op.at == 0 {
			return end
		}
		op = operator{sign: '(', at: op.at}
	}
	about := n.about(name)
	kind := n.kind(name, about, start, op)
	if op.sign == ' ' && strings.EqualFold(name, "by") && strings.EqualFold(lastWord(n.s, start), "identified") {
		kind = everything // IDENTIFIED BY 'hunter2'
	}
	if basic && !n.r.KeepSecrets {
		kind = everything
	}
	if op.sign == ' ' && !n.blankAssigns(kind, start, end, &op) {
		return end
	}
	if kind <= weak && (op.sign == ':' || op.sign == '=') {
		if lower := lowerName(name); pairNames[lower] || lower == "type" {
			n.beginPair(op.at, lower == "type")
		}
	}
	if kind == open && about.makers == nil {
		return end
	}
	return n.value(assignment{name, start, op, max(kind, weak), about.makers})
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
		info = nameInfo{n.r.secret(name), isDescription(name), n.r.makers(name)}
		if n.names == nil {
			n.names = make(map[string]nameInfo)
		}
		if len(n.names) < maxNames {
			n.names[name] = info
		}
	}
	return info
}

// inSecret reports whether the document of YAML at at is a Secret, also if its kind is after the end of the text.
func (n *named) inSecret(at int) bool {
	if at >= n.document.to {
		n.document.from = n.document.to
		if last := strings.LastIndex(n.s[n.document.from:at], "\n---"); last >= 0 {
			n.document.from += last
		}
		n.document.to, _ = index(n.s, at, "\n---")
		n.secret = n.document.to == len(n.s) && n.isLast || isKubernetesSecret(n.s[n.document.from:n.document.to])
	}
	return n.secret
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
		case n.kubernetes && (lower == "data" || lower == "stringdata") && n.inSecret(start):
			return everything
		case n.jwk && op.quoted && jwkNames[name]:
			return weak
		case start < n.inside && (n.all || !about.describes):
			return everything
		case start > 0 && (s[start-1] == '?' || s[start-1] == '&') && queryNames[lower]:
			return everything
		}
	}
	// For example, API key: x, Secret access key: x, and Your API key is x.
	if labelEnds[lowerName(name)] && start >= 2 && s[start-1] == ' ' && isLetter(s[start-2]) &&
		(op.sign != ' ' || wordAt(s, op.at) == "is") {
		from := wordBytes.back(s, start-1, 19)
		if label := n.r.secret(s[from : start+len(name)]); label > kind {
			return label
		}
	}
	return kind
}

var (
	pairNames  = set("pair-names")
	valueNames = set("pair-values")
	queryNames = set("query")
	labelEnds  = set("label-ends")
	jwkNames   = set("json-web-key")
	wordBytes  = chars("A-Za-z\x80-\xff")
	beforeText = chars(" \t\"'`\\")
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

// beginPair makes the next value of the same object secret if the text at at names a secret. A type must be password,
// because parsers have values of the type token.
func (n *named) beginPair(at int, isType bool) {
	s := n.s
	at = beforeText.skip(s, at, len(s))
	end := inField.skip(s, at, 100)
	name := strings.TrimSpace(s[at:end])
	if n.r.KeepSecrets || n.about(name).kind <= weak || isType && !strings.EqualFold(name, "password") {
		return
	}
	n.pair = end + 200
	if closed := strings.IndexByte(s[end:min(len(s), n.pair)], '}'); closed >= 0 && isType {
		n.pair = end + closed
	}
}
