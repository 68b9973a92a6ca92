package redact

import "strings"

// A form describes the tokens of a provider that are recognisable without their context: a fixed prefix and a body of a
// known alphabet and length.
type form struct {
	kind   string // in the mark, for example "github-token"
	prefix string
	body   *alphabet
	least  int                    // bytes of the body
	most   int                    // bytes of the body; 0: any number
	test   func(body string) bool // of the first 256 bytes
	by     string                 // the name of the test
}

// tests are the tests that the table of forms names. The others are names of the table syntax.
var tests = map[string]func(body string) bool{
	"": func(string) bool { return true }, "varied": isVaried, "mixed": isMixed, "random": isRandom, "opaque": isOpaque,
	"cased": isCased, "uuid": isUUID,
}

// forms are the tokens with a fixed prefix.
var forms = func() (forms []form) {
	for _, row := range table("forms") {
		f := form{kind: row[0], prefix: row[1], body: bytesOf(row[2])}
		f.least, f.most = sizes(row[3])
		f.by = strings.Join(row[4:], " ")
		if f.test = tests[f.by]; f.test == nil {
			f.test = func(body string) bool { return fits(body, f.by) }
		}
		forms = append(forms, f)
	}
	return forms
}()

// formsBy holds the forms by the first byte of their prefixes, and seconds the second bytes.
var formsBy, seconds = func() (by [256][]*form, seconds [256]alphabet) {
	for i := range forms {
		prefix := forms[i].prefix
		by[prefix[0]] = append(by[prefix[0]], &forms[i])
		seconds[prefix[0]][prefix[1]] = true
	}
	return by, seconds
}()

// isAddress reports whether the prefix is the beginning of a web address, which stays.
func (f *form) isAddress() bool {
	return strings.Contains(f.prefix, ".") && strings.Contains(f.prefix, "/")
}

// begins reports whether body, at the end of a text that may be cut, is the beginning of a token.
func (f *form) begins(body string) bool {
	if f.most > 0 && len(body) > f.most {
		return false
	}
	if first, _, _ := strings.Cut(body, "-"); f.by == "numbered" {
		return len(first) >= 8 && digits.all(first)
	}
	uuid := len(body) > 9 && len(body) < 36 && beginsUUID(body)
	if uuid || len(body) >= 12 && (isRandom(body) || anyHex.all(body) && isMixed(body)) {
		return true
	}
	return len(f.prefix) >= 4 && (f.least <= 20 && len(body) >= 6 || len(body) >= 16) && hasDigit(body) && isMixed(body)
}

// isCased reports whether s has letters of both cases, as random letters have and names of variables in C do not.
func isCased(s string) bool { return strings.ToLower(s) != s && strings.ToUpper(s) != s && isVaried(s) }

// A marked form describes tokens with a fixed part in the middle or at the end.
type marked struct {
	kind              string
	before            *alphabet
	least, most       int // bytes before the mark
	mark              string
	after             *alphabet
	leastEnd, mostEnd int // bytes after the mark
}

var markedForms = func() (forms []marked) {
	for _, row := range table("marked") {
		m := marked{kind: row[0], before: bytesOf(row[1]), mark: row[3], after: bytesOf(row[4])}
		m.least, m.most = sizes(row[2])
		m.leastEnd, m.mostEnd = sizes(row[5])
		forms = append(forms, m)
	}
	return forms
}()

// A provider describes secrets that are recognisable only after the provider's name.
type provider struct {
	body        *alphabet
	least, most int // the lengths of a secret
	uuid        bool
}

// providersBy holds the secrets of providers by their names.
var providersBy = func() map[string]providerList {
	by := make(map[string]providerList)
	for _, row := range table("providers") {
		for column := range strings.SplitSeq(row[2], ",") {
			p := provider{body: bytesOf(row[1]), uuid: column == "uuid"}
			if !p.uuid {
				p.least, p.most = sizes(column)
			}
			by[row[0]] = append(by[row[0]], p)
		}
	}
	return by
}()

// A providerList holds the kinds of secrets of one provider.
type providerList []provider

// providersOf returns the kinds of secrets of the provider that a name mentions, or nil.
func providersOf(name string) providerList {
	if len(name) > maxName {
		return nil
	}
	var buffer [maxWords]string
	words, _ := split(buffer[:0], name)
	for i, w := range words {
		found := providersBy[w]
		if found == nil && i > 0 && len(w)+len(words[i-1]) < 16 {
			found = providersBy[words[i-1]+w] // new_relic
		}
		if found == nil {
			continue
		}
		if i == len(words)-1 {
			return found
		}
		before, last := words[len(words)-2], words[len(words)-1]
		if describes[singular(last)] && !(last == "id" && (before == "client" || before == "access")) {
			return nil
		}
		return found
	}
	return nil
}

// makers is providersOf for a redactor that redacts secrets.
func (r *Redactor) makers(name string) providerList {
	if r.KeepSecrets {
		return nil
	}
	return providersOf(name)
}

// make reports whether a value has the form of one of the secrets.
func (l providerList) make(value string) bool {
	for _, p := range l {
		if p.uuid && isUUID(value) {
			return true
		}
		if p.least <= len(value) && len(value) <= p.most && p.body.all(value) && hasDigit(value) && variety(value) >= 6 {
			return true
		}
	}
	return false
}
