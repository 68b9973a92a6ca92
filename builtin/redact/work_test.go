package redact

import (
	"slices"
	"strings"
	"testing"
)

// worstUnits are the beginnings and ends of everything that a finder reads, and texts that are almost secrets.
func worstUnits() []string {
	units := []string{
		"snyk=a-", "heroku=", "heroku=1-", "heroku=12345678-1234-", "sig=1.", "hash=x/", "drone:1-", "twitter:a/",
		"key=1&", "key=a1B2 ", "a=key=", "session=1,", "auth=a;", "(token=a", "token=x{{}}", "password=x%s,",
		"a cookie:b ", "'cookie:b ",
		"password=[\n", "password={\n", `password={"a":`, "password=", `password="`, `\"password\":\"`, "secret:'x",
		"-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\n",
		"-----END RSA PRIVATE KEY-----\n", "-----BEGIN PGP PRIVATE KEY BLOCK-----",
		"-----END PGP PRIVATE KEY BLOCK-----",
		"-----BEGIN PRIVATE KEY-----\nComment: x\n", "PRIVATE KEY", "-----END A", "-", "Private-Lines: 3\n",
		"Private-Lines:",
		"Private-Lines:\n> \n", "MIIabcdefghijk01", "MIIabcdefghijk01\n", "Comment: x\n",
		"a", "A", "1", "1 ", "1-", "4111 ", "4111111111111112", "+1 ", "+", "(555) 123-", "DE89 3704 ", "DE", "@",
		"a@", "a@b.",
		"a.", "é", "é@", "中", "中a", "•", "\u200b", "e\u0301", "\xff", "\x80", "\x00", "\x1b[31m", "\x1b[",
		"\x1b[1;", "\u009b1",
		"a\x1b[0m", `\u001b[0m`, `\u001b[`, "^[[", "\x1b]8;;", "_", "=", ":", " ", "\t", "\n", "\r\n", "\"", "'",
		"`", `\`, `\"`,
		`\\`, `\n`, "%", "%20", "%2", "a%3D", "%25", "&", "&quot;", "&quot;password&quot;:", "password=&quot;",
		"password=%22",
		`password=\u0022`, `"password","`, `"--password","`, `"--password",'`, `"token","""`, `token="""`,
		`PASSWORD '`,
		`setPassword("`, `SetBasicAuth("a`, "password:!a", "password:&a", "password:!!a ", "password:&a ",
		"password: |\n ",
		"password: | # ", "password:\n", "password:\n ", "password:\n- ", "- password:\n", "password:\n\n",
		"password:\\\n",
		"password=<<EOF\n", "password=<<E", "password: the\n ", "password is ", "password ",
		"machine a login b password ",
		"password=[REDACTED]", "[REDACTED]", "authorization: ", "cookie: a\\", "authorization=b;", "Bearer ",
		"Bearer a.",
		"basic -", "curl -u ", "curl -ua:", "curl ", "mysql -p", "mysql ", "sshpass -p \\\"", "--password-stdin",
		"echo ",
		"a:1234:b:c:", "kind: Secret", "Secret", `"kty"`, `{"name":"password",`, `{"type":"password"`,
		"name: password\n",
		"?sig=", "&key=", "password-", "--password ", "--password=", "-p", "api_key", "api.key.", "aB", "a_b-", "[",
		"{", "]}",
		"<", "<a", "<a>", "<a b", "<a b=", `<a b="`, `<a b='`, `<a b=\"`, `<a b=\\\"`, `<a key="password" value="`,
		"<password>",
		"<password>\n", "<password>abcd<password>", "<password><![CDATA[", "<![CDATA[", "&lt;a", "&lt;password&gt;",
		`\u003c`,
		`\u003cpassword\u003e`, "&amp;", "&amp;%20\\n ",
		"<key>password</key>", "<a =", "<a b\n", "</", "://", "a://", "a://b", "a://b:",
		"a://b:c@",
		"a://b:c/", "a://b@", "http://a:b@c/?u=", "eyJ", "eyJaaaaaaaa~", "eyJaaaaaaaa.", "eyJhbGciOi",
		"eyJaaaaaaaaaa.ey",
		"key=\"=\n&quot;", "\u200bmysql -p%3D", "PRIVATE KEY=\n\r\n@", "\x1b[31mpassword=x%20", `a${key=%25253D\\n`,
		"MTIzNDU2Nzg5MDEyMzQ1Njc4.", "Q~", "AAAAAAAAAA", ":AA", "_mmk", "-us1", "+ASt", "AzSe", ".atlasv1.",
	}
	return units
}

