package redact

import (
	"regexp"
	"strings"
)

// A pattern is a form of secret that is recognised by itself. One of hints must be in a text before the expression
// is tried: most texts hold none.
type pattern struct {
	hints   []string
	pattern *regexp.Regexp
	instead string
	unless  func(match string) bool // it is none after all; nil: it is one
}

var patterns = []pattern{
	{[]string{"PRIVATE KEY"}, regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\z)`), Redacted, nil},
	{[]string{"://"}, regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#"'<>]+@`), "${1}" + Redacted + "@", nil},
	{[]string{"earer", "asic", "EARER", "ASIC"}, regexp.MustCompile(`(?i)\b(bearer|basic)(\s+)[A-Za-z0-9+/_.=~-]{8,}`), "${1}${2}" + Redacted, words},
	{[]string{"eyJ"}, regexp.MustCompile(`\beyJ[\w-]{8,}(?:\.[\w-]*){0,4}`), Redacted, nil},
	{[]string{"sk-", "sk_", "pk_", "rk_"}, regexp.MustCompile(`\b(?:sk[-_]|[pr]k_)[A-Za-z0-9_-]{16,}`), Redacted, nil},
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{16,}`), Redacted, nil},
	{[]string{"npm_", "hf_"}, regexp.MustCompile(`\b(?:npm|hf)_[A-Za-z0-9]{20,}`), Redacted, nil},
	{[]string{"github_pat_", "glpat-", "pypi-", "dop_v1_", "ya29.", "AIza", "SG."},
		regexp.MustCompile(`\b(?:github_pat_|glpat-|pypi-|dop_v1_|ya29\.|AIza|SG\.)[\w.-]{20,}`), Redacted, nil},
	{[]string{"xox"}, regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{8,}`), Redacted, nil},
	{[]string{"AKIA", "ASIA"}, regexp.MustCompile(`\bA[KS]IA[A-Z0-9]{16}\b`), Redacted, nil},
	{[]string{"hooks.slack.com/"}, regexp.MustCompile(`hooks\.slack\.com/(?:services|workflows)/[\w/-]+`), "hooks.slack.com/" + Redacted, nil},
}

// redactTokens takes out what is a secret by its own form.
func redactTokens(s string) string {
	for _, f := range patterns {
		for _, hint := range f.hints {
			if !strings.Contains(s, hint) {
				continue
			}
			if f.unless == nil {
				s = f.pattern.ReplaceAllString(s, f.instead)
				break
			}
			s = f.pattern.ReplaceAllStringFunc(s, func(match string) string {
				if f.unless(match) {
					return match
				}
				return f.pattern.ReplaceAllString(match, f.instead)
			})
			break
		}
	}
	return s
}

// words reports whether "basic" or "bearer" is followed by an ordinary word.
func words(match string) bool {
	value := match[strings.LastIndexAny(match, " \t\r\n\f\v")+1:]
	return strings.Trim(value[1:], "abcdefghijklmnopqrstuvwxyz.-") == ""
}

// redactNamedValues takes the values out that stand in the text behind the name of a secret: name=value, name: value,
// "name": "value", --name value.
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
		if value := s[from:to]; value == "" || kind == onlyTexts && plain(strings.ReplaceAll(value, cutMark, "")) || nothing(value) {
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

// cutMark is what a value ends with that had a part redacted before: a bracket ends a value.
var cutMark = strings.TrimSuffix(Redacted, "]")

// valueAfter returns where the value begins that the name s[start:end] is given, -1 if it is given none.
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
	if start > 0 && s[start-1] == '-' && at > end { // a flag
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

// wholeLine reports whether the text ends in the name of a header whose value is the rest of the line.
func wholeLine(s string) bool {
	s = s[max(0, len(s)-20):]
	lower := strings.ToLower(s)
	return strings.HasSuffix(lower, "cookie") || strings.HasSuffix(lower, "authorization")
}

// valueSpan returns what of the text is the value that begins there, without its quotes.
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

// schemeEnd returns where the value of a credential with a scheme, like "Bearer x", goes on; 0 if it has none.
func schemeEnd(s string) int {
	if at := scheme.FindStringIndex(s[:min(len(s), 32)]); at != nil {
		return at[1]
	}
	return 0
}

// quoteEnd returns where the quoted text ends: at the quote that has as many escapes before it as the first.
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

// bracketEnd returns where the bracket that opens there is closed, the end of the text if it is not.
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

// plain reports whether a value is a number.
func plain(value string) bool { return strings.Trim(value, "0123456789.,+-eE_") == "" }

// nothing reports whether a value is one that hides nothing.
func nothing(value string) bool {
	switch strings.ToLower(value) {
	case "true", "false", "null", "nil", "none", "undefined", Redacted:
		return true
	}
	return value == Redacted
}
