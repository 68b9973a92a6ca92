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
	if err := run(&out, nil, "", true); err != nil {
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
	if err := run(&out, []string{"lab/figures"}, "", false); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(out.String()); strings.Count(got, "\n") != 0 || !strings.HasSuffix(got, "lab/figures") {
		t.Errorf("the output is %q", out.String())
	}
}

func TestComparisonShowsWhatDiffers(t *testing.T) {
	before := []*count{{"a", 10, 0, 0}, {"b", 5, 5, 50}, {"core", 5, 5, 50}, {"all", 15, 5, 25}}
	after := []*count{{"b", 5, 5, 50}, {"c", 7, 1, 12.5}, {"core", 5, 5, 50}, {"all", 12, 6, 33.3}}
	var out strings.Builder
	compare(&out, before, after)
	want := " before    after   change  comments before and after\n" +
		"     10        0      -10   0.0 %   0.0 %  a\n" +
		"      0        7       +7   0.0 %  12.5 %  c\n" +
		"     15       12       -3  25.0 %  33.3 %  all\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestRevisionHasTheFilesOfItsTree(t *testing.T) {
	t.Chdir("../..")
	now, err := workTree([]string{"lab/figures"})
	if err != nil {
		t.Fatal(err)
	}
	then, err := revision("HEAD", []string{"lab/figures"})
	if err != nil || len(then) == 0 || len(now) == 0 {
		t.Errorf("%d files of HEAD and %d of the work tree, %v", len(then), len(now), err)
	}
	if _, err := revision("no-such-revision", nil); err == nil {
		t.Error("a revision that does not exist was read")
	}
}
