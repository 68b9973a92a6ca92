package redact

import "strings"

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

// schemes redacts credentials after "Bearer" and "Basic" anywhere in the text.
func (n *named) schemes() {
	s := n.s
	for at := 0; at < len(s); at++ {
		i := strings.IndexAny(s[at:], "bB")
		if i < 0 {
			return
		}
		at += i
		size := length(s[at:min(len(s), at+6)], "scheme")
		if size == 0 || !beginsWord(s, at) {
			continue
		}
		from := skipBlanks(s, at+size)
		if strings.HasPrefix(s[at+size:], "%20") {
			from = at + size + 3
		}
		to := any64.skip(s, from, len(s))
		value := strings.TrimRight(s[from:to], ".-")
		if from > at+size && len(value) >= 8 && !isPlaceholder(value) && isCredential(value) {
			n.found = append(n.found, span{from, from + len(value), ""})
		}
		at = max(at+size, to) - 1
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
// -u and --user of curl and in short flags of other programs.
func (n *named) passwordFiles() {
	s := n.s
	for at := 0; at < len(s); {
		end := commandEnd(s, at)
		begin := at
		at = min(end+1, len(s))
		n.command(begin, end)
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

// command redacts the passwords in the line s[at:end].
func (n *named) command(at, end int) {
	s := n.s
	line := strings.TrimRight(s[at:end], "\r")
	if len(line) <= 4096 && strings.Count(line, ":") == 4 {
		last := strings.LastIndexByte(line, ':') + 1
		user := strings.Split(line, ":")[2]
		if fits(line, "pgpass") && !digits.all(user) && !isPlaceholder(line[last:]) {
			n.found = append(n.found, span{at + last, at + len(line), ""})
		}
	}
	if curl := strings.Index(line, "curl"); curl >= 0 {
		n.curl(at+curl, at+len(line))
	}
	for _, p := range passwordFlags {
		for from := at; ; {
			i := strings.Index(s[from:at+len(line)], p.program)
			if i < 0 {
				break
			}
			from += i + len(p.program)
			if beginsCommand(s, from-len(p.program)) {
				from = n.passwordFlag(p, from, at+len(line))
			}
		}
	}
	if strings.Contains(line, "--password-stdin") {
		n.echoed(at, at+len(line))
	}
}

// beginsCommand reports whether the word at at can be a program: a line, a blank, a quote, the directory of the program
// or an escaped line break precedes it.
func beginsCommand(s string, at int) bool {
	return at == 0 || !dotted[s[at-1]] || at > 1 && s[at-2] == '\\'
}

// echoed redacts the password in echo x | docker login --password-stdin.
func (n *named) echoed(from, to int) {
	i := strings.Index(n.s[from:to], "echo ")
	if i < 0 || !beginsCommand(n.s, from+i) {
		return
	}
	value, end := shellWord(n.s[:to], from+i+len("echo "))
	if value < end && n.s[value] != '-' && hidden(n.s[value:end], everything) {
		n.found = append(n.found, span{value, end, ""})
	}
}

// standIns are passwords of documentations.
var standIns = set("stand-ins")

// curl redacts the password after -u user: in a command line.
func (n *named) curl(from, to int) {
	s := n.s
	for at := from; at < to; at++ {
		if s[at] != '-' || !isSpace(s[at-1]) {
			continue
		}
		size := length(wordAt(s, at), "curl-user")
		if size == 0 {
			continue
		}
		value := skipBlanks(s, at+size)
		value, end := shellWord(s[:to], value)
		user, password, ok := strings.Cut(s[value:max(value, end)], ":")
		if ok && password != "" && !isPlaceholder(password) && !standIns[strings.ToLower(strings.Trim(password, "[]<>{}"))] {
			n.found = append(n.found, span{value + len(user) + 1, end, ""})
		}
		at = max(at, end-1)
	}
}

// A passwordFlag is a flag for a password that does not name it.
type passwordFlag struct {
	program, flag string
	joined, apart bool // the password may be in the same word, or in the next one
}

var passwordFlags = func() (flags []passwordFlag) {
	for _, row := range table("commands") {
		flags = append(flags, passwordFlag{strings.Join(row[2:], " "), row[0], row[1] != "apart", row[1] != "joined"})
	}
	return flags
}()

// passwordFlag redacts the password after the flag of a program whose name begins before from. It returns the position
// to which it has read the command.
func (n *named) passwordFlag(p passwordFlag, from, to int) int {
	s := n.s[:to]
	at := slug.skip(s, from, to) // mysqldump
	if at == to || !isBlank(s[at]) {
		return at
	}
	for at++; at < to && strings.IndexByte(";|&", s[at]) < 0 && !strings.HasPrefix(s[at:], `\n`); at++ {
		if !isSpace(s[at-1]) || !strings.HasPrefix(s[at:], p.flag) {
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
		password := s[min(value, end):end]
		isPort := strings.Trim(password, "0123456789:./-") == "" // as in docker run --name mysql -p3306:3306
		if password != "" && password[0] != '-' && !isPort && hidden(password, everything) {
			n.found = append(n.found, span{value, end, ""})
		}
		return max(at, end)
	}
	return at
}

// shellWord returns the span of the word of a command at at, without its quotes. In a text of JSON they are escaped.
func shellWord(s string, at int) (from, to int) {
	if quote := backslashes.skip(s, at, len(s)); quote < len(s) && isQuote(s[quote]) {
		return quote + 1, quoteEnd(s, quote+1, s[quote], quote-at)
	}
	return at, shellBytes.skip(s, at, len(s))
}

var shellBytes = chars(" \t\r\n\\\x1f\"'`").not()
