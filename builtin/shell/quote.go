package shell

import (
	"strconv"
	"strings"
)

// until consumes an opening quote, the quoted text and its end. It consumes nothing if the end is missing.
func (p *parser) until(end string) (string, bool) {
	text, _, ok := strings.Cut(p.text[p.at+1:], end)
	if ok {
		p.at += 1 + len(text) + len(end)
	}
	return text, ok
}

// fieldSeparator returns the length of a $IFS that begins here, or 0. A shell expands $IFS to a blank.
func (p *parser) fieldSeparator() int {
	rest := p.text[p.at:]
	switch {
	case strings.HasPrefix(rest, "${IFS"):
		if end := strings.IndexByte(rest, '}'); end > 0 {
			return end + 1
		}
	case strings.HasPrefix(rest, "$IFS"):
		return len("$IFS")
	}
	return 0
}

// quotes consumes a text in double quotes. It consumes nothing if the closing quote is missing.
func (p *parser) quotes(b *strings.Builder, w *shellWord) bool {
	start, end := p.at, -1
	i := start + 1
	defer func() { p.budget.spend(i - start) }()
	for ; i < len(p.text) && end < 0 && !p.budget.exceeded; i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '"':
			end = i
		case '$': // a quote in $(...) does not close these quotes
			if strings.HasPrefix(p.text[i:], "$(") {
				i += p.closing(i + 1)
			}
		}
	}
	if end < 0 {
		return false
	}
	p.within(p.text[p.at+1:end]).quoted(b, w)
	w.quoted = true
	p.at = end + 1
	return true
}

// closing returns the length of the parentheses at begin, or 0 if they are not closed. Quoted parentheses do not count.
func (p *parser) closing(begin int) int {
	depth, i := 0, begin
	defer func() { p.budget.spend(i - begin) }()
	for ; i < len(p.text) && !p.budget.exceeded; i++ {
		switch c := p.text[i]; c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1 - begin
			}
		case '\\':
			i++
		case '\'', '"':
			j := i + 1
			for ; j < len(p.text); j++ {
				if p.text[j] == '\\' && c == '"' {
					j++
				} else if p.text[j] == c {
					break
				}
			}
			if j < len(p.text) {
				i = j
			} else {
				p.budget.spend(j - i)
			}
		}
	}
	return 0
}

// quoted consumes the whole text as the content of double quotes.
func (p *parser) quoted(b *strings.Builder, w *shellWord) {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '\\' && p.at+1 < len(p.text) && strings.IndexByte("$`\"\\\n", p.text[p.at+1]) >= 0:
			if p.text[p.at+1] != '\n' {
				b.WriteByte(p.text[p.at+1])
			}
			p.at += 2
		case c == '$':
			p.dollar(b, w)
		case c == '`':
			p.backticks(b, w)
		default:
			b.WriteByte(c)
			p.at++
		}
	}
}

// expansions returns the substitutions in the whole text.
func (p *parser) expansions() []shellScript {
	if p.depth++; p.depth > maxDepth || !p.budget.spend(len(p.text)) {
		p.budget.exceeded = true
		return nil
	}
	var (
		b strings.Builder
		w shellWord
	)
	p.quoted(&b, &w)
	return w.runs
}

// dollar consumes an expansion or a quotation that begins with a dollar sign.
func (p *parser) dollar(b *strings.Builder, w *shellWord) {
	rest := p.text[p.at:]
	switch {
	case strings.HasPrefix(rest, "$("):
		p.at += 2
		w.runs = append(w.runs, p.script(')'))
		b.WriteString("$()")
	case strings.HasPrefix(rest, "$'"):
		p.at++
		if !p.ansi(b, w) {
			b.WriteByte('$')
		}
	case strings.HasPrefix(rest, "${"):
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			end = len(rest) - 1
		}
		w.runs = append(w.runs, p.within(rest[2:max(end, 2)]).expansions()...)
		b.WriteString(rest[:end+1])
		p.at += end + 1
	default:
		b.WriteByte('$')
		p.at++
	}
}

// ansi consumes a text in $'...' and decodes its escapes. It consumes nothing if the closing quote is missing.
func (p *parser) ansi(b *strings.Builder, w *shellWord) bool {
	var text strings.Builder
	rest := p.text[p.at+1:]
	for len(rest) > 0 {
		switch {
		case rest[0] == '\'':
			b.WriteString(text.String())
			w.quoted = true
			p.at = len(p.text) - len(rest) + 1
			return true
		case rest[0] == '\\' && len(rest) > 1:
			r, size := ansiEscape(rest[1:])
			text.WriteString(r)
			rest = rest[1+size:]
		default:
			text.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	return false
}

// ansiEscape decodes an escape without its backslash, and returns its length in bytes.
func ansiEscape(s string) (string, int) {
	number := func(digits string, base, bits int) (string, int) {
		n := 0
		for n < len(digits) {
			if _, err := strconv.ParseUint(digits[:n+1], base, bits); err != nil {
				break
			}
			n++
		}
		v, err := strconv.ParseUint(digits[:n], base, bits)
		switch {
		case err != nil:
			return "", 0
		case bits == 8:
			return string([]byte{byte(v)}), n
		}
		return string(rune(v)), n
	}
	upTo := func(n int) string { return s[1:min(len(s), 1+n)] }
	switch s[0] {
	case 'x':
		if text, n := number(upTo(2), 16, 8); n > 0 {
			return text, 1 + n
		}
	case 'u':
		if text, n := number(upTo(4), 16, 16); n > 0 {
			return text, 1 + n
		}
	case 'U':
		if text, n := number(upTo(8), 16, 31); n > 0 {
			return text, 1 + n
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		text, n := number(s[:min(len(s), 3)], 8, 8)
		return text, n
	case 'n':
		return "\n", 1
	case 't':
		return "\t", 1
	}
	return s[:1], 1
}

// backticks consumes a command in backticks.
func (p *parser) backticks(b *strings.Builder, w *shellWord) {
	var inner strings.Builder
	for i := p.at + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '`':
			p.at = i + 1
			w.runs = append(w.runs, p.within(inner.String()).script(0))
			b.WriteString("$()")
			return
		case c == '\\' && i+1 < len(p.text) && strings.IndexByte("`\\$", p.text[i+1]) >= 0:
			i++
			inner.WriteByte(p.text[i])
		default:
			inner.WriteByte(c)
		}
	}
	b.WriteByte('`')
	p.at++
}
