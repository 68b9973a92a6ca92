package redact

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/hookgen/hookgen/internal/leaks"
)

// surroundings are texts that touch a secret. A reader sees none that ends with an ASCII letter or digit.
func surroundings() map[string]string {
	texts := map[string]string{
		"nothing": "", "curly quotes": "“", "curly closing quotes": "”", "angle quotes": "«", "an apostrophe": "’",
		"a no-break space": "\u00a0", "a wide space": "\u3000", "an em dash": "—", "an en dash": "–", "a bullet": "•",
		"a middle dot": "·", "an arrow": "→", "a table": "│", "a block": "█", "Chinese": "密钥是", "a full stop": "。",
		"Japanese": "キーは", "Korean": "키는", "Cyrillic": "ключ", "Greek": "κλειδί", "Arabic": "مفتاح", "Hebrew": "מפתח",
		"Thai": "คีย์", "Devanagari": "कुंजी", "a brace of Japan": "「", "a wide colon": "：", "an accent": "é",
		"an accent apart": "e\u0301", "an emoji": "🔑", "a family": "👩\u200d👩\u200d👧", "a flag": "🇩🇪",
		"a keycap":           "#\ufe0f\u20e3",
		"a byte order mark":  "\ufeff",
		"a zero width space": "x\u200b", "a joiner": "\u200d", "a non-joiner": "\u200c",
		"a soft hyphen": "x\u00ad", "a mark of direction": "\u202e", "a word joiner": "x\u2060y\u2060",
		"red": "\x1b[31m", "no color": "\x1b[0m", "a short reset": "\x1b[m", "bold and red": "\x1b[1m\x1b[31m",
		"a word in red": "word\x1b[31m", "many colors": "\x1b[38;2;255;100;0;48;5;16m", "grep": "\x1b[01;31m\x1b[K",
		"after a word in red": "\x1b[31mword\x1b[0m", "a cursor": "\x1b[2K\x1b[1G", "a hidden cursor": "\x1b[?25l",
		"a bar cursor": "\x1b[2 q",
		"a reset":      "\x1b[!p", "a deleted word": "word\x1b[3P", "erased characters": "\x1b[2X", "a line": "\x1b[5d",
		"an inserted line": "\x1b[1L", "a window": "\x1b[22;0;0t",
		"a character set": "x\x1b(B\x1b[m", "8-bit red": "\u009b31m", "a red byte": "\x9b31m",
		"a link": "\x1b]8;;https://example.org/\x1b\\", "a link and a bell": "\x1b]8;;https://example.org/a\a",
		"the end of a link": "\x1b]8;;\x1b\\", "a title": "\x1b]0;title\a", "an 8-bit title": "\u009d0;title\u009c",
		"red in JSON": `\u001b[31m`, "reset in JSON": `word\u001B[0m`, "red in Python": `\x1b[31m`,
		"red in a shell": `\033[31m`,
		"red in bash":    `\e[1;31m`, "red of cat": `^[[31m`, "8-bit red in JSON": `\u009b31m`,
		"a line of JSON": `\n`, "a tab of JSON": `\t`, "a return of JSON": `\r`, "a line of nested JSON": `\\n`,
		"a letter of JSON": `\u00e9`, "a quote of JSON": `\u0022`, "a bracket of JSON": `\u003e`, "a byte of Python": `\x0a`,
		"invalid UTF-8": "\xff\xfe", "half a character": "\xe2\x80", "Windows quotes": "\x93", "an empty line": "\n\n",
		"quotes": `"`, "backquotes": "`", "a bracket": "(", "a pipe": "|", "a comma": ",", "a semicolon": ";",
	}
	for name, table := range unicode.Categories {
		for _, r := range []rune{first(table), last(table)} {
			if r > unicode.MaxASCII {
				texts[fmt.Sprintf("%U of category %s", r, name)] = string(r)
			}
		}
	}
	for c := range rune(' ') {
		texts[fmt.Sprintf("%U", c)] = string(c)
	}
	for c := byte(0x80); c > 0; c++ {
		texts[fmt.Sprintf("the byte %x", c)] = string([]byte{c})
	}
	return texts
}

