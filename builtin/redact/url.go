package redact

import "strings"

// appendURLSecrets appends the spans of credentials in URLs such as https://user:password@host/.
//
// A password may contain an unescaped "@" or "/". A user name without a password stays, as in ssh://git@example.org/,
// unless it looks like a token. A URL that was cut before the "@" ends with the text.
func appendURLSecrets(found []span, s string) []span {
	run := 0 // the end of the last run of bytes that can be in a URL
	for at := 0; ; {
		n := strings.Index(s[at:], "://")
		if n < 0 {
			return found
		}
		from := at + n + len("://")
		at = from
		if from < 4 || !alnum[s[from-4]] {
			continue
		}
		run = urlBytes.skip(s, max(run, from), len(s))
		end, _ := index(s[:run], from, "://") // for example, a URL in the query of another one
		if p, ok := userinfo(s, from, end); ok {
			found = append(found, p)
		}
		at = end
	}
}

// urlBytes can be in a URL, and hostBytes before its path.
var urlBytes, hostBytes = chars(" \t\r\n\"'`<>\\|").not(), chars("/?#").not()

// userinfo returns the span of the credentials in a URL whose part after "://" is s[from:end].
func userinfo(s string, from, end int) (span, bool) {
	authority := hostBytes.skip(s, from, end-from)
	if at := strings.LastIndexByte(s[from:authority], '@'); at >= 0 {
		user, password, ok := strings.Cut(s[from:from+at], ":")
		if ok && !isPlaceholder(password) || !ok && len(user) >= 16 && (isRandom(user) || anyHex.all(user)) {
			return span{from, from + at, "url-credentials"}, true
		}
		return span{}, false
	}
	colon := strings.IndexByte(s[from:authority], ':')
	if colon < 0 || isPort(s[from+colon+1:authority]) || s[from] == '[' {
		return span{}, false
	}
	if at := strings.LastIndexByte(s[authority:end], '@'); at >= 0 { // a slash in the password
		return span{from, authority + at, "url-credentials"}, true
	}
	if end == len(s) && !strings.Contains(s[from:end], "/") && end-from-colon > 8 {
		return span{from, len(s), "url-credentials"}, true
	}
	return span{}, false
}

// isPort reports whether s is a port, or the placeholder of one such as %d, $PORT and {port}.
func isPort(s string) bool {
	return digits.all(s) || strings.IndexByte("$%{*<[", s[0]) >= 0 || strings.EqualFold(s, "port")
}
