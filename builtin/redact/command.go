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
		if start < n.read[p] || !strings.HasPrefix(n.s[start:], p.program) {
			continue
		}
		if start >= n.line {
			n.line = commandEnd(n.s, start)
		}
		n.read[p] = n.passwordFlag(p, start+len(p.program), n.line)
	}
}

// after redacts the password after a word that does not name it, by the form of the text.
func (n *named) after(form *regexp.Regexp, end int) {
	text := n.s[end:min(len(n.s), end+400)]
	visit(len(text))
	groups := form.FindStringSubmatchIndex(text)
	for i := 2; i < len(groups); i += 2 {
		from, to := groups[i], groups[i+1]
		if from < to && !strings.HasPrefix(text[from:to], Redacted) && n.hidden(text[from:to], everything) {
			n.found = append(n.found, span{end + from, end + to, ""})
		}
	}
}

// standIns are passwords of documentations.
var standIns = set("stand-ins")

// A passwordFlag is a flag for a password that does not name it.
type passwordFlag struct {
	flag, place string
	program     string
}

// programs holds the flags by the first bytes of their programs.
var programs = byFirst(entries("commands", func(fields []string) *passwordFlag {
	return &passwordFlag{fields[0], fields[1], strings.Join(fields[2:], " ")}
}), func(p *passwordFlag) string { return p.program })

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
		if strings.HasPrefix(p.flag, "--") {
			value = past(s, value, "=")
		}
		apart := value < to && isBlank(s[value])
		if apart && p.place == "joined" || !apart && p.place == "apart" {
			continue
		}
		password, end := shellWord(s, skipBlanks(s, value))
		if n.isPassword(p, &password) {
			n.found = append(n.found, span{end - len(password), end, ""})
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

// isPassword reports whether a word after a flag is a password. It removes the name of a user before it.
func (n *named) isPassword(p *passwordFlag, word *string) bool {
	if p.place == "user" {
		_, *word, _ = strings.Cut(*word, ":")
		return !isPlaceholder(*word) && !standIns[strings.ToLower(strings.Trim(*word, "[]<>{}"))]
	}
	isPort := strings.Trim(*word, "0123456789:./-") == "" // as in docker run --name mysql -p3306:3306
	return !isPort && (*word)[0] != '-' && n.hidden(*word, everything)
}

// shellWord returns the word of a command at at, without its quotes, and its end.
func shellWord(s string, at int) (word string, end int) {
	if at < len(s) && isQuote(s[at]) {
		end = quoteEnd(s, at+1, s[at])
		return s[min(at+1, end):end], end
	}
	end = shellBytes.skip(s, at, len(s))
	return s[at:end], end
}

var shellBytes = chars(" \t\r\n\\\x1f\"'`").not()
