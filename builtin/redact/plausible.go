package redact

import (
	"slices"
	"strings"
)

// hides reports whether a value of the assignment is secret.
func (n *named) hides(a *assignment, value string) bool {
	if a.kind > weak {
		return n.hidden(value, a.kind) && !namesItself(value, a.name) || a.makers.make(value)
	}
	value = strings.TrimSpace(value)
	repeats := func() bool {
		return len(a.name) >= 4 && strings.Contains(strings.ToLower(value), strings.ToLower(a.name))
	}
	return (isRandom(value) && !repeats() || a.makers.make(value)) && !isPlaceholder(value)
}

// A verdict is about a value of a name of a kind.
type verdict struct {
	value string
	kind  secrecy
}

// hidden is hidden of another name. The values of a text repeat, so that it remembers the verdicts about them.
func (n *named) hidden(value string, kind secrecy) bool {
	return remember(n.verdicts, verdict{value, kind}, func() bool { return hidden(value, kind) })
}

// hidden reports whether a value of a name of this kind is secret.
func hidden(value string, kind secrecy) bool {
	value = strings.TrimSpace(value)
	value = value[schemeLength(value):] // Bearer $TOKEN
	if isConstant(value) || isPlaceholder(value) || isReference(value) || isProse(value) {
		return false
	}
	switch kind {
	case everything:
		return !isSmall(strings.TrimRight(value, ",;"))
	case onlyTexts:
		return !isNumber(value) && !isSmall(strings.TrimRight(value, ",;")) && !isColor(value) &&
			!typeWords[strings.ToLower(value)]
	}
	return isRandom(value)
}

// isNumber reports whether a value is a number.
func isNumber(value string) bool { return strings.Trim(value, "0123456789.,+-eE_%KkMm") == "" }

// isSmall reports whether a value is a number that is too short for a secret, as in SO_COOKIE = 0x39.
func isSmall(value string) bool {
	return value == "" || isDigit(value[0]) && len(value) <= 10 && fits(value, "small")
}

// isColor reports whether a value is a color such as #ff8800.
func isColor(value string) bool {
	return value[0] == '#' && len(value) <= 9 && anyHex.all(value[1:])
}

// isConstant reports whether a value is a constant such as null or true, or is redacted already.
func isConstant(value string) bool {
	if len(value) > 12 {
		rest := strings.Trim(strings.ReplaceAll(value, Redacted, ""), ", ")
		return rest == "" || strings.HasSuffix(value, "[Redacted]")
	}
	return constants[strings.ToLower(strings.TrimRight(value, ".,;:)"))] || value == Redacted
}

var constants = set("constants")

// typeWords are types and keywords of programming languages that follow a name and a colon or an equals sign.
var typeWords = set("types")

// isPlaceholder reports whether a value is the name of a value instead of the value: $PASSWORD, ${password},
// <password>, {{ .Values.password }}, %s, your-api-key, **** and the like.
func isPlaceholder(v string) bool {
	if v == "" || v == Redacted || published[v] || len(v) <= 100 && isRepetitive(v) && !isReal(v) {
		return true
	}
	if strings.IndexByte("$%@#<{!:?", v[0]) >= 0 {
		isMarkup := v[0] == '<' && len(v) > 2 && isLetter(v[1]) && strings.Contains(v, " ")
		is := isMarkup || fits(v[:min(len(v), 200)], "placeholder")
		if is || v[0] != '$' && v[0] != '%' {
			return is
		}
	}
	if strings.Contains(v, "%") && strings.Trim(v, "%dsvqrxT,:.;-_/[](){} '\"#") == "" {
		return true // a format
	}
	if strings.Contains(v, "{{") && strings.Contains(v, "}}") {
		return true
	}
	if !hasDigit(v) && hasAny(strings.ToLower(v[:min(len(v), 100)]), "placeholders", strings.HasPrefix) {
		return true
	}
	return strings.Trim(v, v[:1]) == "" && len(v) > 1 && !isAlnum(v[0]) || len(v) >= 3 && strings.Trim(v, "xX*.-") == ""
}

// isReal reports whether a text with a repetition has other characters too that are enough for a secret.
func isReal(v string) bool {
	for part := range strings.FieldsFuncSeq(v, func(c rune) bool { return strings.ContainsRune("xX*#01", c) }) {
		if len(part) >= 10 && !strings.HasSuffix(part, "_") && !strings.HasSuffix(part, "-") {
			return true
		}
	}
	return false
}

// isReference reports whether a value says where a secret is instead of the secret.
func isReference(v string) bool {
	if hasAny(v, "references", strings.HasPrefix) {
		return true
	}
	if n := strings.Index(v, "://"); n > 0 && n < 16 && lower.all(v[:n]) {
		return true // credentials in URLs have rules of their own
	}
	begins := strings.TrimLeft(v, ".~")
	return len(v)-len(begins) <= 2 && strings.HasPrefix(begins, "/") && len(v) < 200 && !isRandom(v) && fits(v, "path")
}

// proseWords begin a sentence about a secret: "password: must have 8 characters".
var proseWords = set("prose")

// isProse reports whether a value is a sentence about a secret and not a secret.
func isProse(v string) bool {
	first, rest, more := strings.Cut(v, " ")
	if proseWords[strings.ToLower(strings.Trim(first, ".,;:!?()\"'"))] && (more || len(v) <= 9) {
		return true
	}
	if rest == "" || hasDigit(v) || len(v) > 400 {
		return false
	}
	return hasAny(strings.ToLower(v), "about", strings.Contains)
}

// namesItself reports whether a value repeats the name, as in password: userPassword and signing_key_data = key.
func namesItself(value, name string) bool {
	if len(value) > 60 || hasDigit(value) && (!isUpper(value[0]) && !strings.Contains(value, ".") || isRandom(value)) {
		return false
	}
	var buffer, other [maxWords]string
	words, _ := split(buffer[:0], value)
	own, _ := split(other[:0], name)
	if len(words) == 0 || len(own) == 0 {
		return false
	}
	last, ownLast := singular(words[len(words)-1]), singular(own[len(own)-1])
	return slices.ContainsFunc(own, func(w string) bool { return len(w) > 2 && singular(w) == last }) ||
		slices.ContainsFunc(words, func(w string) bool { return singular(w) == ownLast })
}
