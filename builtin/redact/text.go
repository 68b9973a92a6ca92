package redact

import (
	"regexp"
	"strings"
)

// A pattern recognises a kind of secret by its form, for example an access key of a cloud provider. Because most texts
// contain no secret, the expression is tried only on texts that contain one of hints.
type pattern struct {
	hints       []string
	expression  *regexp.Regexp
	replacement string
	unless      func(match string) bool // reports a false match; nil: there are no false matches
}

var patterns = []pattern{
	{[]string{"PRIVATE KEY"}, regexp.MustCompile(
		`-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\z)`),
		Redacted, nil},
	{[]string{"://"}, regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#"'<>]+@`), "${1}" + Redacted + "@", nil},
	{[]string{"earer", "asic", "EARER", "ASIC"}, regexp.MustCompile(`(?i)\b(bearer|basic)(\s+)[A-Za-z0-9+/_.=~-]{8,}`),
		"${1}${2}" + Redacted, isOrdinaryWord},
	{[]string{"eyJ"}, regexp.MustCompile(`\beyJ[\w-]{8,}(?:\.[\w-]*){0,4}`), Redacted, nil},
	{[]string{"sk-", "sk_", "pk_", "rk_"}, regexp.MustCompile(`\b(?:sk[-_]|[pr]k_)[A-Za-z0-9_-]{16,}`), Redacted, nil},
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{16,}`), Redacted, nil},
	{[]string{"npm_", "hf_"}, regexp.MustCompile(`\b(?:npm|hf)_[A-Za-z0-9]{20,}`), Redacted, nil},
	{[]string{"github_pat_", "glpat-", "pypi-", "dop_v1_", "ya29.", "AIza", "SG."},
		regexp.MustCompile(`\b(?:github_pat_|glpat-|pypi-|dop_v1_|ya29\.|AIza|SG\.)[\w.-]{20,}`), Redacted, nil},
	{[]string{"xox"}, regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{8,}`), Redacted, nil},
	{[]string{"AKIA", "ASIA"}, regexp.MustCompile(`\bA[KS]IA[A-Z0-9]{16}\b`), Redacted, nil},
	{[]string{"hooks.slack.com/"}, regexp.MustCompile(`hooks\.slack\.com/(?:services|workflows)/[\w/-]+`),
		"hooks.slack.com/" + Redacted, nil},
}

// redactTokens redacts the secrets that patterns recognise.
func redactTokens(s string) string {
	for _, p := range patterns {
		for _, hint := range p.hints {
			if !strings.Contains(s, hint) {
				continue
			}
			if p.unless == nil {
				s = p.expression.ReplaceAllString(s, p.replacement)
				break
			}
			s = p.expression.ReplaceAllStringFunc(s, func(match string) string {
				if p.unless(match) {
					return match
				}
				return p.expression.ReplaceAllString(match, p.replacement)
			})
			break
		}
	}
	return s
}

// isOrdinaryWord reports whether the word after "basic" or "bearer" is not a credential, as in "a basic understanding".
func isOrdinaryWord(match string) bool {
	value := match[strings.LastIndexAny(match, " \t\r\n\f\v")+1:]
	return strings.Trim(value[1:], "abcdefghijklmnopqrstuvwxyz.-") == ""
}

