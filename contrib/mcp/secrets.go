package mcp

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// minSecret is the length from which a value is redacted. Shorter ones, for example "1" or "true", are common words.
const minSecret = 6

// redactor returns a replacer of the secrets in a text, the longest first.
func redactor(secrets []string) *strings.Replacer {
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return len(s) < minSecret })
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, "[redacted]")
	}
	return strings.NewReplacer(pairs...)
}

// secretsOfURL returns the parts of a URL that may be secrets: the user, the query, and the parts of the path that look
// like a key, because some services put one there. A text that is not a URL is a secret as a whole.
func secretsOfURL(text string) (all []string) {
	u, err := url.Parse(text)
	if err != nil {
		return []string{text}
	}
	password, _ := u.User.Password()
	all = append(all, password, u.User.Username(), u.RawQuery, u.Fragment)
	for _, values := range u.Query() {
		all = append(all, values...)
	}
	for _, path := range []string{u.Path, u.EscapedPath()} {
		for part := range strings.SplitSeq(path, "/") {
			if looksLikeKey(part) {
				all = append(all, part)
			}
		}
	}
	return all
}

// secretFlag finds the names of flags with secrets, for example --api-key.
var secretFlag = regexp.MustCompile(`(?i)^-.*(key|token|secret|password|passwd|pwd|auth|credential|header|bearer)`)

// secretsOfArgs returns the arguments of a program that may be secrets: the values of flags such as --token, what looks
// like a key, and the secrets of URLs. Other arguments remain in errors, for example the directories that a server may
// read, because its errors are about them.
func secretsOfArgs(args []string) (all []string) {
	for i, arg := range args {
		name, value, assigned := strings.Cut(arg, "=")
		switch {
		case assigned && secretFlag.MatchString(name):
			all = append(all, secretsOfValue(value)...)
		case i > 0 && secretFlag.MatchString(args[i-1]) && !strings.Contains(args[i-1], "="):
			all = append(all, secretsOfValue(arg)...)
		}
		for _, text := range []string{arg, value} {
			if strings.Contains(text, "://") {
				all = append(all, secretsOfURL(text)...)
			} else if looksLikeKey(text) {
				all = append(all, text)
			}
		}
	}
	return all
}

// secretsOfValue returns a value and its last word, for example of "Authorization: Bearer KEY".
func secretsOfValue(value string) []string {
	words := strings.Fields(value)
	if len(words) < 2 {
		return []string{value}
	}
	return []string{value, words[len(words)-1]}
}

// looksLikeKey reports whether a text looks like a generated key: long, with letters and digits, and not a path.
func looksLikeKey(text string) bool {
	return len(text) >= 16 && !strings.ContainsAny(text, `/\ `) &&
		strings.ContainsFunc(text, unicode.IsLetter) && strings.ContainsFunc(text, unicode.IsDigit)
}
