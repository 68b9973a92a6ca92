package redact

import (
	"regexp"
	"strings"
)

// schemes are words before a credential in an HTTP header.
var schemes = set("schemes")

// schemeLength returns the length of the scheme at the beginning of s, for example 7 for "Bearer x", or 0.
func schemeLength(s string) int {
	w := wordAt(s, 0)
	if !schemes[strings.ToLower(w)] || len(w) == len(s) || !isBlank(s[len(w)]) {
		return 0
	}
	return skipBlanks(s, len(w))
}

func hasScheme(s string) bool { return schemeLength(s) > 0 && len(s) > 12 }

// scheme redacts a credential after "Bearer" or "Basic", which end at end.
func (n *named) scheme(end int) {
	from := skipBlanks(n.s, end)
	to := any64.skip(n.s, from, len(n.s))
	value := strings.TrimRight(n.s[from:to], ".-")
	if from > end && len(value) >= 8 && !isPlaceholder(value) && isCredential(value) {
		n.found = append(n.found, span{from, from + len(value), ""})
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

// passwordFiles redacts the passwords in lines of .pgpass files, host:port:database:user:password.
func (n *named) passwordFiles() {
	at := 0
	for line := range strings.Lines(n.s) {
		text := strings.TrimRight(line, "\r\n")
		if len(text) <= 4096 && strings.Count(text, ":") == 4 && fits(text, "pgpass") {
			last := strings.LastIndexByte(text, ':') + 1
			user := strings.Split(text, ":")[2]
			if !digits.all(user) && !isPlaceholder(text[last:]) {
				n.found = append(n.found, span{at + last, at + len(text), ""})
			}
		}
		at += len(line)
	}
}

// commandEnd returns the end of the line at at, with the lines that continue it after a backslash, or after the signs
// of PowerShell and cmd.
func commandEnd(s string, at int) int {
	for {
		end := lineEnd(s, at)
		before := strings.TrimRight(s[max(at, end-2):end], "\r")
		if end == len(s) || before == "" || strings.IndexByte("\\`^", before[len(before)-1]) < 0 {
			return end
		}
		at = end + 1
	}
}

// command redacts the passwords after the flags of the program at start. If a line names the program again, the rest is
// not read again.
func (n *named) command(start int) {
	for _, p := range programs[n.s[start]] {
		if start < n.read[p.number] || !strings.HasPrefix(n.s[start:], p.program) {
			continue
		}
		if start >= n.line {
			n.line = commandEnd(n.s, start)
		}
		n.read[p.number] = n.passwordFlag(p, start+len(p.program), n.line)
	}
}

// after redacts the password after a word that does not name it, by the form of the text.
func (n *named) after(word string, end int) {
	form := afterWords[strings.ToLower(word)]
	if form == nil {
		return
	}
	text := n.s[end:min(len(n.s), end+400)]
	visit(len(text))
	groups := form.FindStringSubmatchIndex(text)
	for i := 2; i < len(groups); i += 2 {
		from, to := groups[i], groups[i+1]
		if from < to && !strings.HasPrefix(text[from:to], Redacted) && n.hidden(text[from:to]) {
			n.found = append(n.found, span{end + from, end + to, ""})
		}
	}
}

// afterWords are the forms of the table syntax whose names begin with "after-".
var afterWords = func() map[string]*regexp.Regexp {
	forms := make(map[string]*regexp.Regexp)
	for name, form := range syntax {
		if word, ok := strings.CutPrefix(name, "after-"); ok {
			forms[word] = form
		}
	}
	return forms
}()

// standIns are passwords of documentations.
var standIns = set("stand-ins")

// A passwordFlag is a flag for a password that does not name it.
type passwordFlag struct {
	program, flag string
	joined, apart bool // the password may be in the same word, or in the next one
	user          bool // the password is after a name and a colon
	number        int
}

// programs holds the flags by the first bytes of their programs.
var programs = func() (by [256][]*passwordFlag) {
	for i, row := range table("commands") {
		p := passwordFlag{strings.Join(row[2:], " "), row[0], row[1] != "apart", row[1] != "joined", row[1] == "user", i}
		by[p.program[0]] = append(by[p.program[0]], &p)
	}
	return by
}()

// passwordFlag redacts the password after the flag of a program whose name begins before from. It returns the position
// to which it has read the command.
func (n *named) passwordFlag(p *passwordFlag, from, to int) int {
	s := n.s[:to]
	at := slug.skip(s, from, to) // mysqldump
	if at == to || !isSpace(s[at]) {
		return at
	}
	for at++; at < to && !endsCommand(s, at); at++ {
		if s[at] != '-' || !isSpace(s[at-1]) || !strings.HasPrefix(s[at:], p.flag) {
			continue
		}
		value := at + len(p.flag)
		if strings.HasPrefix(p.flag, "--") && value < to && s[value] == '=' {
			value++
		}
		apart := value < to && isBlank(s[value])
		if value = skipBlanks(s, value); apart && !p.apart || !apart && !p.joined {
			continue
		}
		value, end := shellWord(s, value)
		if value = min(value, end); n.isPassword(p, &value, s[:end]) {
			n.found = append(n.found, span{value, end, ""})
		}
		return max(at, end)
	}
	visit(at - from)
	return at
}

// endsCommand reports whether another command begins at at, also in a text of JSON.
func endsCommand(s string, at int) bool {
	next := s[min(at+1, len(s)-1)]
	return s[at] == '\\' && next == 'n' ||
		strings.IndexByte(";|&", s[at]) >= 0 && (isSpace(s[at-1]) || isSpace(next) || next == s[at])
}

// isPassword reports whether the word at at, with which s ends, is a password. It moves at to the one after a user.
func (n *named) isPassword(p *passwordFlag, at *int, s string) bool {
	password := s[*at:]
	if p.user {
		_, password, _ = strings.Cut(password, ":")
		*at = len(s) - len(password)
		plain := strings.ToLower(strings.Trim(password, "[]<>{}"))
		return password != "" && !isPlaceholder(password) && !standIns[plain]
	}
	isPort := strings.Trim(password, "0123456789:./-") == "" // as in docker run --name mysql -p3306:3306
	return !isPort && password[0] != '-' && n.hidden(password)
}

// hidden is hidden for the values of passwords. The values of a text repeat, so that it remembers them.
func (n *named) hidden(value string) bool {
	return remember(n.values, value, func(value string) bool { return hidden(value, everything) })
}

// shellWord returns the span of the word of a command at at, without its quotes.
func shellWord(s string, at int) (from, to int) {
	if at < len(s) && isQuote(s[at]) {
		return at + 1, quoteEnd(s, at+1, s[at])
	}
	return at, shellBytes.skip(s, at, len(s))
}

var shellBytes = chars(" \t\r\n\\\x1f\"'`").not()
