package redact

import (
	"regexp"
	"strings"
)

var (
	emailForm = regexp.MustCompile(`[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+`)
	phoneForm = regexp.MustCompile(
		`(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}|\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}`)
	ssnForm  = regexp.MustCompile(`\d{3}-\d{2}-\d{4}`)
	cardForm = regexp.MustCompile(`\d(?:[ -]?\d){12,18}`)
	ibanForm = regexp.MustCompile(`[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}`)
)

// Personal redacts personal data that is recognisable by its form alone, for example e-mail addresses and card numbers.
func Personal(s string) string {
	if strings.Contains(s, "@") {
		s = emailForm.ReplaceAllLiteralString(s, Redacted)
	}
	if digits(s, 9) < 9 {
		return s
	}
	s = replaceWhole(s, ibanForm, inIBAN, validIBAN)
	s = replaceWhole(s, cardForm, inNumber, validCard)
	s = replaceWhole(s, ssnForm, inNumber, validSSN)
	return replaceWhole(s, phoneForm, inNumber, validPhone)
}

// digits counts the digits of a text, up to enough.
func digits(s string, enough int) int {
	n := 0
	for i := 0; i < len(s) && n < enough; i++ {
		if isDigit(s[i]) {
			n++
		}
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// replaceWhole redacts the valid matches of form that are not parts of a longer number or word. To save time, form is
// tried only on stretches of bytes that of accepts and that have enough digits. valid returns the valid length of a
// match, or 0. After an invalid match, the search continues within the match, because a valid one can begin there.
func replaceWhole(s string, form *regexp.Regexp, of func(byte) bool, valid func(string) int) string {
	var b strings.Builder
	done := 0
	for start, end := 0, 0; end < len(s); start = end + 1 {
		count := 0
		for end = start; end < len(s) && of(s[end]); end++ {
			if isDigit(s[end]) {
				count++
			}
		}
		for at := start; count >= 8 && at < end; {
			span := form.FindStringIndex(s[at:end])
			if span == nil {
				break
			}
			from, to := at+span[0], at+span[1]
			begins := from - done // relative to the text after the last redaction
			if n := valid(s[from:to]); n > 0 && isWhole(s[done:], begins, begins+n) {
				to = from + n
				b.WriteString(s[done:from])
				b.WriteString(Redacted)
				done, at = to, to
				continue
			}
			at = from + 1
			for at < to && isDigit(s[at]) && isDigit(s[at-1]) { // not into the middle of a number
				at++
			}
		}
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

func inNumber(c byte) bool { return isDigit(c) || strings.IndexByte(" ()+-.", c) >= 0 }

func inIBAN(c byte) bool { return isDigit(c) || c == ' ' || 'A' <= c && c <= 'Z' }

// isWhole reports whether s[from:to] is not a part of a longer number or word.
func isWhole(s string, from, to int) bool {
	if from > 0 {
		if c := s[from-1]; isDigit(c) || nameStart(c) || (c == '.' || c == '-') && from > 1 && isDigit(s[from-2]) {
			return false
		}
	}
	if to < len(s) {
		c := s[to]
		if isDigit(c) || nameStart(c) || (c == '.' || c == '-') && to+1 < len(s) && isDigit(s[to+1]) {
			return false
		}
	}
	return true
}

// validCard returns the length of the payment card number at the beginning of found, or 0. A card number has a length
// and a first digit that issuers use, and a valid check digit. Other digits may follow, for example an expiry date.
func validCard(found string) int {
	if found[0] < '2' || found[0] > '6' {
		return 0
	}
	var number []byte
	best := 0
	for i := range len(found) {
		if !isDigit(found[i]) {
			continue
		}
		number = append(number, found[i]-'0')
		ends := i+1 == len(found) || !isDigit(found[i+1])
		if n := len(number); ends && (n >= 14 || n == 13 && found[0] == '4') && validLuhn(number) {
			best = i + 1
		}
	}
	return best
}

// validLuhn reports whether the last digit is the check digit of the others by the Luhn algorithm.
func validLuhn(number []byte) bool {
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

// validSSN returns the length of the number if it is in a range that the authority assigns, or else 0.
func validSSN(ssn string) int {
	if ssn[:3] == "000" || ssn[:3] == "666" || ssn[0] == '9' || ssn[4:6] == "00" || ssn[7:] == "0000" {
		return 0
	}
	return len(ssn)
}

// validPhone returns the length of the number if it has 8 to 15 digits, or else 0.
func validPhone(phone string) int {
	if n := digits(phone, 16); n < 8 || n > 15 {
		return 0
	}
	return len(phone)
}

// validIBAN returns the length of the bank account number at the beginning of iban, or 0 if the check digits are wrong.
// Words in capitals may follow the number.
func validIBAN(iban string) int {
	for end := len(iban); end >= 15; end-- {
		if iban[end-1] == ' ' || end < len(iban) && iban[end] != ' ' {
			continue
		}
		if remainder(strings.ReplaceAll(iban[:end], " ", "")) == 1 {
			return end
		}
	}
	return 0
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
