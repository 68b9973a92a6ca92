package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/lab/figures"
)

// TestASmallPackage runs the tool on a package with known results.
func TestASmallPackage(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := "lab/mutation/testdata/small"
	small := part{name: "small", bound: 95, dir: dir, tests: []tests{{dir: dir}}}
	r, err := small.try(root, choice{}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		function, what string
		fate           fate
	}{
		{"Sign", "n < 0 → <=", survived},
		{"Larger", "a > b → >=", survived},
		{"Lonely", "!ok → negated", missed},
	}
	if len(r.alive) != len(want) {
		t.Errorf("survivors: %+v", r.alive)
	}
	for i, w := range want {
		if i < len(r.alive) {
			if s := r.alive[i]; s.Func != w.function || s.What != w.what || s.fate != w.fate {
				t.Errorf("survivor %d is %s, %q, %s; want %+v", i, s.Func, s.What, s.fate, w)
			}
		}
	}
	if r.timedOut == 0 {
		t.Error("no loop without an end was stopped")
	}
	if r.killed < 6 || r.tried != r.found()+len(r.alive) {
		t.Errorf("%d tried, %d killed, %d timed out", r.tried, r.killed, r.timedOut)
	}

	key := r.alive[1].Key()
	gone, other := dir+"/small.go | Gone | true → negated | 1", "other/file.go | Gone | true → negated | 1"
	rs := reasons{key: "either of two equal numbers", gone: "void", other: "of another part"}
	r.explain(rs)
	if len(r.unexplained()) != 2 {
		t.Errorf("%v are not explained", r.unexplained())
	}
	err = judge([]*result{r}, rs)
	for _, part := range []string{"the score is", "2 survivors without a reason", "explains " + gone} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the judgement is %v, want %q in it", err, part)
		}
	}
	if strings.Contains(err.Error(), other) {
		t.Errorf("the judgement is %v, with an explanation of a part that was not tried", err)
	}
	all := r.figures()
	if len(all) != 3 || all[0].Holds != figures.No ||
		!strings.Contains(all[0].Note, "3 survived, of which 1 have a reason") || all[2].Note != string(missed) {
		t.Errorf("the figures are %+v", all)
	}
}

func TestResultsReplaceThoseOfTheirPart(t *testing.T) {
	root := t.TempDir()
	m := mutant{ID: 1, File: "gen/a.go", Func: "F", What: "0 → 1", N: 1}
	for _, name := range []string{"gen", "hookkit", "gen"} {
		r := &result{part: part{name: name, bound: 95}, planted: 2, tried: 2, killed: 1,
			alive: []survivor{{mutant: m, fate: survived}}}
		if err := r.write(root); err != nil {
			t.Fatal(err)
		}
	}
	report, err := figures.Read(root, "mutation")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range report.Figures {
		got = append(got, f.Of)
	}
	if want := "hookkit: score, hookkit: survivor, gen: score, gen: survivor"; strings.Join(got, ", ") != want {
		t.Errorf("the figures are %v, want %s", got, want)
	}
}
