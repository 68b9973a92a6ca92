package memory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLinesAreBoundedAndUnique(t *testing.T) {
	for _, c := range []struct {
		name             string
		before, add      string // lines, separated by spaces
		most, dedupeFrom int    // characters
		want             string
	}{
		{"new file", "", "a b", 100, 100, "a b"},
		{"duplicates in a short file", "a b", "a", 100, 6, "a b a"},
		{"duplicates in a longer file", "a b", "a c", 100, 7, "a b c"},
		{"everything fits", "aa bb", "cc", 9, 100, "aa bb cc"},
		{"one character too long", "aa bb", "cc", 8, 100, "bb cc"},
		{"letters of two bytes", "ää öö", "üü", 9, 100, "ää öö üü"},
		{"a line that does not fit", "a", "bbbb", 4, 100, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "facts.md")
			if c.before != "" {
				if err := os.WriteFile(path, []byte(strings.ReplaceAll(c.before, " ", "\n")+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := addLines(path, strings.Fields(c.add), c.most, c.dedupeFrom); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if got := strings.Join(strings.Fields(string(data)), " "); err != nil || got != c.want {
				t.Errorf("the file has %q, %v, want %q", got, err, c.want)
			}
		})
	}
}