func first(t *unicode.RangeTable) rune {
	for _, r := range t.R16 {
		if r.Lo > unicode.MaxASCII {
			return rune(r.Lo)
		}
	}
	if len(t.R32) == 0 {
		return 0
	}
	return rune(t.R32[0].Lo)
}

func last(t *unicode.RangeTable) rune {
	if len(t.R32) > 0 {
		return rune(t.R32[len(t.R32)-1].Hi)
	}
	return rune(t.R16[len(t.R16)-1].Hi)
}

// A surrounded secret has a text before and after it that stays.
type surrounded struct {
	before, secret, after string
	named                 bool // a letter before the text is a part of a name
	bare                  bool // a symbol after the text can be a part of the secret
}

// known returns secrets of every form.
func known() map[string]surrounded {
	secrets := map[string]surrounded{
		"a web token":              {secret: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_d"},
		"a Discord token":          {secret: "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcD1." + strings.Repeat("aB3xY9kLm", 4)},
		"a private key":            {secret: "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----"},
		"a card":                   {secret: "4111 1111 1111 1111"},
		"a card without blanks":    {secret: "5555555555554444"},
		"a bank account":           {secret: "DE89 3704 0044 0532 0130 00"},
		"a security number":        {secret: "123-45-6789"},
		"a telephone number":       {secret: "555-123-4567"},
		"one with brackets":        {secret: "(555) 123-4567"},
		"an international one":     {secret: "+49 30 1234567"},
		"a mail address":           {secret: "jo.d+x@mail.example.org", named: true},
		"a number as mail address": {secret: "10001@qq.com", named: true},
		"a URL":                    {before: "https://", secret: "bob:pa55word", after: "@example.org/"},
		"a connection string":      {before: "postgres://", secret: "bob:pa55@word", after: "@db:5432/x"},
		"a credential":             {before: "Bearer ", secret: "abcdef123456", bare: true},
		"an assignment":            {before: `api_key="`, secret: "hunter22", after: `"`, named: true},
		"a member of JSON":         {before: `"client_secret": "`, secret: "hunter22", after: `"`, named: true},
		"a setting":                {before: "DB_PASSWORD=", secret: "hunter22", named: true, bare: true},
		"a flag":                   {before: "--api-key ", secret: "hunter22", named: true, bare: true},
		"an element":               {before: "<password>", secret: "hunter22", after: "</password>"},
	}
	for i, f := range forms {
		tokens := bodies(rand.New(rand.NewPCG(1, uint64(i))), f)
		s := surrounded{secret: f.prefix + tokens[len(tokens)-1]}
		if f.isAddress() {
			s = surrounded{before: f.prefix, secret: tokens[len(tokens)-1]}
		}
		secrets[f.kind+" "+f.prefix] = s
	}
	for i, m := range markedForms {
		r, s := rand.New(rand.NewPCG(2, uint64(i))), surrounded{secret: m.mark}
		if m.before.least > 0 {
			s.secret = drawn(r, m.before.of, m.before.least, nil) + s.secret
		}
		if m.after.least > 0 {
			s.secret += drawn(r, m.after.of, m.after.least, nil)
		}
		secrets[m.kind+" marked"] = s
	}
	return secrets
}

func TestSurroundingsDoNotHideSecrets(t *testing.T) {
	around := surroundings()
	for name, s := range known() {
		t.Run(name, func(t *testing.T) {
			for where, text := range around {
				opens, closes := text, text
				if s.named && text == `"` { // the name is the end of a literal
					continue
				}
				last, _ := utf8.DecodeLastRuneInString(text)
				if s.named && (unicode.Is(unicode.Latin, last) || where == "an accent apart") {
					opens = ""
				}
				if first, _ := utf8.DecodeRuneInString(text); s.bare || alnum.all(string(first)) {
					closes = ""
				}
				more := " more"
				if s.bare { // the words after a password can be a part of it
					more = ""
				}
				for _, c := range [][2]string{{opens, closes}, {"see " + opens, closes + more}} {
					whole := c[0] + s.before + s.secret + s.after + c[1]
					want := c[0] + s.before + Redacted + s.after + c[1]
					if got := unkinded(new(Redactor).Text(whole)); got != want {
						t.Errorf("%s: %q\nis redacted as %q", where, whole, got)
						break
					}
				}
			}
		})
	}
}

func TestColorsInsideAnAssignmentDoNotHideIt(t *testing.T) {
	for _, text := range []string{
		`password«0m»=«31m»[hunter2]`, `«1m»password«0m»«39m»:«0m» «32m»[hunter2]«0m»`, `pass«1m»word«0m»=[hunter2]`,
		`«34;1m»"api_key"«0m»«1;39m»:«0m»«0;32m» "[hunter22]"«0m»,`, `{«34m»"token":«0m» «32m»"[hun«1m»ter2]"«0m»}`,
		`--«1m»password«0m» [hunter2]«0m»`, `-«1m»-api-key«0m»=[hunter2]`, `foo«0m»api_key=[hunter2]`,
		`Authorization«0m»: «33m»[Bearer abcdef123456]`, `https://bob«0m»:«31m»[pa55word]@host`,
		`see ghp_«1m»abcdefghijklmnopqrstuvwxyz0123«0m»`, `[ghp_abcdefghij«1m»klmnop0123]«0m» x`, `4111 «1m»1111 1111 1111`,
		`[5555«1m»555555554444]«0m»`, `export DB_PASSWORD«0m»=«31m»'[hunter2]'`, `password=[hunter«1m»2secret]«0m» x`,
	} {
		t.Run(text, func(t *testing.T) {
			for _, escape := range []string{"\x1b[", "\u009b", `\u001b[`} {
				color := strings.NewReplacer("«", escape, "»", "", "[", "", "]", "").Replace(text)
				got := unkinded(new(Redactor).Text(color))
				for _, part := range []string{
					"hunter", "ter2", "pa55word", "abcdef123456", "klmnop0123", "efghij", "5555", "1111 1111",
				} {
					if strings.Contains(got, part) {
						t.Errorf("%q is redacted as %q", color, got)
					}
				}
			}
		})
	}
}

func TestInvisibleTextAroundSecretsStays(t *testing.T) {
	for _, sample := range leaks.Samples() {
		if sample.Name == "JSON in a URL" { // its quotes are %22, so that digits surround the secret
			continue
		}
		t.Run(sample.Class+" "+sample.Name, func(t *testing.T) {
			text := sample.Draw(3, Redacted)
			for _, around := range [][2]string{{"\x1b[31m", "\x1b[0m"}, {`\u001b[31m`, `\u001b[0m`}, {"\u200b", "\ufeff"}} {
				whole := text.Text
				for _, secret := range text.Secrets {
					whole = strings.Replace(whole, secret, around[0]+secret+around[1], 1)
				}
				got := unkinded((&Redactor{KeepPersonal: true}).Text(whole))
				if want := strings.ReplaceAll(text.Clean, Redacted, around[0]+Redacted+around[1]); got != want {
					t.Errorf("%q\nis redacted as\n%q", whole, got)
				}
			}
		})
	}
}

// FuzzViews checks that the positions of a view are positions of its text in order, and that a secret after any text is
// found.
func FuzzViews(f *testing.F) {
	for _, text := range surroundings() {
		f.Add(text)
	}
	const token = "ghp_abcdefghijklmnopqrstuvwxyz0123"
	f.Fuzz(func(t *testing.T, s string) {
		for _, joined := range []bool{false, true} {
			v, last := viewOf(s, joined), 0
			for at := range v.text {
				p := v.origins([]span{{at, at + 1, ""}})[0]
				if p.from < last || p.to <= p.from || p.to > len(s) {
					t.Fatalf("%d of the view of %q is %v", at, s, p)
				}
				last = p.from
			}
		}
		if got := unkinded(new(Redactor).Text(s + "\n" + token)); strings.Contains(got, token[4:]) {
			t.Errorf("the token after %q remains: %q", s, got)
		}
	})
}