// redactNamedValues redacts values after the name of a secret: name=value, name: value, "name": "value" and --name
// value.
func (r *Redactor) redactNamedValues(s string) string {
	if !strings.ContainsAny(s, ":=-") {
		return s
	}
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		if !nameStart(s[i]) || i > 0 && nameByte(s[i-1]) && s[i-1] != '-' {
			i++
			continue
		}
		end := i
		for end < len(s) && nameByte(s[end]) {
			end++
		}
		from := valueAfter(s, i, end)
		if from < 0 {
			i = end
			continue
		}
		kind := r.secret(s[i:end])
		i = end
		if kind == open {
			continue
		}
		from, to := valueSpan(s, from, s[end-1] != '-' && wholeLine(s[:end]))
		value := s[from:to]
		if value == "" || isConstant(value) ||
			kind == onlyTexts && isNumber(strings.ReplaceAll(value, openRedacted, "")) {
			continue
		}
		b.WriteString(s[done:from])
		b.WriteString(Redacted)
		done, i = to, to
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

func nameStart(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

func nameByte(c byte) bool {
	return nameStart(c) || '0' <= c && c <= '9' || c == '-' || c == '.'
}

// openRedacted is the end of a value that was partly redacted before. The closing bracket is missing, because a bracket
// ends a value.
var openRedacted = strings.TrimSuffix(Redacted, "]")

// valueAfter returns the start of the value after the name s[start:end], or -1 if no value follows.
func valueAfter(s string, start, end int) int {
	at := end
	for at < len(s) && s[at] == '\\' {
		at++
	}
	if at < len(s) && (s[at] == '"' || s[at] == '\'' || s[at] == '`') {
		at++
	}
	at = skipBlanks(s, at)
	if at < len(s) && (s[at] == ':' || s[at] == '=') {
		for at++; at < len(s) && (s[at] == '=' || s[at] == '>'); at++ {
		}
		return skipBlanks(s, at)
	}
	if start > 0 && s[start-1] == '-' && at > end { // a flag such as --name
		return at
	}
	return -1
}

func skipBlanks(s string, at int) int {
	for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
		at++
	}
	return at
}

// wholeLine reports whether the text ends with the name of an HTTP header whose value is the rest of the line.
func wholeLine(s string) bool {
	s = s[max(0, len(s)-20):]
	lower := strings.ToLower(s)
	return strings.HasSuffix(lower, "cookie") || strings.HasSuffix(lower, "authorization")
}

// valueSpan returns the span of the value that begins at at, without its quotes. line is true if the value is the rest
// of the line.
func valueSpan(s string, at int, line bool) (from, to int) {
	if strings.HasPrefix(s[at:], Redacted) {
		return at, at
	}
	escapes := 0
	for at+escapes < len(s) && s[at+escapes] == '\\' {
		escapes++
	}
	if q := at + escapes; q < len(s) && (s[q] == '"' || s[q] == '\'' || s[q] == '`') {
		return q + 1, quoteEnd(s, q+1, s[q], escapes)
	}
	if at < len(s) && (s[at] == '[' || s[at] == '{') {
		return at, bracketEnd(s, at)
	}
	stop := " \t\r\n,;&\"'`<>)}]\\"
	if line {
		stop = "\r\n\"'`<>\\"
	} else if end := schemeEnd(s[at:]); end > 0 {
		n := strings.IndexAny(s[at+end:], stop)
		if n < 0 {
			return at, len(s)
		}
		return at, at + end + n
	}
	n := strings.IndexAny(s[at:], stop)
	if n < 0 {
		return at, len(s)
	}
	return at, at + n
}

var scheme = regexp.MustCompile(`^(?i)(?:bearer|basic|digest|token|negotiate)[ \t]+`)

// schemeEnd returns the end of the scheme of a credential, for example 7 for "Bearer x", or 0 without a scheme.
func schemeEnd(s string) int {
	if at := scheme.FindStringIndex(s[:min(len(s), 32)]); at != nil {
		return at[1]
	}
	return 0
}

// quoteEnd returns the end of a quoted text: the next quote that has as many backslashes as the opening quote.
func quoteEnd(s string, at int, quote byte, escapes int) int {
	run := 0
	for ; at < len(s); at++ {
		switch {
		case s[at] == '\\':
			run++
			continue
		case s[at] == quote && (run == escapes || escapes == 0 && run%2 == 0):
			return at - run*min(escapes, 1)
		}
		run = 0
	}
	return len(s)
}

// bracketEnd returns the position after the bracket that closes the one at at, or the end of the text.
func bracketEnd(s string, at int) int {
	depth := 0
	for ; at < len(s); at++ {
		switch s[at] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}
	return len(s)
}

// isNumber reports whether a value is a number.
func isNumber(value string) bool { return strings.Trim(value, "0123456789.,+-eE_") == "" }

// isConstant reports whether a value is a constant such as null or true, or is redacted already.
func isConstant(value string) bool {
	switch strings.ToLower(value) {
	case "true", "false", "null", "nil", "none", "undefined":
		return true
	}
	return value == Redacted
}
