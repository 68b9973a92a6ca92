package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestLinesAreCodeOrComments(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "// Package p\npackage p\n\nvar a = 1 // one\n\n\t// two\n\tb()\n \t\n}"
	for _, name := range []string{"p.go", "p_test.go", "p.txt", "p_gen.go"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}} {
		if err := exec.Command("git", args...).Run(); err != nil {
			t.Fatal(err)
		}
	}
	counts, err := countAll(nil)
	if err != nil || len(counts) != 3 || *counts[0] != (count{".", 4, 2}) ||
		fmt.Sprintf("%.1f", counts[0].share()) != "33.3" {
		t.Errorf("got %+v, %v, want 4 lines of code and 2 of comments", counts, err)
	}
}

func TestTotalsFollowThePackages(t *testing.T) {
	t.Chdir("../..")
	counts, err := countAll(nil)
	if err != nil {
		t.Fatal(err)
	}
	n := len(counts) - 2
	if n < 1 || counts[n].name != "core" || counts[n+1].name != "all" {
		t.Fatalf("the counts are %+v", counts)
	}
	sum, ofCore := 0, 0
	for _, c := range counts[:n] {
		if c.code == 0 || strings.Contains(c.name, "testdata") || strings.Contains(c.name, "example") {
			t.Errorf("counted %+v", c)
		}
		sum += c.code
		if core.MatchString(c.name) {
			ofCore += c.code
		}
	}
	if sum != counts[n+1].code || ofCore != counts[n].code || ofCore == 0 || ofCore == sum {
		t.Errorf("%d lines, %d of the core; the totals are %+v", sum, ofCore, counts[n:])
	}
}

func TestFoldersHaveNoTotals(t *testing.T) {
	t.Chdir("../..")
	var out strings.Builder
	if err := run(&out, []string{"lab/figures"}); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(out.String()); strings.Count(got, "\n") != 0 || !strings.HasSuffix(got, "lab/figures") {
		t.Errorf("the output is %q", out.String())
	}
}
