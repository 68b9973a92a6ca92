package redact

import (
	"regexp"
	"strings"
)

var (
	emailForm = regexp.MustCompile(`[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+`)
	phoneForm = regexp.MustCompile(`(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}|\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}`)
	ssnForm   = regexp.MustCompile(`\d{3}-\d{2}-\d{4}`)
	cardForm  = regexp.MustCompile(`\d(?:[ -]?\d){12,18}`)
	ibanForm  = regexp.MustCompile(`[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}`)
)

// Personal takes out what is personal by its own form.
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

// digits counts the digits of a text, not beyond enough.
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

// replaceWhole takes out what matches, stands alone and is valid. of says which bytes a match can hold; only
// stretches of them with enough digits are looked at. valid returns how much of a match is, 0 for nothing of it. A
// match that is not valid may hold a valid one that begins later.
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
			begins := from - done // what was taken out before it is no part of it
			if n := valid(s[from:to]); n > 0 && standsAlone(s[done:], begins, begins+n) {
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

// standsAlone reports whether what is found is not a part of a longer number or word.
func standsAlone(s string, from, to int) bool {
	if from > 0 {
		if c := s[from-1]; isDigit(c) || nameStart(c) || c == '.' && from > 1 && isDigit(s[from-2]) || c == '-' && from > 1 && isDigit(s[from-2]) {
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

// validCard reports how much of the digits could be those of a payment card: a length and a first digit that
// issuers use, and the right check digit. Other numbers may follow it: a date, a code.
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
		if n := len(number); ends && (n >= 14 || n == 13 && found[0] == '4') && checks(number) {
			best = i + 1
		}
	}
	return best
}

// checks reports whether the last digit is the check digit of the others.
func checks(number []byte) bool {
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

// validSSN reports whether the number is in a range that is given out.
func validSSN(ssn string) int {
	if ssn[:3] == "000" || ssn[:3] == "666" || ssn[0] == '9' || ssn[4:6] == "00" || ssn[7:] == "0000" {
		return 0
	}
	return len(ssn)
}

// validPhone reports whether there are as many digits as a telephone number has.
func validPhone(phone string) int {
	if n := digits(phone, 16); n < 8 || n > 15 {
		return 0
	}
	return len(phone)
}

// validIBAN reports how much of what looks like a bank account number is one by its check digits: words in
// capitals may follow it.
func validIBAN(iban string) int {
	for end := len(iban); end >= 15; end-- {
		if iban[end-1] != ' ' && remainder(strings.ReplaceAll(iban[:end], " ", "")) == 1 && (end == len(iban) || iban[end] == ' ') {
			return end
		}
	}
	return 0
}

// remainder is the number that an account number stands for, modulo 97.
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
