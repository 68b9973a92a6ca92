package redact

import (
	"strings"
	"testing"
)

func TestBytesReadGrowWithLengthOfText(t *testing.T) {
	for _, unit := range []string{
		"snyk=a-", "heroku=", "heroku=1-", "heroku=12345678-1234-", "sig=1.", "hash=x/", "drone:1-", "twitter:a/",
		"key=1&", "session=1,", "auth=a;", "(token=a", "token=x{{}}", "password=x%s,", "a cookie:b ", "'cookie:b ",
		"password=[\n", "password={\n", `password={"a":`, "password=", `password="`, `\"password\":\"`, "secret:'x",
	} {
		t.Run(unit, func(t *testing.T) {
			looked := func(size int) int {
				n := named{s: strings.Repeat(unit, size/len(unit)), r: new(Redactor)}
				n.scan(n.s, nil)
				return n.looked
			}
			if short, long := looked(10_000), looked(80_000); long > 9*short+1000 {
				t.Errorf("%d bytes are read in 10 KB, and %d in 80 KB", short, long)
			}
		})
	}
	t.Run("escaped quotes in an object", func(t *testing.T) {
		for _, end := range []string{"}", "\n:}"} {
			n := named{s: "password={" + strings.Repeat(`\"`, 40_000) + end, r: new(Redactor)}
			if n.scan(n.s, nil); n.looked > 4*len(n.s) {
				t.Errorf("%d bytes are read", n.looked)
			}
		}
	})
}
