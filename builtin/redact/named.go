package redact

import (
	"strings"
	"unicode/utf8"
)

// assignments redacts the values after the name of a secret. Each line has a value hunter2 or more:
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
func (n *named) assignments(whole string, known []span) {
	s, r := n.s, n.r
	n.kubernetes = !r.KeepSecrets && (kubernetesSecret.MatchString(whole) || kubernetesSecret.MatchString(s))
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
			i++
			continue
		}
		start := i
		i = nameBytes.skip(s, i, len(s))
		if start, end := trimName(s, start, i); end > start {
			i = max(i, n.word(start, end))
		}
	}
	if !r.KeepSecrets {
		n.passwordFiles()
	}
}

// word looks for the value of the name s[start:end], and for a password after it. It returns the position from which
// the search continues.
func (n *named) word(start, end int) (next int) {
	about := n.about(n.s[start:end])
	if !n.r.KeepSecrets {
		if about.word == "bearer" || about.word == "basic" {
			n.scheme(end)
		}
		if about.after != nil {
			n.after(about.after, end)
		}
		if at := dotted.back(n.s, end, end-start); at < end {
			n.command(at)
		}
	}
	return n.name(start, end, about)
}

// named finds the values of names in one text.
type named struct {
	s     string
	r     *Redactor
	found []span
	names map[string]nameInfo

	verdicts map[verdict]bool

	line int                   // the end of the last line that was read as a command
	read map[*passwordFlag]int // the positions to which the flags of the table were looked for

	closes map[int]int // the closing bracket of each opening one; nil: not read

	all        bool // the object or block has secrets only
	seen       int  // lists before this position were read
	inside     int  // values before this position are in an object or a block whose name is a secret
	pair       int  // the value of a name such as "value" before this position is secret
	kubernetes bool // data and stringData are secret in the documents that are a Secret
	document   span // the last document that inSecret read
	secret     bool // it is a Secret
	isLast     bool // a Secret follows the text
	jwk        bool // the text has a JSON web key
}

// trimName returns a name without punctuation, and without the text of another script before a flag.
func trimName(s string, start, end int) (int, int) {
	if flag := strings.LastIndex(s[start:end], "--"); flag > 0 && s[start+flag-1] >= utf8.RuneSelf {
		start += flag
	}
	start = trimmed.skip(s, start, end-start)
	return start, trimmed.back(s, end, end-start)
}

var trimmed = chars(".-")

// An assignment is a name with its operator, and the values that are secret after it.
type assignment struct {
	nameInfo
	name  string
	start int // the position of the name
	op    operator
}

// name looks for the value of the name s[start:end] and returns the position from which the search continues.
func (n *named) name(start, end int, about nameInfo) (next int) {
	name := n.s[start:end]
	op, ok := operatorAfter(n.s, start, end)
	if !ok {
		if op, ok = setterAfter(n.s, name, end); !ok {
			return end
		}
	}
	kind := n.kind(name, about, start, op)
	if op.sign == ' ' && !n.blankAssigns(kind, start, end, &op) {
		return end
	}
	if kind <= weak && (op.sign == ':' || op.sign == '=') && (pairNames[about.lower] || about.lower == "type") {
		n.beginPair(op.at, about.lower == "type")
	}
	if kind == open && about.makers == nil {
		return end
	}
	about.kind = max(kind, weak)
	return n.value(assignment{about, name, start, op})
}

// maxRemembered bounds the names and values of a text that are remembered.
const maxRemembered = 1000

// remember returns the value of a key, and computes a value that is not known.
func remember[K comparable, V any](known map[K]V, key K, compute func() V) V {
	v, ok := known[key]
	if !ok {
		v = compute()
		if len(known) < maxRemembered {
			known[key] = v
		}
	}
	return v
}

// about returns the information about a name. The names of a text repeat, so that it remembers them.
func (n *named) about(name string) nameInfo {
	return remember(n.names, name, func() nameInfo { return n.r.about(name) })
}

// inSecret reports whether the document of YAML at at is a Secret, also if its kind is after the end of the text.
func (n *named) inSecret(at int) bool {
	if at >= n.document.to {
		n.document.from = n.document.to
		if last := strings.LastIndex(n.s[n.document.from:at], "\n---"); last >= 0 {
			n.document.from += last
		}
		n.document.to, _ = index(n.s, at, "\n---")
		n.secret = n.document.to == len(n.s) && n.isLast || kubernetesSecret.MatchString(n.s[n.document.from:n.document.to])
	}
	return n.secret
}

// kind returns the secrecy of a name in its context.
func (n *named) kind(name string, about nameInfo, start int, op operator) secrecy {
	s, kind := n.s, about.kind
	inARN := start > 0 && s[start-1] == ':' && strings.Contains(s[max(0, start-100):start], "arn:aws")
	switch {
	case inARN && kind == everything, name == "PASS" && op.sign == ':': // PASS is the result of a test
		return open
	case kind == everything:
		return kind
	}
	if !n.r.KeepSecrets {
		lower := about.lower
		switch {
		case start < n.pair && valueNames[lower]:
			n.pair = 0
			return everything
		case n.kubernetes && manifestNames[lower] && n.inSecret(start):
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
	if labelEnds[about.lower] && start >= 2 && s[start-1] == ' ' && isLetter(s[start-2]) &&
		(op.sign != ' ' || wordAt(s, op.at) == "is") {
		from := wordBytes.back(s, start-1, 19)
		return max(kind, n.about(s[from:start+len(name)]).kind)
	}
	return kind
}

var (
	pairNames  = set("pair-names")
	valueNames = set("pair-values")
	queryNames = set("query")
	labelEnds  = set("label-ends")
	jwkNames   = set("json-web-key")

	manifestNames = set("manifest")
	wordBytes     = chars("A-Za-z\x80-\xff")
	beforeText    = chars(" \t\"'`\\")
)

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
