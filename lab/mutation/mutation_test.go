package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestASmallPackage runs the tool on a package with known results.
func TestASmallPackage(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := "lab/mutation/testdata/small"
	small := part{name: "small", bound: 95, dir: dir, tests: []tests{{dir: dir}}}
	r, err := small.try(root, choice{n: 1}, io.Discard)
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
	if len(r.Alive) != len(want) {
		t.Errorf("survivors: %+v", r.Alive)
	}
	for i, w := range want {
		if i < len(r.Alive) {
			if s := r.Alive[i]; s.Func != w.function || s.What != w.what || s.Fate != w.fate {
				t.Errorf("survivor %d is %s, %q, %s; want %+v", i, s.Func, s.What, s.Fate, w)
			}
		}
	}
	if r.TimedOut == 0 {
		t.Error("no loop without an end was stopped")
	}
	if r.Killed < 6 || r.Tried != r.found()+len(r.Alive) {
		t.Errorf("%d tried, %d killed, %d timed out", r.Tried, r.Killed, r.TimedOut)
	}

	key := r.Alive[1].Key()
	gone, other := dir+"/small.go | Gone | true → negated | 1", "other/file.go | Gone | true → negated | 1"
	rs := reasons{key: "either of two equal numbers", gone: "void", other: "of another part"}
	r.explain(rs)
	if r.explained() != 1 {
		t.Errorf("%d are explained", r.explained())
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
	text := survivors([]*result{r})
	for _, part := range []string{
		"**Not explained.**", "either of two equal numbers", "Larger: `a > b → >=`", "(not reached by any test)",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

func TestRenderingUsesEditedReasons(t *testing.T) {
	root := t.TempDir()
	some := []part{{name: "small", bound: 95, dir: "small"}, {name: "never tried", dir: "never"}}
	m := mutant{ID: 1, File: "small/a.go", Func: "F", What: "0 → 1", N: 1}
	tried := &result{Part: "small", Day: "2026-01-02", Planted: 2, Tried: 2, Killed: 1, part: some[0],
		Alive: []survivor{{mutant: m, Fate: survived}}}
	if err := write(root, some, nil, tried); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ reason, want string }{
		{"", "| small | 2 | 2 | 1 | 0 | 0 | 1 | 50.0 %"},
		{"it saves time", "| small | 2 | 2 | 1 | 0 | 1 | 0 | 100.0 %"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if err := write(root, some, reasons{m.Key(): c.reason}); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(root, folder, "SURVIVORS.md"))
			if err != nil || !strings.Contains(string(text), c.want) || !strings.Contains(string(text), c.reason) {
				t.Errorf("no %q and %q in\n%s, %v", c.want, c.reason, text, err)
			}
		})
	}
}
