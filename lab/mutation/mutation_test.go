package main

import (
	"io"
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
	small := part{name: "small", dir: "lab/mutation/testdata/small", tests: []tests{{dir: "lab/mutation/testdata/small"}}}
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
	rs := &reasons{
		map[string]string{key: "either of two equal numbers", "no | such | mutant | 1": "void"}, map[string]bool{},
	}
	r.explain(rs)
	if r.explained() != 1 {
		t.Errorf("%d are explained", r.explained())
	}
	err = judge([]*result{r}, rs, true)
	for _, part := range []string{"the score is", "2 survivors without a reason", "explains no | such | mutant | 1"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the judgement is %v, want %q in it", err, part)
		}
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
