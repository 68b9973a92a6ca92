package redact

import "strings"

// appendPrivateKeys appends the spans of private keys in PEM, OpenPGP and PuTTY format. A key that was cut has only
// one of its two markers. For example, a tool that prints the first 20 lines of a file prints the first marker only;
// then the lines after it that look like base64 belong to the key.
func appendPrivateKeys(found []span, s string) []span {
	done := 0 // the end of the last key or last marker
	m, ok := nextMarker(s, 0)
	for ok {
		next, more := nextMarker(s, m.to)
		switch {
		case m.ends:
			if from := keyBegin(s, done, m.from); from < m.from {
				found = append(found, span{from, m.to, "private-key"})
			}
			done = m.to
		case more && next.ends && next.from-m.to <= maxKey:
			inside := s[m.to:max(m.to, next.from)]
			if strings.ToLower(inside) != inside || hasDigit(inside) { // not a placeholder
				found = append(found, span{m.from, next.to, "private-key"})
			}
			done = next.to
			next, more = nextMarker(s, next.to)
		default:
			end := len(s)
			if more {
				end = next.from
			}
			if to := keyLines(s[:end], m.to); to > m.to || m.to == len(s) {
				found, done = append(found, span{m.from, to, "private-key"}), to
			}
		}
		m, ok = next, more
	}
	for at := 0; ; {
		n := strings.Index(s[at:], puttyKey)
		if n < 0 {
			return found
		}
		at = lineEnd(s, at+n)
		from := skipSpaces(s, at)
		to := keyLines(s, from)
		found, at = append(found, span{from, to, "private-key"}), max(at, to)
	}
}

const (
	privateKey = "PRIVATE KEY"
	puttyKey   = "Private-Lines:"
	maxKey     = 32 << 10 // bytes between the markers of a key; one of 16,384 bits has 13,000
)

// A marker is the first or the last line of a private key.
type marker struct {
	span
	ends bool
}

// nextMarker returns the first marker after at.
func nextMarker(s string, at int) (marker, bool) {
	for {
		n := strings.Index(s[at:], privateKey)
		if n < 0 {
			return marker{}, false
		}
		if m, ok := markerAt(s, at+n); ok {
			return m, true
		}
		at += n + len(privateKey)
	}
}

// markerAt returns the marker with the name "PRIVATE KEY" at name. For example, the marker is
// "-----BEGIN RSA PRIVATE KEY-----".
func markerAt(s string, name int) (m marker, ok bool) {
	from := name
	for from > 0 && name-from < 60 && (isAlnum(s[from-1]) || s[from-1] == ' ') {
		from--
	}
	kind := strings.TrimLeft(s[from:name], " ")
	m.ends = strings.HasPrefix(kind, "END")
	if !m.ends && !strings.HasPrefix(kind, "BEGIN") {
		return m, false
	}
	for from > 0 && name-from < 80 && s[from-1] == '-' {
		from--
	}
	if !strings.HasPrefix(s[from:], "----") {
		return m, false
	}
	to := name + len(privateKey)
	if strings.HasPrefix(s[to:], " BLOCK") {
		to += len(" BLOCK")
	}
	to = skipBlanks(s, to)
	for to < len(s) && s[to] == '-' {
		to++
	}
	m.span = span{from, to, ""}
	return m, true
}

// keyLines returns the end of the lines from from on that look like a part of a key: base64, headers and empty lines.
// Lines may have marks of a quotation or of a program in front, and line breaks may be escaped.
func keyLines(s string, from int) int {
	end := from
	for at := from; at < len(s); {
		next := lineEnd(s, at)
		stop, more := keyLine(s[at:next], next == len(s))
		if stop > 0 {
			end = at + stop
		}
		if !more {
			break
		}
		at = next + 1
	}
	return end
}

// keyLine returns the end of the part of a line that belongs to a key, and whether the next line can belong to it too.
func keyLine(line string, last bool) (end int, more bool) {
	at := 0
	for at < len(line) && strings.IndexByte(" \t\r>|#*+-/\"'`\\\x1f", line[at]) >= 0 {
		at++
		if line[at-1] == '\\' && at < len(line) && (line[at] == 'n' || line[at] == 'r') {
			at++
		}
	}
	if at == len(line) {
		return 0, true
	}
	if name, _, ok := strings.Cut(line[at:min(len(line), at+20)], ": "); ok {
		switch name {
		case "Proc-Type", "DEK-Info", "Comment", "Version", "Hash", "Charset", "Subject":
			return len(line), true
		}
		return 0, false
	}
	for at < len(line) {
		from := at
		for at < len(line) && std64[line[at]] {
			at++
		}
		run := line[from:at]
		cut := last && at == len(line)
		if run == "" || len(run) < 24 && !hasDigit(run) && !strings.HasSuffix(run, "=") && !cut {
			break
		}
		end = at
		for at < len(line) && (isBlank(line[at]) || line[at] == '\r' || line[at] == '\\') { // an escaped line break
			at++
			if line[at-1] == '\\' && at < len(line) && (line[at] == 'n' || line[at] == 'r') {
				at++
			}
		}
	}
	return end, end > 0 && strings.Trim(line[end:], " \t\r\"'`|,+;\\n\x1f") == ""
}

// keyBegin returns the beginning of the lines directly before the last marker of a key, which begins at to. It does not
// go back beyond from.
func keyBegin(s string, from, to int) int {
	begin := to
	for at := to; at > from; {
		start := max(from, from+strings.LastIndexByte(s[from:at-1], '\n')+1)
		visit(at - start)
		line := strings.Trim(s[start:at], " \t\r\n>|#*+\"'`,;\\")
		if line == "" && begin == to {
			at = start
			continue
		}
		if len(line) < 2 || !std64.all(line) || len(line) < 40 && begin < to {
			break
		}
		begin = start + strings.Index(s[start:at], line)
		at = start
	}
	return begin
}
