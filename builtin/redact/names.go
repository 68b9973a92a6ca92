package redact

import (
	"regexp"
	"slices"
	"strings"
)

// A secrecy says which values of a name are secret.
type secrecy int

const (
	open       secrecy = iota // none
	weak                      // random texts, for example of key or session
	onlyTexts                 // texts but no numbers, for example of token: max_tokens is a number
	everything                // all values
)

// maxName bounds the bytes of a name that are read.
const maxName = 200

// A nameInfo says how the values of a name are judged.
type nameInfo struct {
	kind      secrecy
	lower     string // the name in lower case without punctuation
	describes bool   // the values are about a secret, as in token_type
	makers    providerList
	word      string         // the last word in lower case
	after     *regexp.Regexp // the form of a password after that word; nil: none
}

// punctuation divides the words of a name.
var punctuation = strings.NewReplacer("_", "", "-", "")

func lowerName(name string) string { return strings.ToLower(punctuation.Replace(name)) }

// about returns how the values of a name are judged. The name can be a key of JSON or an environment variable, for
// example.
func (r *Redactor) about(name string) nameInfo {
	isLong := len(name) > maxName
	name = name[max(0, len(name)-maxName):]
	word := strings.ToLower(name[alnum.back(name, len(name), len(name)):])
	about := nameInfo{lower: lowerName(name), word: word, after: syntax["after-"+word]}
	var buffer [maxWords]string
	words, own := split(buffer[:0], name)
	if len(words) == 0 {
		return about
	}
	if !r.KeepSecrets {
		about.kind, about.makers = secretName(words, own), providersOf(words)
	}
	about.describes = !isLong && describes[singular(words[len(words)-1])]
	isKey := func(key string) bool {
		same, _ := split(nil, key)
		return strings.Join(words, "") == strings.Join(same, "")
	}
	if !r.KeepPersonal && personalName(words) || slices.ContainsFunc(r.Keys, isKey) {
		about.kind = everything
	}
	return about
}

// secret returns the secrecy of the values of a name.
func (r *Redactor) secret(name string) secrecy { return r.about(name).kind }

// secretName returns the secrecy of a name that consists of these words. The words from own on are after the last
// dot: a field such as token.Kind holds no token.
func secretName(words []string, own int) secrecy {
	for len(words) > 1 && digits.all(words[len(words)-1]) { // password_2
		words = words[:len(words)-1]
	}
	last := len(words) - 1
	if last > 0 && words[0] == "x" && headerEnds[singular(words[last])] && words[last] != "tokens" {
		return everything // for example X-Shop-Token; X-Remaining-Tokens is a number
	}
	found := open
	at := -1 // the word that makes the name secret
	for i, w := range words {
		single := singular(strings.TrimRight(w, "0123456789"))
		previous := ""
		if i > 0 {
			previous = words[i-1]
		}
		kind := open
		switch {
		case isSecretWord(single), keyKinds[previous+"-"+single], previous != "" && lastWords[single],
			single == "token" && tokenKinds[previous]:
			kind = everything
		case single == "token" && tokenCounts[previous]:
		case textWords[single], strings.HasSuffix(single, "token") && single != "jsonwebtoken":
			kind = onlyTexts
		case weakWords[single], single == "key" && i == last && !openKeys[previous]:
			kind = weak
		}
		if kind > found {
			found, at = kind, i
		}
	}
	if last > 0 && publicPairs[words[last-1]+"-"+words[last]] {
		return open
	}
	if found > weak && at < own {
		return weak
	}
	if found > weak && at < len(words)-1 && describes[singular(words[len(words)-1])] {
		return weak // for example password_file, token_type and secretName
	}
	return found
}

// singular returns a word without the s of its plural.
func singular(w string) string {
	if strings.HasSuffix(w, "ss") {
		return w
	}
	return strings.TrimSuffix(w, "s")
}

// isSecretWord reports whether a word in the singular names a secret, alone or at the end, as in pgpassword.
func isSecretWord(w string) bool {
	return secretWords[w] || !openWords[w] && (strings.Contains(w, "passw") || hasAny(w, "secret-ends", strings.HasSuffix))
}

var (
	secretWords   = set("secret")
	keyKinds      = set("keys")
	lastWords     = set("last-words")
	openWords     = set("open")
	textWords     = set("texts")
	weakWords     = set("weak")
	tokenCounts   = set("token-counts")
	tokenKinds    = set("token-kinds")
	headerEnds    = set("header-ends")
	openKeys      = set("open-keys")
	publicPairs   = set("public-pairs")
	describes     = set("describes")
	personalWords = set("personal")
)

// personalName reports whether a name names personal data.
func personalName(words []string) bool {
	for i, w := range words {
		if personalWords[w] || i > 0 && personalWords[words[i-1]+w] {
			return i == len(words)-1 || !describes[singular(words[len(words)-1])]
		}
	}
	return false
}

// maxWords bounds the words of a name that are read.
const maxWords = 24

// split appends the words of a name in lower case. For example, apiKey, api_key and API-Key yield api and key. Of a
// name with dots, only the last two parts count, as in spring.datasource.password; own is the number of words before
// the last part.
func split(words []string, name string) (all []string, own int) {
	last := strings.LastIndexByte(strings.TrimRight(name, "."), '.')
	if last >= 0 {
		if before := strings.LastIndexByte(name[:last], '.'); before >= 0 {
			name, last = name[before+1:], last-before-1
		}
	}
	from := -1
	for i := 0; i <= len(name); i++ {
		ends := i == len(name) || !isAlnum(name[i])
		if !ends && from >= 0 && isUpper(name[i]) {
			acronym := i+1 < len(name) && class(name[i+1]) == 2 && isUpper(name[i-1]) // the K of APIKey
			ends = class(name[i-1]) == 2 || acronym
		}
		ends = ends || from >= 0 && isForeign(name, i) != isForeign(name, i-1)
		if ends && from >= 0 {
			if len(words) < maxWords {
				words = append(words, strings.ToLower(name[from:i]))
			}
			from = -1
		}
		if i == last {
			own = len(words)
		}
		if from < 0 && i < len(name) && isAlnum(name[i]) {
			from = i
		}
	}
	return words, own
}
