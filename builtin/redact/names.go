package redact

import (
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
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

// secret returns the secrecy of the values of a name, for example of a key of JSON or of an environment variable.
func (r *Redactor) secret(name string) secrecy {
	if len(name) > maxName {
		name = name[len(name)-maxName:]
	}
	var buffer [maxWords]string
	words, own := split(buffer[:0], name)
	for _, k := range r.Keys {
		if same, _ := split(nil, k); len(words) > 0 && strings.Join(words, "") == strings.Join(same, "") {
			return everything
		}
	}
	found := open
	if !r.KeepSecrets {
		found = secretName(words, own)
	}
	if !r.KeepPersonal && found < everything && personalName(words) {
		found = everything
	}
	return found
}

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
		kind := open
		single := singular(strings.TrimRight(w, "0123456789"))
		previous := ""
		if i > 0 {
			previous = words[i-1]
		}
		switch {
		case isSecretWord(single):
			kind = everything
		case (single == "key" || single == "code" || single == "phrase" || single == "id") && keyKinds[previous+" "+single]:
			kind = everything
		case single == "token":
			kind = tokenKind(words, i)
		case single == "pass" || single == "pw" || single == "pwd":
			if kind = onlyTexts; previous != "" {
				kind = everything
			}
		case single == "auth" || single == "key" || single == "session" || single == "sid" || single == "sig" ||
			single == "signature" || single == "hash" || single == "salt" || single == "nonce" || single == "pin":
			kind = weak
		case strings.HasSuffix(single, "token"):
			kind = onlyTexts
		}
		if kind > found {
			found, at = kind, i
		}
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
	if secretWords[w] || strings.Contains(w, "passw") && w != "passwordless" {
		return true
	}
	for _, end := range secretEnds {
		if strings.HasSuffix(w, end) && w != "nosecret" {
			return true
		}
	}
	return len(w) > 3 && strings.HasSuffix(w, "pwd") && w != "oldpwd"
}

// tokenKind returns the secrecy of a name whose word i is "token".
func tokenKind(words []string, i int) secrecy {
	if i == 0 {
		return onlyTexts
	}
	switch previous := words[i-1]; {
	case tokenCounts[previous]:
		return open
	case tokenKinds[previous]:
		return everything
	}
	return onlyTexts
}

var (
	secretWords = kit.Set("password", "passwd", "passphrase", "passcode", "secret", "credential", "cred", "cookie",
		"authorization", "apikey", "accesskey", "privatekey", "secretkey", "bearer", "jwt", "cvv", "cvc", "otp", "totp",
		"csrf", "xsrf", "sessionid", "psk", "mnemonic", "userpass", "requirepass", "masterauth", "bindpw", "rootpw",
		"passwort", "kennwort", "senha", "contrasena", "contraseña", "wachtwoord", "motdepasse", "hasło", "пароль", "密码",
		"パスワード", "sshpass", "authpass", "dbpass", "rootpass", "adminpass", "smtppass", "mysqlpass", "ftppass")
	secretEnds = []string{"secret", "apikey", "credential", "privatekey", "accesskey", "secretkey", "accountkey",
		"sharedkey", "sessid", "sessionid", "passphrase", "passwort", "accesstoken", "authtoken", "refreshtoken", "apitoken"}
	keyKinds = kit.Set("api key", "access key", "private key", "secret key", "signing key", "encryption key", "ssh key",
		"auth key", "client key", "master key", "account key", "shared key", "service key", "storage key", "deploy key",
		"licence key", "license key", "webhook key", "pin code", "recovery code", "recovery phrase", "seed phrase",
		"security code", "verification code", "decryption key", "app key", "application key", "admin key", "session key",
		"subscription key", "session id", "server key", "user key", "integration key", "write key", "hmac key",
		"auth code", "backup code", "secret phrase", "host key", "root key", "unseal key", "pat key", "login key")
	// tokenCounts are words before "token" in the language of parsers and language models.
	tokenCounts = kit.Set("max", "min", "total", "prompt", "completion", "input", "output", "cached", "cache", "used",
		"count", "num", "n", "stop", "next", "eos", "bos", "pad", "unk", "sep", "mask", "special", "begin", "end", "start",
		"close", "open", "current", "cur", "prev", "previous", "last", "first", "peek", "expected", "unexpected", "budget",
		"page", "continuation", "cursor", "read", "write", "reasoning", "thinking", "audio", "text", "image", "estimated",
		"est", "remaining", "per", "k", "of", "in", "context", "sync", "cancellation", "cancel", "lex", "string", "number",
		"keyword", "ident", "left", "right", "go", "is", "new", "creation", "accepted", "rejected", "prediction")
	tokenKinds = kit.Set("access", "refresh", "auth", "api", "bearer", "bot", "id", "session", "csrf", "xsrf", "oauth",
		"personal", "deploy", "security", "github", "gitlab", "gh", "npm", "slack", "telegram", "discord", "hf", "vault",
		"registration", "invite", "reset", "client", "user", "app", "service", "account", "join", "bootstrap", "upload",
		"publish", "pypi", "jwt", "login", "device", "push", "webhook", "verification", "admin", "root", "ci", "job",
		"registry", "identity", "hub", "sas", "repo", "release")
	headerEnds = kit.Set("token", "key", "auth", "signature")
	// describes are words at the end of a name that is about a secret but does not hold one.
	describes = kit.Set("file", "path", "dir", "directory", "url", "uri", "endpoint", "name", "id", "type", "length",
		"len", "size", "count", "limit", "min", "max", "policy", "field", "label", "header", "format", "prefix", "suffix",
		"ttl", "expiry", "expire", "expiration", "expiresat", "at", "age", "timeout", "lifetime", "version", "algorithm",
		"alg", "method", "mode", "provider", "store", "manager", "reset", "required", "enabled", "disabled", "valid",
		"invalid", "exist", "hint", "prompt", "help", "description", "title", "placeholder", "regex", "regexp", "pattern",
		"rule", "error", "err", "status", "statu", "state", "index", "position", "pos", "po", "start", "end", "kind",
		"class", "scope", "source", "ref", "arn", "location", "region", "domain", "host", "port", "user", "username",
		"usage", "budget", "window", "rate", "bucket", "parser", "stream", "strategy", "handler", "func", "fn", "callback",
		"input", "form", "page", "view", "button", "link", "config", "option", "setting", "engine", "backend", "generator",
		"factory", "service", "loader", "reader", "writer", "helper", "util", "test", "spec", "schema", "model", "env",
		"var", "variable", "number", "num", "order", "stdin", "in", "interval", "period", "seconds", "second", "minute",
		"hour", "day", "chars", "char", "byte", "rotation", "changed", "updated", "created", "validator", "checker",
		"check", "list", "strength", "complexity", "issuer", "audience", "subject", "consent", "banner", "jar", "monster",
		"matche", "missing", "found", "variant", "transaction", "hash", "salt", "cost", "price", "estimate", "ratio",
		"share", "default")
	personalWords = kit.Set("ssn", "socialsecurity", "creditcard", "cardnumber", "iban", "passport", "email", "phone",
		"telephone", "birthdate", "dateofbirth")
)

// isDescription reports whether the last word of a name is about a secret, as in token_type.
func isDescription(name string) bool {
	if len(name) > maxName {
		return false
	}
	var buffer [maxWords]string
	words, _ := split(buffer[:0], name)
	return len(words) > 0 && describes[singular(words[len(words)-1])]
}

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
