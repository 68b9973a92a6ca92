package main

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestEditsMakeTheNewText applies what was found to the old text, and finds nothing between equal texts.
func TestEditsMakeTheNewText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", ""}), 0, 40)
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		all := edits(a, b)
		var got []string
		at, changed := 0, 0
		for _, e := range all {
			if e.a0 < at || e.a1 < e.a0 || e.b1 < e.b0 || e.a0 == e.a1 && e.b0 == e.b1 {
				t.Fatalf("edits %v", all)
			}
			got = append(append(got, a[at:e.a0]...), b[e.b0:e.b1]...)
			at = e.a1
			changed += e.a1 - e.a0 + e.b1 - e.b0
		}
		got = append(got, a[at:]...)
		if !slices.Equal(got, b) {
			t.Fatalf("%q and %q: edits %v make %q", a, b, all, got)
		}
		if want := len(a) + len(b) - 2*longestCommon(a, b); changed != want {
			t.Fatalf("%q and %q: %d lines changed, %d would do", a, b, changed, want)
		}
	})
}

// longestCommon is the length of the longest common subsequence, by the book.
func longestCommon(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		before := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = before + 1
			} else {
				row[j+1] = max(row[j], row[j+1])
			}
			before = above
		}
	}
	return row[len(b)]
}

func TestDiffOfTextsFarApart(t *testing.T) {
	old, text := strings.Repeat("old\n", 5000), strings.Repeat("new\n", 5000)
	got := diff("f.go", []byte(old), []byte(text))
	if !strings.HasPrefix(got, "--- f.go\n+++ f.go (generated)\n@@ -1,5000 +1,5000 @@\n-old\n") {
		t.Errorf("got %.80s", got)
	}
}

func TestDiff(t *testing.T) {
	numbers := strings.Split("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20", " ")
	other := slices.Clone(numbers)
	other[4], other[18] = "five", "nineteen"
	other = slices.Insert(other, 10, "ten and a half")
	got := diff("f.go", []byte(strings.Join(numbers, "\r\n")+"\r\n"), []byte(strings.Join(other, "\n")+"\n"))
	want := `--- f.go
+++ f.go (generated)
@@ -2,12 +2,13 @@
 2
 3
 4
-5
+five
 6
 7
 8
 9
 10
+ten and a half
 11
 12
 13
@@ -16,5 +17,5 @@
 16
 17
 18
-19
+nineteen
 20`
	if got != want {
		t.Errorf("got:\n%s", got)
	}
}
