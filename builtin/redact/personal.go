package redact

import (
	"strings"
	"unicode/utf8"
)

// appendPersonal appends the spans of e-mail addresses, telephone numbers, US social security numbers, and card and
// bank account numbers.
func appendPersonal(found []span, s string) []span {
	found = appendAddresses(found, s)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !isDigit(c) && !isUpper(c) && c != '+' && c != '(' || i > 0 && !beginsNumber(s, i) {
			continue
		}
		if n, kind := numberLength(s, i); n > 0 {
			found = append(found, span{i, i + n, kind})
			i += n - 1
		} else if isDigit(c) { // the rest of a number is not a number
			i = digits.skip(s, i, len(s)) - 1
		}
	}
	return found
}

// beginsNumber reports whether a number can begin at at: it must not continue a word, a longer number or a fraction.
func beginsNumber(s string, at int) bool {
	if s[at-1] == '_' || !beginsWord(s, at) || strings.HasSuffix(s[:at], "第") { // 第 begins an ordinal number
		return false
	}
	return !(at > 1 && strings.IndexByte(".-/,+", s[at-1]) >= 0 && isDigit(s[at-2]))
}

// endsNumber reports whether a number can end before at.
func endsNumber(s string, at int) bool {
	return at == len(s) ||
		!word[s[at]] && !(at+1 < len(s) && (s[at] == '.' || s[at] == '-') && isDigit(s[at+1]))
}

// numberLength returns the length and the kind of the number at at, or 0.
func numberLength(s string, at int) (n int, kind string) {
	part := s[at:min(len(s), at+48)]
	if isUpper(s[at]) {
		return ibanLength(part), "bank-account"
	}
	if n = cardLength(part); n > 0 {
		return n, "card"
	}
	first := digits.skip(part, 0, 4)
	withTrunk := strings.HasPrefix(part, "1-") || strings.HasPrefix(part, "1 (")
	withSign := first == 0 && len(part) > 1 && isDigit(part[1])
	if first != 3 && !withTrunk && !withSign { // which is fast
		return 0, ""
	}
	for _, kind := range []string{"social-security-number", "phone"} {
		if n = length(part, kind); n > 0 && length(part, "no-phone") == 0 && endsNumber(s, at+n) {
			return n, kind
		}
	}
	return 0, ""
}

// cardGroups are the sizes of the groups of digits on payment cards.
var cardGroups = set("card-groups")

// cardLength returns the length of the payment card number at the beginning of s, or 0. One blank or minus sign
// separates its groups, the same one everywhere. Other digits may follow, for example an expiry date.
func cardLength(s string) (n int) {
	number, groups := make([]byte, 0, 85), make([]byte, 0, 5)
	for at := 0; ; at++ {
		size := digits.skip(s, at, 17) - at
		number, groups, at = append(number, s[at:at+size]...), append(groups, byte('0'+size)), at+size
		isCard := len(groups) == 1 && size >= 13 && size <= 16 || len(groups) > 2 && cardGroups[string(groups)]
		if isCard && hasCheckDigit(string(number)) && fits(string(number), "card-number") && endsNumber(s, at) {
			n = at
		}
		if groups[0] != '4' || len(groups) == 5 || at+1 >= len(s) || !isDigit(s[at+1]) ||
			s[at] != s[4] || s[at] != ' ' && s[at] != '-' {
			return n
		}
	}
}

// hasCheckDigit reports whether the last digit is the check digit of the others by the Luhn algorithm.
func hasCheckDigit(number string) bool {
	sum := 0
	for i := range len(number) {
		n := int(number[i] - '0')
		if (len(number)-i)%2 == 0 {
			n = n*2/10 + n*2%10
		}
		sum += n
	}
	return sum%10 == 0
}

// ibanSizes holds the lengths of international bank account numbers by country, from the registry of ISO 13616.
var ibanSizes = func() map[string]int {
	sizes := make(map[string]int)
	for _, row := range table("accounts") {
		sizes[row[0]] = number(row[1])
	}
	return sizes
}()

