package redact

import (
	"regexp"
	"strings"
)

// appendPrivateKeys appends the spans of private keys in PEM, OpenPGP and PuTTY format. A key that was cut has only
// one of its two markers. For example, a tool that prints the first 20 lines of a file prints the first marker only;
// then the lines after it that look like base64 belong to the key.
func appendPrivateKeys(found []span, s string) []span {
	if !strings.Contains(s, "PRIVATE KEY") && !strings.Contains(s, "Private-Lines") { // which is fast
		return found
	}
	done := 0 // the end of the last key or last marker
	markers := privateKeys.FindAllStringSubmatchIndex(s, -1)
	visit(len(s))
	for i := 0; i < len(markers); i++ {
		from, to, next := markers[i][0], markers[i][1], len(s)
		if markers[i][4] >= 0 { // the name stays
			from = to
		}
		more := i+1 < len(markers)
		if more {
			next = markers[i+1][0]
		}
		switch {
		case isEnd(markers[i]): // the last line of a key
			if begin := keyBegin(s, done, from); begin < from {
				found = append(found, span{begin, to, "private-key"})
			}
			done = to
		case more && isEnd(markers[i+1]) && next-to <= maxKey:
			i++
			done = markers[i][1]
			if inside := s[to:next]; strings.ToLower(inside) != inside || hasDigit(inside) { // not a placeholder
				found = append(found, span{from, done, "private-key"})
			}
		default:
			if end := keyLines(s[:next], to); end > to || to == len(s) {
				found, done = append(found, span{from, end, "private-key"}), end
			}
		}
	}
	return found
}

// privateKeys matches the first line of a private key with a group, for example -----BEGIN RSA PRIVATE KEY----- or
// Private-Lines: 14, and the last line.
var privateKeys = regexp.MustCompile(`----+(?:(BEGIN)|END)[A-Za-z0-9 \x{80}-\x{10ffff}]{0,55}PRIVATE KEY(?: BLOCK)?` +
	`[ \t]*-{0,6}|(Private-Lines):[ \t\r\d]*\n\s*`)

func isEnd(marker []int) bool { return marker[2] < 0 && marker[4] < 0 }

// maxKey is the most bytes between the markers of a key; one of 16,384 bits has 13,000.
const maxKey = 32 << 10

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
