package redact

import (
	"strings"
	"unicode/utf8"
)

// Personal returns the text without personal data that is recognisable by its form alone, for example e-mail addresses
// and card numbers. Of the fields of r, it uses Mark only.
func (r *Redactor) Personal(s string) string {
	return r.untilStable(s, func(s string) []span {
		return seen(s, func(view string) []span { return merge(appendPersonal(nil, view)) })
	})
}

// appendPersonal appends the spans of e-mail addresses, telephone numbers, US social security numbers, and card and
// bank account numbers.
func appendPersonal(found []span, s string) []span {
	found = appendAddresses(found, s)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !isDigit(c) && !isUpper(c) && c != '+' && c != '(' || i > 0 && !beginsNumber(s, i) {
			continue
		}
		n, kind := 0, "bank-account"
		switch {
		case isUpper(c):
			n = ibanLength(s[i:min(len(s), i+48)])
		default:
			n, kind = numberLength(s, i)
		}
		if n > 0 {
			found = append(found, span{i, i + n, kind})
			i += n - 1
			continue
		}
		for i+1 < len(s) && isDigit(c) && isDigit(s[i+1]) { // the rest of a number is not a number
			i++
		}
	}
	return found
}

// beginsNumber reports whether a number can begin at at: it must not continue a word, a longer number or a fraction.
func beginsNumber(s string, at int) bool {
	c := s[at-1]
	if c == '_' || !beginsWord(s, at) || strings.HasSuffix(s[:at], "第") { // 第 begins an ordinal number
		return false
	}
	return !(at > 1 && (c == '.' || c == '-' || c == '/' || c == ',' || c == '+') && isDigit(s[at-2]))
}

// endsNumber reports whether a number can end before at.
func endsNumber(s string, at int) bool {
	if at == len(s) {
		return true
	}
	c := s[at]
	if word[c] {
		return false
	}
	return !(at+1 < len(s) && (c == '.' || c == '-') && isDigit(s[at+1]))
}

// numberLength returns the length and the kind of the card number, security number or telephone number at at, or 0.
func numberLength(s string, at int) (n int, kind string) {
	part := s[at:min(len(s), at+48)]
	for _, number := range numbers {
		if n := number.length(part); n > 0 && endsNumber(s, at+n) {
			return n, number.kind
		}
	}
	return 0, ""
}

var numbers = []struct {
	kind   string
	length func(string) int
}{{"card", cardLength}, {"social-security-number", ssnLength}, {"phone", phoneLength}}

// groups appends the lengths of the groups of digits at the beginning of s. One blank or minus sign separates them, the
// same one everywhere. It returns the digits and the ends of the groups.
func groups(s string) (number []byte, sizes, ends []int) {
	separator := byte(0)
	for i := 0; i < len(s) && len(number) < 24; {
		from := i
		for i < len(s) && isDigit(s[i]) {
			number = append(number, s[i]-'0')
			i++
		}
		if i == from {
			break
		}
		sizes, ends = append(sizes, i-from), append(ends, i)
		if i == len(s) || s[i] != ' ' && s[i] != '-' || separator != 0 && s[i] != separator {
			break
		}
		separator = s[i]
		i++
	}
	return number, sizes, ends
}

// cardLength returns the length of the payment card number at the beginning of s, or 0. Other digits may follow, for
// example an expiry date.
func cardLength(s string) int {
	first := 0
	for first < len(s) && isDigit(s[first]) {
		first++
	}
	if first < 4 || first > 4 && first < 13 {
		return 0
	}
	number, sizes, ends := groups(s)
	for n := len(sizes); n > 0; n-- {
		count := 0
		for _, size := range sizes[:n] {
			count += size
		}
		if count <= len(number) && isGrouped(sizes[:n]) && isCard(number[:count]) {
			return ends[n-1]
		}
	}
	return 0
}

// isGrouped reports whether digits are grouped as on cards: not at all, 4-4-4-4 with a shorter last group, 4-6-5 or
// 4-6-4.
func isGrouped(sizes []int) bool {
	if len(sizes) == 1 {
		return sizes[0] <= 16 // longer numbers without groups are numbers of other kinds
	}
	if len(sizes) == 3 && sizes[0] == 4 && sizes[1] == 6 {
		return sizes[2] == 5 || sizes[2] == 4
	}
	for i, size := range sizes {
		if size != 4 && (i < len(sizes)-1 || size > 4) {
			return false
		}
	}
	return len(sizes) >= 4
}

// issuers are the first digits of card numbers, and the lengths of the numbers.
var issuers = func() (issuers []issuer) {
	for _, row := range table("cards") {
		i := issuer{}
		i.from, i.to = sizes(row[0])
		i.least, i.most = sizes(row[1])
		issuers = append(issuers, i)
	}
	return issuers
}()

type issuer struct {
	from, to    int // the first four digits
	least, most int // digits of the number
}

// isCard reports whether the digits are a number that an issuer uses, with a valid check digit.
func isCard(number []byte) bool {
	if len(number) < 13 {
		return false
	}
	first := int(number[0])*1000 + int(number[1])*100 + int(number[2])*10 + int(number[3])
	for _, issuer := range issuers {
		if issuer.from <= first && first <= issuer.to && issuer.least <= len(number) && len(number) <= issuer.most {
			return hasCheckDigit(number)
		}
	}
	return false
}