// ibanLength returns the length of the bank account number at the beginning of s, or 0. Blanks may separate groups.
func ibanLength(s string) int {
	if len(s) < 15 || ibanSizes[s[:2]] == 0 || !digits.all(s[2:4]) {
		return 0
	}
	number, end := "", 0
	for at := 0; len(number) < ibanSizes[s[:2]]; at = end + 1 {
		end = upper.skip(s, at, ibanSizes[s[:2]]-len(number))
		number += s[at:end]
		if end == at || end == len(s) || s[end] != ' ' {
			break
		}
	}
	if len(number) < ibanSizes[s[:2]] || !endsNumber(s, end) || remainder(number) != 1 {
		return 0
	}
	return end
}

// remainder returns the account number modulo 97, with letters converted to numbers as ISO 13616 requires.
func remainder(iban string) int {
	rest := 0
	for i := range len(iban) {
		switch c := iban[(i+4)%len(iban)]; {
		case isDigit(c):
			rest = (rest*10 + int(c-'0')) % 97
		default:
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest
}

// appendAddresses appends the spans of e-mail addresses. Versions as in actions/checkout@v4.1.0, and hosts of ssh as in
// git@example.org:team/project, are not e-mail addresses.
func appendAddresses(found []span, s string) []span {
	last := 0
	for at, more := index(s, 0, "@"); more; at, more = index(s, at+1, "@") {
		from, to := addressSpan(s, at, last)
		last = at + 1
		if from < at && isMailDomain(s[at+1:to]) && !isRemotePath(s, from, to) {
			found = append(found, span{from, to, "email"})
			last, at = to, to-1
		}
	}
	return found
}

var (
	localBytes  = chars("A-Za-z0-9_.+%\x80-\xff-")
	domainBytes = chars("A-Za-z0-9.\x80-\xff-")
	extensions  = set("extensions")
)

// addressSpan returns the span of the e-mail address around the "@" at at. It begins at or after last.
func addressSpan(s string, at, last int) (from, to int) {
	from = at
	for from > last && at-from < 254 && (localBytes[s[from-1]] || s[from-1] == mask && (from == at || s[from] == mask)) {
		from--
	}
	for i := from + 1; i < at; i++ { // a word of another script before the address does not belong to it
		if alnum[s[i]] && isForeign(s, i-1) {
			from = i
		}
	}
	for from < at && strings.IndexByte(".-+%\x1f", s[from]) >= 0 {
		from++
	}
	to = at + 1
	for to < len(s) && to-at < 254 && domainBytes[s[to]] && !(alnum[s[to-1]] && isForeign(s, to)) {
		to++
	}
	if top := at + 1 + strings.LastIndexByte(s[at+1:to], '.') + 1; top < to && alnum[s[top]] {
		if n := strings.IndexFunc(s[top:to], func(c rune) bool { return c >= utf8.RuneSelf }); n >= 0 {
			to = top + n // for example, com is followed by Chinese
		}
	}
	return from, at + 1 + len(strings.TrimRight(s[at+1:to], ".-"))
}

// isMailDomain reports whether a domain has at least two labels, of which the last consists of letters and is not the
// extension of a file.
func isMailDomain(domain string) bool {
	top := domain[strings.LastIndexByte(domain, '.')+1:]
	return len(top) >= 2 && len(top) <= 24 && len(top) < len(domain) && !strings.Contains(domain, "..") &&
		domain[0] != '-' && domain[0] != '.' && strings.IndexFunc(top, notLetter) < 0 && !extensions[strings.ToLower(top)]
}

func notLetter(c rune) bool { return c < utf8.RuneSelf && !isLetter(byte(c)) }

// isRemotePath reports whether s[from:to] is the user and host of a remote path, as in git@example.org:team/project, or
// of a URL.
func isRemotePath(s string, from, to int) bool {
	return strings.HasPrefix(s[from:to], "git@") || strings.HasSuffix(s[:from], "://") ||
		to+1 < len(s) && s[to] == ':' && (s[to+1] == '/' || s[to+1] == '~')
}
