package redact

import (
	"strings"
	"testing"
)

// judged runs a test of a texts that a function accepts, and of the other texts that it does not accept.
func judged(t *testing.T, accepts func(string) bool, yes, no []string) {
	t.Helper()
	for want, texts := range map[bool][]string{true: yes, false: no} {
		for _, s := range texts {
			t.Run(s, func(t *testing.T) {
				if got := accepts(s); got != want {
					t.Errorf("got %t for %q", got, s)
				}
			})
		}
	}
}

func TestPlaceholdersAreNotSecrets(t *testing.T) {
	judged(t, isPlaceholder,
		[]string{
			"", Redacted, "${password}", "$(cat file)", "$PASSWORD", "$password", "$env:PASSWORD", "<password>",
			"<" + strings.Repeat("p", 77) + ">", "{password}", "{" + strings.Repeat("p", 77) + "}", "%s", "%d", "%", "%2s",
			"%PASSWORD%", "@password@", "#{password}", "!secret", ":password", "?password", "%s:%s", "a{{x}}b", "%(password)s",
			"your-password", "your_password", "your password", "my-secret", "example-key", "placeholder", "insert-here",
			"enter-it",
			"****", "--", "xxx", "XXXX", "x*.-x", "...",
		},
		[]string{
			Redacted + "x", "$2a$10$abc", "$Pass1", "$pass1", "$PassWord", "$", "${x", "$(x", "<password",
			"<" + strings.Repeat("p", 78) + ">",
			"{password", "{" + strings.Repeat("p", 78) + "}", "%abcd", "%pass word%", "@password", "@@", "@pass word@",
			"#password",
			"#", "!secret1", "!se cret", ":pass1", "?pass1", "?pa ss", "%shunter", "%(pass", "%(a b)s", "%apass)s", "a{{b",
			"a}}b", "your-password1", "my-secret1", "aa",
			"x", "-", "zzz", "1111", "hunter2", "-a", "xy*",
		})
}

func TestConstantsAreNotSecrets(t *testing.T) {
	judged(t, isConstant,
		[]string{"true", "None", "null,", "nil)", "disabled.", "[]", "n/a", Redacted, Redacted + ", " + Redacted,
			Redacted + Redacted, "same-origin"},
		[]string{"hunter2", "trueish", Redacted + " hunter2", "null null null", "hunter2hunter"})
}

func TestSmallNumbersAndColorsAreNotSecrets(t *testing.T) {
	t.Run("numbers", func(t *testing.T) {
		judged(t, isSmall, []string{"", "1", "999", "0x39", "0xDEADBEEF"}, []string{"1000", "12a", "0xDEADBEEF1", "0xg"})
	})
	t.Run("colors", func(t *testing.T) {
		judged(t, isColor, []string{"#ff8800", "#FFF", "#ff8800cc"}, []string{"ff8800", "#ff8800cc1", "#hunter"})
	})
	t.Run("any number", func(t *testing.T) {
		judged(t, isNumber, []string{"12", "1.5", "4_000", "10%", "8k", "-1e9"}, []string{"12x", "x", "1a2"})
	})
}

func TestReferencesAreNotSecrets(t *testing.T) {
	judged(t, isReference,
		[]string{
			"arn:aws:secretsmanager:x", "op://vault/item", "vault:secret", "vault://a/b", "awssm://x", "ssm:/a", "gcpsm://x",
			"azurekeyvault://x", "ref+vault://x", "secret://x", "file://x", "env:X", "env://X", "ENC[AES]",
			"projects/a/secrets/b",
			"sops:x", "keyring:x", "sealed:x", "https://example.org", "s3://bucket", "/run/secrets/db", "./key.pem",
			"../key.pem",
			"~/.ssh/id", "/", "abcdefghijklmno://x",
		},
		[]string{
			"hunter2", "://x", "abcdefghijklmnop://x", "A b://x", ".../key", "x/y", "/hunter2+=", "/" + strings.Repeat("p",
				41),
			"/" + strings.Repeat("abcdefghi/", 20), "/a8Kd03LmQ9xZ71bc", "", ".",
		})
}

func TestPathsHaveOrdinaryParts(t *testing.T) {
	judged(t, func(s string) bool { return fits(s, "path") }, []string{"/etc/key", "/" + strings.Repeat("p", 40)},
		[]string{"/a+b", "/a=b", "/a!b", "/a@b", "/a#b", "/a$b", "/a%b", "/a^b", "/a&b", "/a*b", "/" + strings.Repeat("p",
			41)})
}

func TestSentencesAboutSecretsAreNotSecrets(t *testing.T) {
	judged(t, isProse,
		[]string{
			"must have 8 characters", "is", "(missing)", "incorrect", "the one of the admin", "Invalid, try again",
			"hunter of the password",
			"a secret word", "x token", "find api key", "new passphrase", "old credential", "big cookie", "not authorized",
		},
		[]string{"hunter2", "correct horse battery", "invalidated", "password", "horse1 password", "",
			"x " + strings.Repeat("p", 393) + " token"})
}

func TestRepeatedNamesAreNotSecrets(t *testing.T) {
	for name, c := range map[string]struct {
		value, name string
		want        bool
	}{
		"the end of the value is in the name":  {"userPassword", "db_password_hash", true},
		"the end of the name is in the value":  {"password_of_user", "my_password", true},
		"a plural":                             {"userPasswords", "password", true},
		"a plural name":                        {"token_of_user", "tokens", true},
		"the beginning of the name at the end": {"the_key", "key_of_user", true},
		"a short word of the name":             {"my_db", "db_word", false},
		"a word of three letters":              {"my_key", "key_word", true},
		"another value":                        {"hunter", "password", false},
		"a digit":                              {"password1", "password", false},
		"a digit in a name of a type":          {"PasswordV1_password", "password", true},
		"a digit in a name with a dot":         {"cfg1.password", "password", true},
		"a random text that repeats":           {"Aa8Kd03LmQ9xZ71bc.password", "password", false},
		"60 bytes":                             {strings.Repeat("x", 51) + "_password", "password", true},
		"61 bytes":                             {strings.Repeat("x", 52) + "_password", "password", false},
		"a value without words":                {"---", "password", false},
		"a name without words":                 {"password", "--", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := namesItself(c.value, c.name); got != c.want {
				t.Errorf("got %t for %s: %s", got, c.name, c.value)
			}
		})
	}
}

func TestSecrecyOfANameDecidesItsValues(t *testing.T) {
	const random = "a8Kd03LmQ9xZ71bc"
	for name, c := range map[string]struct {
		value                       string
		weak, onlyTexts, everything bool
	}{
		"a word":                 {"hunter", false, true, true},
		"blanks around":          {" hunter ", false, true, true},
		"a random text":          {random, true, true, true},
		"a large number":         {"123456", false, false, true},
		"a small number":         {"123", false, false, false},
		"a small number, comma":  {"123,", false, false, false},
		"a small address":        {"0x39;", false, false, false},
		"a color":                {"#ff8800", false, false, true},
		"a type":                 {"String", false, false, true},
		"a constant":             {"null", false, false, false},
		"a placeholder":          {"${X}", false, false, false},
		"a reference":            {"vault:" + random, false, false, false},
		"a sentence":             {"must be " + random, false, false, false},
		"a random text of words": {"aaaa-bbbb-cccc", false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, want := range map[secrecy]bool{weak: c.weak, onlyTexts: c.onlyTexts, everything: c.everything} {
				if got := hidden(c.value, kind); got != want {
					t.Errorf("secrecy %d: got %t", kind, got)
				}
			}
		})
	}
}
