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
		name, more := index(s, at, privateKey)
		if !more {
			return marker{}, false
		}
		if m, ok := markerAt(s, name); ok {
			return m, true
		}
		at = name + len(privateKey)
	}
}

// markerAt returns the marker with the name "PRIVATE KEY" at name. For example, the marker is
// "-----BEGIN RSA PRIVATE KEY-----".
func markerAt(s string, name int) (m marker, ok bool) {
	m.from = keyWords.back(s, name, 60)
	kind := strings.TrimLeft(s[m.from:name], " ")
	m.ends = strings.HasPrefix(kind, "END")
	if !m.ends && !strings.HasPrefix(kind, "BEGIN") {
		return m, false
	}
	m.from = dashes.back(s, m.from, 20)
	m.to = name + len(privateKey)
	if strings.HasPrefix(s[m.to:], " BLOCK") {
		m.to += len(" BLOCK")
	}
	m.to = dashes.skip(s, skipBlanks(s, m.to), len(s))
	return m, strings.HasPrefix(s[m.from:], "----")
}

var keyWords, dashes = chars("A-Za-z0-9 \x80-\xff"), chars("-")

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
	at := length(line, "key-lead")
	if at == len(line) {
		return 0, true
	}
	if strings.Contains(line[at:min(len(line), at+20)], ": ") {
		if length(line[at:], "key-header") > 0 {
			return len(line), true
		}
		return 0, false
	}
	for at < len(line) {
		from := at
		at = std64.skip(line, at, len(line))
		run, cut := line[from:at], last && at == len(line)
		if run == "" || len(run) < 24 && !hasDigit(run) && !strings.HasSuffix(run, "=") && !cut {
			break
		}
		end = at
		at = skipBlanks(line, at)
	}
	return end, end > 0 && strings.Trim(line[end:], " \t\r\"'`|,+;\\\x1f") == ""
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