// work returns the number of bytes that the redaction of a text reads in scans of any length.
func work(t *testing.T, text string) int {
	t.Helper()
	n := 0
	visited = &n
	defer func() { visited = nil }()
	new(Redactor).Text(text)
	return n
}

func TestWorkGrowsWithLengthOfText(t *testing.T) {
	const size = 2_500
	compare := func(t *testing.T, text func(size int) string) {
		t.Helper()
		short, long := text(size), text(8*size)
		if a, b := work(t, short), work(t, long); b > 12*a+150*len(long) {
			t.Errorf("%.60q…: %d bytes are read of %d, and %d of %d", long, a, len(short), b, len(long))
		}
	}
	for _, f := range forms {
		t.Run(f.prefix, func(t *testing.T) {
			compare(t, func(size int) string { return strings.Repeat(f.prefix+"a1B2c3D4-", size/(len(f.prefix)+9)) })
		})
	}
	units := worstUnits()
	for i, unit := range units {
		t.Run(unit, func(t *testing.T) {
			compare(t, func(size int) string { return strings.Repeat(unit, size/len(unit)) })
			for _, end := range []string{">", strings.Repeat(".", size)} {
				compare(t, func(size int) string { return strings.Repeat(unit, size/len(unit)) + end })
			}
			for _, other := range []string{"\n", units[(7*i+3)%len(units)]} {
				compare(t, func(size int) string { // alternating, and one after the other
					return strings.Repeat(unit+other, size/len(unit+other))
				})
				compare(t, func(size int) string {
					return strings.Repeat(unit, size/2/len(unit)) + strings.Repeat(other, size/2/len(other))
				})
			}
		})
	}
}

func TestWorkOfNestedTextsIsLinear(t *testing.T) {
	nested := map[string]func(i int) string{
		"blocks": func(i int) string { return strings.Repeat(" ", i) + "password: |\n" },
		"prose": func(i int) string {
			return strings.Repeat(" ", i) + "password: |\n" + strings.Repeat(" ", i+1) + "the x\n"
		},
		"deep blocks":        func(i int) string { return strings.Repeat(" ", 401) + "password: |\n" },
		"quotes in elements": func(i int) string { return "<a b=" + strings.Repeat(`\`, i) + `"` },
		"elements backwards": func(i int) string { return "<a b=" + strings.Repeat(`\`, 1000-i%1000) + `"` },
		"quotes in values":   func(i int) string { return "password=" + strings.Repeat(`\`, 1000-i%1000) + `"` },
	}
	for name, line := range nested {
		t.Run(name, func(t *testing.T) {
			var parts []string
			for i, size := 0, 0; size < 400_000; i++ {
				parts = append(parts, line(i))
				size += len(parts[i])
			}
			backwards := slices.Clone(parts)
			slices.Reverse(backwards)
			for _, text := range []string{strings.Join(parts, ""), strings.Join(backwards, "")} {
				if n := work(t, text); n > 200*len(text) {
					t.Errorf("%d bytes are read of %d", n, len(text))
				}
			}
		})
	}
}

func BenchmarkWorstTexts(b *testing.B) {
	for _, unit := range []string{
		"The quick brown fox: 12 jumps = over the lazy dog at 10:30, see a/b.go:17 for more.\n", "中文 ",
		"\x1b[31ma\x1b[0m ",
		"-----END RSA PRIVATE KEY-----", "-----BEGIN PGP PRIVATE KEY BLOCK-----", `<a b=\"`, "eyJaaaaaaaa~",
		"password=", "a@",
		"%20", "4111 ", "key=", "key=a1B2 ", "(token=a", "_mmk", "sk-", ":=$(key", "a=key=", `sshpass -p "`,
		"key=\"=\n&quot;", "\u200bmysql -p%3D", "PRIVATE KEY=\n\r\n@", "\x1b[31mpassword=x%20", `a${key=%25253D\\n`,
	} {
		b.Run(unit, func(b *testing.B) {
			text := strings.Repeat(unit, 10<<20/len(unit))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				new(Redactor).Text(text)
			}
		})
	}
}
