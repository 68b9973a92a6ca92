package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestLinesAreCodeOrComments(t *testing.T) {
	var c count
	c.add("// Package p\npackage p\n\nvar a = 1 // one\n\n")
	c.add("\t// two\n\tb()\n \t\n}")
	if c.Code != 4 || c.Comments != 2 || fmt.Sprintf("%.1f", c.Share) != "33.3" {
		t.Errorf("got %+v, want 4 lines of code and 2 of comments", c)
	}
}

func TestTotalsFollowThePackages(t *testing.T) {
	t.Chdir("../..")
	var out strings.Builder
	if err := run(&out, nil, true); err != nil {
		t.Fatal(err)
	}
	var counts []count
	if err := json.Unmarshal([]byte(out.String()), &counts); err != nil {
		t.Fatal(err)
	}
	n := len(counts) - 2
	if n < 1 || counts[n].Name != "core" || counts[n+1].Name != "all" {
		t.Fatalf("the counts are %+v", counts)
	}
	sum, ofCore := 0, 0
	for _, c := range counts[:n] {
		if c.Code == 0 || strings.Contains(c.Name, "testdata") || strings.Contains(c.Name, "example") {
			t.Errorf("counted %+v", c)
		}
		sum += c.Code
		if core.MatchString(c.Name) {
			ofCore += c.Code
		}
	}
	if sum != counts[n+1].Code || ofCore != counts[n].Code || ofCore == 0 || ofCore == sum {
		t.Errorf("%d lines, %d of the core; the totals are %+v", sum, ofCore, counts[n:])
	}
}

func TestFoldersHaveNoTotals(t *testing.T) {
	t.Chdir("../..")
	var out strings.Builder
	if err := run(&out, []string{"lab/figures"}, false); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(out.String()); strings.Count(got, "\n") != 0 || !strings.HasSuffix(got, "lab/figures") {
		t.Errorf("the output is %q", out.String())
	}
}
