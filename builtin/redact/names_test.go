package redact

import (
	"slices"
	"strings"
	"testing"
)

func TestNamesSayWhatIsSecret(t *testing.T) {
	for kind, names := range map[secrecy][]string{
		everything: {
			"password", "PASSWORD", "db_password", "dbPassword", "passwords", "password_2", "password2", "pgpassword",
			"userPassword1",
			"client_secret", "CLIENT-SECRET", "clientsecret", "api_key", "apiKey", "APIKey", "api_keys", "private_key",
			"access_code_pin_code",
			"recovery_phrase", "session_id", "X-Shop-Token", "x-api-signature", "x_auth", "x-keys", "db_pass", "admin_pw",
			"userpwd",
			"my_pwd", "access_token", "refresh_tokens", "authToken", "cookie", "cookies", "spring.datasource.password", "jwt",
			"mydb.secret", "passphrase", "app_key", "accountkey", "oldpass_passwd", "user.api_key",
		},
		onlyTexts: {"token", "tokens", "my_token", "pass", "pw", "pwd", "mytoken", "shop.token", "token2"},
		weak: {
			"auth", "key", "keys", "session", "sid", "sig", "signature", "hash", "salt", "nonce", "pin", "password_file",
			"token_type",
			"secretName", "password.length", "token.Kind", "api_key_id", "password_hash", "some_key", "password.x",
			"cookie_jar",
		},
		open: {
			"", "user", "host", "max_tokens", "total_tokens", "passwordless", "nosecret", "oldpwd", "pwdx", "keyboard",
			"monkey", "compass", "tokenizer", "id", "code", "phrase", "user_id", "x", "x-request-id", "_", "2", "x-host",
			"count_tokens",
		},
	} {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				if got := (&Redactor{KeepPersonal: true}).secret(name); got != kind {
					t.Errorf("got secrecy %d of %q, want %d", got, name, kind)
				}
			})
		}
	}
}

func TestNamesOfPersonalData(t *testing.T) {
	judged(t, func(name string) bool { return (&Redactor{KeepSecrets: true}).secret(name) == everything },
		[]string{"ssn", "email", "user_email", "social_security", "creditCard", "card_number", "birth_date", "passport",
			"emailAddress"},
		[]string{"email_format", "emailType", "card", "number", "security", "phone_count", "password", ""})
}

func TestLongNamesCountByTheirEnd(t *testing.T) {
	r := new(Redactor)
	long := strings.Repeat("x_", maxName)
	for name, c := range map[string]struct {
		name string
		want secrecy
	}{
		"the end is a secret":       {strings.Repeat("a", maxName) + "_password", everything},
		"the beginning is a secret": {"password_" + strings.Repeat("a", maxName), open},
		"more words than are read":  {long + "password", open},
		"as many words as are read": {strings.Repeat("x_", maxWords-1) + "password", everything},
		"one word more":             {strings.Repeat("x_", maxWords) + "password", open},
	} {
		t.Run(name, func(t *testing.T) {
			if got := r.secret(c.name); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestNamesAreSplitIntoWords(t *testing.T) {
	for name, c := range map[string]struct {
		words string
		own   int
	}{
		"":                 {"", 0},
		"apiKey":           {"api key", 0},
		"api_key":          {"api key", 0},
		"API-Key":          {"api key", 0},
		"APIKey":           {"api key", 0},
		"userIDs":          {"user i ds", 0},
		"APIKEY":           {"apikey", 0},
		"a1B2":             {"a1b2", 0},
		"__a__b__":         {"a b", 0},
		"token.Kind":       {"token kind", 1},
		"a.b.token.Kind":   {"token kind", 1},
		"spring.db.pass_1": {"db pass 1", 1},
		"my_db.pass":       {"my db pass", 2},
		"a.b.":             {"a b", 1},
		".token":           {"token", 0},
		"aB.c":             {"a b c", 2},
		"größe":            {"größe", 0},
	} {
		t.Run(name, func(t *testing.T) {
			words, own := split(nil, name)
			if !slices.Equal(words, strings.Fields(c.words)) || own != c.own {
				t.Errorf("got %q and %d, want %q and %d", words, own, c.words, c.own)
			}
		})
	}
}

func TestDescriptionsHoldNoSecret(t *testing.T) {
	judged(t, func(name string) bool { return new(Redactor).about(name).describes },
		[]string{"token_type", "password_files", "name", "secretName"},
		[]string{"", "password", "type_token", strings.Repeat("x", maxName) + "_type"})
}