// hasCheckDigit reports whether the last digit is the check digit of the others by the Luhn algorithm.
func hasCheckDigit(number []byte) bool {
	sum := 0
	for i, d := range number {
		n := int(d)
		if (len(number)-i)%2 == 0 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}

// ssnLength returns the length of the US social security number at the beginning of s, or 0.
func ssnLength(s string) int {
	const form = "000-00-0000"
	if len(s) < len(form) || s[3] != '-' || s[6] != '-' || !digits.all(s[:3]+s[4:6]+s[7:11]) {
		return 0
	}
	if s[:3] == "000" || s[:3] == "666" || s[0] == '9' || s[4:6] == "00" || s[7:11] == "0000" {
		return 0
	}
	return len(form)
}

// phoneLength returns the length of the telephone number at the beginning of s, or 0: +49 30 1234567, (555) 123-4567,
// 555-123-4567 or 1-555-123-4567. Digits that only blanks separate are a table and not a number.
func phoneLength(s string) int {
	if s[0] == '+' {
		return internationalLength(s)
	}
	at := 0
	if strings.HasPrefix(s, "1-") || strings.HasPrefix(s, "1 (") {
		at = 2
	}
	if at < len(s) && s[at] == '(' {
		if len(s) < at+5 || !digits.all(s[at+1:at+4]) || s[at+4] != ')' || s[at+1] < '2' {
			return 0
		}
		at += 5
		if at < len(s) && (s[at] == ' ' || s[at] == '-') {
			at++
		}
	} else {
		if len(s) < at+4 || !digits.all(s[at:at+3]) || s[at] < '2' || s[at+3] != '-' && s[at+3] != '.' {
			return 0
		}
		if at > 0 && s[1] != s[at+3] {
			return 0
		}
		if len(s) > at+7 && s[at+7] != s[at+3] {
			return 0
		}
		at += 4
	}
	if len(s) < at+8 || !digits.all(s[at:at+3]) || !digits.all(s[at+4:at+8]) || strings.IndexByte("-. ", s[at+3]) < 0 {
		return 0
	}
	return at + 8
}

// internationalLength returns the length of a telephone number with a country code, or 0. It has 8 to 15 digits.
func internationalLength(s string) int {
	if len(s) < 9 || s[1] < '1' || s[1] > '9' {
		return 0
	}
	count, end := 0, 0
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case isDigit(c):
			count++
			end = i + 1
			continue
		case strings.IndexByte(" -.()/", c) >= 0 && i-end < 2:
			continue
		}
		break
	}
	if count < 8 || count > 15 {
		return 0
	}
	return end
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
	if len(s) < 15 || !isUpper(s[1]) || !isDigit(s[2]) || !isDigit(s[3]) {
		return 0
	}
	size := ibanSizes[s[:2]]
	if size == 0 {
		return 0
	}
	var number [34]byte
	n, end := 0, 0
	for i := 0; i < len(s) && n < size; i++ {
		switch {
		case upper[s[i]]:
			number[n] = s[i]
			n, end = n+1, i+1
		case s[i] == ' ' && end == i:
		default:
			return 0
		}
	}
	if n < size || !endsNumber(s, end) || remainder(number[:n]) != 1 {
		return 0
	}
	return end
}

// remainder returns the account number modulo 97, with letters converted to numbers as ISO 13616 requires.
func remainder(iban []byte) int {
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
	for at := 0; ; {
		n := strings.IndexByte(s[at:], '@')
		if n < 0 {
			return found
		}
		at += n
		from, to := at, at+1
		for from > last && at-from < 254 && (localBytes[s[from-1]] || s[from-1] == mask && (from == at || s[from] == mask)) {
			from--
		}
		from = min(skipEscape(s, from), at)
		for i := from; i < at; i++ { // a word of another script before the address does not belong to it
			if i > from && alnum[s[i]] && isForeign(s, i-1) {
				from = i
			}
		}
		for from < at && strings.IndexByte(".-+%\x1f", s[from]) >= 0 {
			from++
		}
		for to < len(s) && to-at < 254 && domainBytes[s[to]] && !(alnum[s[to-1]] && isForeign(s, to)) {
			to++
		}
		if top := at + 1 + strings.LastIndexByte(s[at+1:to], '.') + 1; top < to && alnum[s[top]] {
			for end := top; end < to; end++ {
				if s[end] >= utf8.RuneSelf { // for example, com is followed by Chinese
					to = end
				}
			}
		}
		for to > at+1 && (s[to-1] == '.' || s[to-1] == '-') {
			to--
		}
		if from < at && isMailDomain(s[at+1:to]) && !isRemotePath(s, from, to) {
			found = append(found, span{from, to, "email"})
			last, at = to, to
			continue
		}
		last = at + 1
		at++
	}
}

var (
	localBytes = func() *alphabet {
		a := *nameBytes
		a['+'], a['%'] = true, true
		return &a
	}()
	domainBytes = func() *alphabet {
		a := *nameBytes
		a['_'] = false
		return &a
	}()
)

// isMailDomain reports whether a domain has at least two labels, of which the last consists of letters and is not the
// extension of a file.
func isMailDomain(domain string) bool {
	dot := strings.LastIndexByte(domain, '.')
	if dot <= 0 || domain[0] == '-' || strings.Contains(domain, "..") {
		return false
	}
	top := domain[dot+1:]
	if len(top) < 2 || len(top) > 24 {
		return false
	}
	for i := range len(top) {
		if !isLetter(top[i]) {
			return false
		}
	}
	return !extensions[strings.ToLower(top)]
}

// extensions are endings of file names that follow an "@", as in icon@2x.png.
var extensions = set("extensions")

// isRemotePath reports whether s[from:to] is the user and host of a remote path, as in git@example.org:team/project, or
// of a URL.
func isRemotePath(s string, from, to int) bool {
	if strings.HasPrefix(s[from:to], "git@") {
		return true
	}
	if from >= 3 && s[from-3:from] == "://" {
		return true
	}
	return to+1 < len(s) && s[to] == ':' && (s[to+1] == '/' || s[to+1] == '~')
}
