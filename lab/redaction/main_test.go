package main

import (
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestPageHasTheMeasuredShares compares the page with the texts that are redacted now. The figures about gitleaks and
// the times depend on the machine and are not compared.
func TestPageHasTheMeasuredShares(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all row
	for _, r := range append(classes(), row{class: "all"}) {
		if r.class == "all" {
			r = all
		} else {
			all.add(r)
		}
		t.Run(r.class, func(t *testing.T) {
			if !strings.Contains(string(text), "\n"+r.String()) {
				t.Errorf("%s has no line %q; run go run ./lab/redaction -page", page, r)
			}
		})
	}
}

func TestOrdinaryTextsOfTheRepositoryStay(t *testing.T) {
	for _, o := range ordinary() {
		t.Run(o.name, func(t *testing.T) {
			if len(o.text) < 5000 {
				t.Errorf("the text has %d bytes", len(o.text))
			}
			if n := places(o.text); n > 0 {
				t.Errorf("%d places change", n)
			}
		})
	}
}
