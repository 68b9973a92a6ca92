package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestPagesAreCurrent makes each part without measuring anything. Where a figure is measured, the page may have any
// text.
func TestPagesAreCurrent(t *testing.T) {
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) {
			want, err := p.text(false)
			if err != nil {
				t.Fatal(err)
			}
			page, err := os.ReadFile(p.page)
			if err != nil {
				t.Fatal(err)
			}
			_, part, _ := strings.Cut(string(page), "<!-- "+p.name+" -->\n")
			part, _, _ = strings.Cut(part, "<!-- end of "+p.name+" -->\n")
			got := strings.Split(part, "\n")
			for i, line := range strings.Split(want, "\n") {
				pattern := strings.ReplaceAll(regexp.QuoteMeta(line), unmeasured, "[^|]*")
				if i >= len(got) || !regexp.MustCompile("^"+pattern+"$").MatchString(got[i]) {
					t.Fatalf("%s has no line %q; run go run ./lab/pages %s", p.page,
						strings.ReplaceAll(line, unmeasured, "..."), p.name)
				}
			}
			if n := strings.Count(want, "\n"); len(got) != n+1 {
				t.Errorf("%s has more lines than the %d of its part; run go run ./lab/pages %s", p.page, n, p.name)
			}
		})
	}
}

func TestUnknownPartsAreRefused(t *testing.T) {
	if err := run([]string{"room"}); err == nil || !strings.Contains(err.Error(), "no page has a part room") {
		t.Errorf("the error is %v", err)
	}
}
