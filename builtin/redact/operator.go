package redact

import "strings"

// An operator connects a name with its value.
type operator struct {
	sign     byte // '=', ':', '>' for =>, '?' for ??, 'w' for :=, 'c' for a comparison, '+' for +=, '(', ',', '|' or ' '
	at       int  // the position of the value
	spaced   bool // blanks surround the operator
	quoted   bool // the name is quoted
	nextLine bool // the value is on another line
	flag     bool // the name is a flag in a list of words, as in ["--password", "hunter2"]
}

// operatorAfter returns the operator after the name s[start:end].
func operatorAfter(s string, start, end int) (op operator, ok bool) {
	at := end
	if at < len(s) && isQuote(s[at]) {
		op.quoted = true
		at++
	}
	at = past(s, at, "]") // env["PASSWORD"] = "hunter2"
	if !op.quoted && at < len(s) && s[at] == '[' {
		at += length(s[at:min(len(s), at+10)], "array-size")
	}
	at = past(s, at, "**") // **Password**: hunter2
	if at+1 < len(s) && (s[at] == '?' || s[at] == '!') && s[at+1] == ':' {
		at++
	}
	after := at
	at = skipBlanks(s, at)
	op.spaced = at > after
	if at == len(s) {
		return op, false
	}
	if op.spaced && !op.quoted && (s[at] == '[' || s[at] == '(') {
		at += max(0, length(s[at:min(len(s), at+42)], "remark")-1) // without its colon
	}
	n := 0
	op.sign, n = signAt(s, at)
	op.flag = op.sign == ',' && op.quoted && start > 0 && s[start-1] == '-' && afterQuote(s, flagMarks.back(s, start, 2))
	switch {
	case n == 0 && op.spaced && !op.quoted:
		op.sign, op.at = ' ', at
		return op, true
	case n == 0 || op.sign == ',' && !op.flag && !(op.quoted && afterQuote(s, start)):
		return op, false
	}
	at += n
	if op.sign == ':' && strings.HasPrefix(s[at:], "** ") { // **Password:** hunter2
		at += 2
	}
	op.at = skipBlanks(s, at)
	if op.sign == ',' || op.sign == '?' { // only before a literal, as in NAME || "x" and NAME ?? "x"
		ok = op.at < len(s) && isQuote(s[op.at])
	} else { // | only in a table
		ok = op.sign != '|' || strings.HasPrefix(strings.TrimLeft(s[lineStart(s, start):start], " \t"), "|")
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

// setterAfter returns the operator after the name of a method whose argument is a literal, for example that of
// setPassword("hunter2"). end is the end of the name.
func setterAfter(s, name string, end int) (op operator, ok bool) {
	own := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	ok = end < len(s) && s[end] == '(' && (strings.HasPrefix(own, "set") || strings.HasPrefix(own, "with")) &&
		length(s[end:min(len(s), end+300)], "setter") > 0
	return operator{sign: '(', at: end + 1}, ok
}

// operators holds the signs and texts of operators by their first byte.
var operators = byFirst(table("operators"), func(row []string) string { return row[1] })

// signAt returns the kind and the length of the operator at at.
func signAt(s string, at int) (sign byte, n int) {
	for _, o := range operators[s[at]] {
		if strings.HasPrefix(s[at:], o[1]) {
			if sign, n = o[0][0], len(o[1]); sign == '0' || sign == '|' && !strings.HasPrefix(s[at+1:], " ") {
				n = 0
			}
			return sign, n
		}
	}
	return 0, 0
}

var (
	typeName  = chars("A-Za-z0-9_&\x80-\xff")
	flagMarks = chars("-")
	typeBytes = chars("A-Za-z0-9\x80-\xff []<>|?,_.&")
)

// skipType skips the type in password: str = "hunter2".
func skipType(s string, at int, op *operator) int {
	name := s[at:typeName.skip(s, at, 60)]
	if !typeWords[strings.ToLower(strings.TrimLeft(name, "&"))] {
		return at
	}
	end := typeBytes.skip(s, at, 60)
	if end+1 < len(s) && s[end] == '=' && s[end+1] != '=' && s[end+1] != '>' {
		op.sign = '='
		return skipBlanks(s, end+1)
	}
	return at
}

var setters, keywords = set("setters"), set("keywords")

// blankAssigns reports whether a blank connects the name s[start:end] with a value.
func (n *named) blankAssigns(kind secrecy, start, end int, op *operator) bool {
	s := n.s
	if kind <= weak || n.r.KeepSecrets {
		return false
	}
	word := wordAt(s, op.at)
	if start > 0 && s[start-1] == '-' { // --password hunter2
		return op.at < len(s) && strings.IndexByte("-\r\n", s[op.at]) < 0 && !strings.HasPrefix(word, "id=")
	}
	for _, form := range []string{"verb", "level", "typed"} {
		if strings.IndexByte("iws0456789", s[op.at]) < 0 { // which is fast
			break
		}
		groups := syntax[form].FindStringSubmatchIndex(lineFrom(s, op.at))
		if groups == nil || form == "level" && kind < everything {
			continue
		}
		if op.at += groups[2]; form == "typed" { // const password string = "hunter2"
			op.sign = '='
		}
		return true // the password is hunter2, enable secret 5 $1$..., password 7 0822455D0A16
	}
	if word == "" || word == "=" || word == "|" || word == "is" || word == "was" {
		return false
	}
	if kind == everything && (s[op.at] == '\'' || s[op.at] == '"') && !afterQuote(s, start) { // PASSWORD 'hunter2'
		after := skipBlanks(s, min(quoteEnd(s, op.at+1, s[op.at])+1, len(s)))
		return after == len(s) || s[after] != '{' // not the label of a block
	}
	before := lastWord(s, start)
	if before == "set" { // aws configure set aws_secret_access_key x
		return len(word) >= 8 && hasDigit(word) && !strings.ContainsAny(word, "()=")
	}
	return setters[before] || keywords[s[start:end]] ||
		s[lineStart(s, start):start] == "default " // the last entry of a .netrc file
}
