package redact

import (
	"slices"
	"strings"
)

// A form describes the tokens of a provider that are recognisable without their context: a fixed prefix and a body of a
// known alphabet and length.
type form struct {
	kind   string // in the mark, for example "github-token"
	prefix string
	body   run
	test   func(body string) bool // of the first 256 bytes
	by     string                 // the name of the test
}

// tests are the tests that the table of forms names. The others are names of the table syntax.
var tests = map[string]func(body string) bool{
	"": func(string) bool { return true }, "varied": isVaried, "mixed": isMixed, "random": isRandom, "opaque": isOpaque,
	"cased": isCased, "uuid": isUUID,
}

// forms are the tokens with a fixed prefix.
var forms = entries("forms", func(fields []string) form {
	f := form{kind: fields[0], prefix: fields[1], body: runOf(fields[2], fields[3]), by: strings.Join(fields[4:], " ")}
	if f.test = tests[f.by]; f.test == nil {
		f.test = func(body string) bool { return fits(body, f.by) }
	}
	return f
})

// formsBy holds the forms by the first byte of their prefixes.
var formsBy = byFirst(forms, func(f form) string { return f.prefix })

// isAddress reports whether the prefix is the beginning of a web address, which stays.
func (f *form) isAddress() bool {
	return strings.Contains(f.prefix, ".") && strings.Contains(f.prefix, "/")
}

// begins reports whether body, at the end of a text that may be cut, is the beginning of a token.
func (f *form) begins(body string) bool {
	if len(body) > f.body.most {
		return false
	}
	if first, _, _ := strings.Cut(body, "-"); f.by == "numbered" {
		return len(first) >= 8 && digits.all(first)
	}
	uuid := len(body) > 9 && len(body) < 36 && beginsUUID(body)
	if uuid || len(body) >= 12 && (isRandom(body) || anyHex.all(body) && isMixed(body)) {
		return true
	}
	isEnough := len(body) >= 16 || len(body) >= 6 && f.body.least <= 20
	return len(f.prefix) >= 4 && isEnough && hasDigit(body) && isMixed(body)
}

// isCased reports whether s has letters of both cases, as random letters have and names of variables in C do not.
func isCased(s string) bool { return strings.ToLower(s) != s && strings.ToUpper(s) != s && isVaried(s) }

// A marked form describes tokens with a fixed part in the middle or at the end.
type marked struct {
	kind   string
	before run
	mark   string
	after  run
}

var markedForms = entries("marked", func(fields []string) marked {
	return marked{fields[0], runOf(fields[1], fields[2]), fields[3], runOf(fields[4], fields[5])}
})

// A providerList holds the forms of the secrets of a provider. They are recognisable only after the provider's name.
type providerList []run

// providersBy holds the secrets of providers by their names.
var providersBy = func() map[string]providerList {
	by := make(map[string]providerList)
	for _, row := range table("providers") {
		by[row[0]] = append(by[row[0]], runOf(row[1], row[2]))
	}
	return by
}()

// providersOf returns the secrets of the provider that the words of a name mention, or nil.
func providersOf(words []string) providerList {
	for i, w := range words {
		found := providersBy[w]
		if found == nil && i > 0 && len(w)+len(words[i-1]) < 16 {
			found = providersBy[words[i-1]+w] // new_relic
		}
		if found == nil {
			continue
		}
		before, last := words[max(0, len(words)-2)], words[len(words)-1]
		isID := last == "id" && (before == "client" || before == "access")
		if i < len(words)-1 && describes[singular(last)] && !isID {
			return nil
		}
		return found
	}
	return nil
}

// make reports whether a value has the form of one of the secrets.
func (l providerList) make(value string) bool {
	return slices.ContainsFunc(l, func(secret run) bool {
		return secret.has(len(value)) && secret.of.all(value) && hasDigit(value) && variety(value) >= 6
	})
}
