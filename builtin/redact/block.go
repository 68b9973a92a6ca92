package redact

import (
	"regexp"
	"strings"
)

// below redacts a value on the lines after a name.
func (n *named) below(a assignment) (next int) {
	s := n.s
	at := skipSpaces(s, a.op.at)
	if at == len(s) || a.kind <= weak {
		return a.op.at
	}
	if isQuote(s[at]) {
		a.op.nextLine, a.op.at = false, at
		return n.value(a)
	}
	if a.op.sign != ':' || !beginsLine(s, a.start) {
		return a.op.at
	}
	return n.block(a, lineEnd(s, a.op.at))
}

// maxBlock bounds the bytes of a block that decide whether it is secret. Blocks in blocks would be read again and again
// without a bound.
const maxBlock = 2000

// block redacts the lines after the line end at end that are indented more than the line of the name at start. A single
// word under a label belongs to the label.
func (n *named) block(a assignment, end int) (next int) {
	s := n.s
	indent := a.start - lineStart(s, a.start)
	if quote := a.start - 1; quote >= 0 && isQuote(s[quote]) {
		indent--
	}
	from, to := blockSpan(s[:min(len(s), end+maxBlock)], end, indent)
	if from < 0 {
		return n.label(end, indent, a.kind)
	}
	mapping := isMapping(strings.TrimPrefix(s[from:to], "- "))
	if mapping && a.start < n.inside || !mapping && (!hidden(s[from:to], a.kind) || isProse(s[from:to])) {
		return from
	}
	_, to = blockSpan(s, end, indent)
	if mapping {
		n.inside, n.all = max(n.inside, to), n.kubernetes
		return from
	}
	n.found = append(n.found, span{from, to, ""})
	return to
}

// blockSpan returns the span of the lines after end that are indented more than indent, or -1 without such a line. In
// YAML, the items of a list may have the same indentation.
func blockSpan(s string, end, indent int) (from, to int) {
	item := false // the block is a list
	from, to = -1, end
	for at := skipLine(s, end); at < len(s); at = skipLine(s, at) {
		line := s[at:lineEnd(s, at)]
		text := strings.TrimLeft(line, " \t")
		lead := len(line) - len(text)
		text = strings.TrimRight(text, " \t\r")
		if text == "" {
			continue
		}
		isItem := strings.HasPrefix(text, "- ")
		if from < 0 {
			item = isItem
		}
		if lead < indent || lead == indent && !(item && isItem) {
			break
		}
		if from < 0 {
			from = at + lead
		}
		to = at + lead + len(text)
	}
	return from, to
}

// label redacts a single word on the line after a label such as "Password:".
func (n *named) label(end, indent int, kind secrecy) (next int) {
	s := n.s
	at := skipLine(s, end)
	line := strings.TrimRight(s[at:lineEnd(s, at)], " \t\r")
	if indent > 0 || line == "" || strings.ContainsAny(line, " \t") || strings.HasSuffix(line, ":") ||
		strings.IndexByte("#*|<>{}()[]-=", line[0]) >= 0 || kind < onlyTexts || !hidden(line, kind) ||
		!hasDigit(line) && len(line) < 6 {
		return end
	}
	n.found = append(n.found, span{at, at + len(line), ""})
	return at + len(line)
}

// isMapping reports whether a block of YAML begins with a name and a colon.
func isMapping(block string) bool {
	return length(block[:min(len(block), 400)], "mapping") > 0
}

// kubernetesSecret matches the kind of a manifest that is a Secret, in YAML or JSON.
var kubernetesSecret = regexp.MustCompile(`kind[ "'\\:]{0,8}Secret(?:[^A-Za-z0-9_.\x{80}-\x{10ffff}-]|$)`)
