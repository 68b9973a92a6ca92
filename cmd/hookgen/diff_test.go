package main

import (
	"slices"
	"strings"
	"testing"
)

func TestDiffOfTextsFarApart(t *testing.T) {
	old, text := strings.Repeat("old\n", 5000), strings.Repeat("new\n", 5000)
	got := unifiedDiff("f.go", []byte(old), []byte(text))
	if !strings.HasPrefix(got, "--- f.go\n+++ f.go (generated)\n@@ -1,5000 +1,5000 @@\n-old\n") {
		t.Errorf("got %.80s", got)
	}
}

func TestDiff(t *testing.T) {
	numbers := strings.Split("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20", " ")
	other := slices.Clone(numbers)
	other[4], other[18] = "five", "nineteen"
	other = slices.Insert(other, 10, "ten and a half")
	got := unifiedDiff("f.go", []byte(strings.Join(numbers, "\r\n")+"\r\n"), []byte(strings.Join(other, "\n")+"\n"))
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
