package redact

import "strings"

// hasDigit reports whether s contains a digit.
func hasDigit(s string) bool { return !notDigits.all(s) }

var notDigits = digits.not()

// variety returns the number of different bytes at the beginning of s.
func variety(s string) int {
	var seen alphabet
	n := 0
	for i := range min(len(s), 64) {
		if !seen[s[i]] {
			seen[s[i]], n = true, n+1
		}
	}
	return n
}

// isMixed reports whether s could be random: it contains a digit, or changes often between cases, and it has different
// bytes. Class names such as sk-estimator-label and placeholders such as sk-xxxxxxxx are not mixed.
func isMixed(s string) bool {
	s = s[:min(len(s), 64)]
	return (hasDigit(s) || changes(s) >= max(4, len(s)/4)) && variety(s) >= 6
}

// changes counts the changes between letters, digits and cases in s.
func changes(s string) int {
	n := 0
	for i := 1; i < len(s); i++ {
		if class(s[i]) != class(s[i-1]) {
			n++
		}
	}
	return n
}

// isRepetitive reports whether s has a placeholder such as xxxxxxxx or ********, or zeros or ones.
func isRepetitive(s string) bool {
	if strings.Contains(s, "EXAMPLEEXAMPLE") {
		return true
	}
	run := 0
	for i := range len(s) {
		if run++; i > 0 && s[i] != s[i-1] {
			run = 1
		}
		if run >= 12 && strings.IndexByte("01", s[i]) >= 0 || run >= 6 && strings.IndexByte("xX*#", s[i]) >= 0 {
			return true
		}
	}
	return false
}

// published holds texts with the form of a secret that all may know.
var published = set("published")

// isVaried reports whether s has different bytes, in contrast to placeholders such as xxxxxxxx and ********.
func isVaried(s string) bool { return variety(s) >= 5 }

// isRandom reports whether s looks like a random text and not like a word, a name, a number, a date, a UUID or a hash.
// A part without punctuation must change between letters, digits and cases more often than names do.
func isRandom(s string) bool {
	if len(s) < 12 || !hasDigit(s[:min(len(s), 512)]) || isUUID(s) || isHash(s) {
		return false
	}
	s = s[:min(len(s), 512)]
	for from := 0; from < len(s); {
		to := from
		for to < len(s) && !dividers[s[to]] {
			to++
		}
		part := strings.TrimRight(s[from:to], "=")
		from = to + 1
		if len(part) < 10 || !hasDigit(part) || digits.all(part) || variety(part) < 8 {
			continue
		}
		least := len(part) / 5
		if strings.ToLower(part) != part && strings.ToUpper(part) != part {
			least = len(part) * 2 / 5
		}
		if changes(part) >= max(4, least) {
			return true
		}
	}
	return false
}

// dividers are between the parts of isRandom.
var dividers = chars("_./:%~ -")

// isOpaque is like isRandom and accepts long hexadecimal numbers too.
func isOpaque(s string) bool { return isRandom(s) || len(s) >= 32 && anyHex.all(s) && isMixed(s) }

// class returns the kind of a byte: digit, upper case, lower case or other.
func class(c byte) int {
	switch {
	case isDigit(c):
		return 0
	case isUpper(c):
		return 1
	case isLetter(c):
		return 2
	}
	return 3
}

// isUUID reports whether s is a UUID such as 123e4567-e89b-12d3-a456-426614174000.
func isUUID(s string) bool { return len(s) == 36 && beginsUUID(s) }

// beginsUUID reports whether s is the beginning of a UUID.
func beginsUUID(s string) bool {
	const zero = "00000000-0000-0000-0000-000000000000"
	return len(s) <= len(zero) && fits(s+zero[len(s):], "uuid")
}

// isHash reports whether s is a hash, for example of a commit or a module: hexadecimal digits, or base64 after the name
// of an algorithm.
func isHash(s string) bool {
	s = s[:min(len(s), 200)]
	end := strings.IndexAny(s[:min(len(s), 8)], ":-")
	return end > 0 && hashNames[strings.ToLower(s[:end])] && any64.all(s[end+1:]) || anyHex.all(s)
}

var hashNames = set("hashes")
