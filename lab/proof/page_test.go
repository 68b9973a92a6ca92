package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/lab/figures"
)

const root = "../.."

// TestPageMatchesTheReports: the command builds the committed page from the committed reports.
func TestPageMatchesTheReports(t *testing.T) {
	reports, err := figures.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	want, err := page(reports)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "docs", "evidence", "proof.md"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(want), "\n"); lines > 120 {
		t.Errorf("the page has %d lines", lines)
	}
	if string(got) != string(want) {
		t.Error("docs/evidence/proof.md is not what the reports make; run go run ./lab/proof -page")
	}
}

func TestEveryGroupHasTests(t *testing.T) {
	for _, g := range groups {
		t.Run(g.dir+" "+g.files, func(t *testing.T) {
			if _, err := g.tests(root); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBrokenBoundsNeedANote(t *testing.T) {
	for holds, refused := range map[figures.Verdict]bool{
		figures.Yes: false, figures.No: true, figures.Open: true, "": true,
	} {
		fig := figures.Figure{Of: "speed", Value: "3", Bound: "≤ 2", Holds: holds}
		if err := table(new(strings.Builder), []figures.Figure{fig}); (err != nil) != refused {
			t.Errorf("%q: %v", holds, err)
		}
		fig.Note = "physics"
		if err := table(new(strings.Builder), []figures.Figure{fig}); err != nil {
			t.Errorf("%q with a note: %v", holds, err)
		}
		fig.Note, fig.Value = "", "2 (rounds say 1 to 3)"
		if err := table(new(strings.Builder), []figures.Figure{fig}); (err != nil) != (refused && holds != figures.Open) {
			t.Errorf("%q with a range: %v", holds, err)
		}
	}
}

func TestStatements(t *testing.T) {
	for _, c := range [][3]string{
		{"TestOrder", "TestOrder: ties by\nregistration.\n", "Order: ties by registration."},
		{"TestLoad", "TestLoad fires a lot.", "Fires a lot."},
		{"TestAPanicIsAFailure", "", "A panic is a failure"},
		{"TestP1_Pairing", "", "P1, pairing"},
	} {
		if got := statement(c[0], c[1]); got != c[2] {
			t.Errorf("%s: %q, want %q", c[0], got, c[2])
		}
	}
}
