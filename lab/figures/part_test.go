package figures

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplacePart(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"a part", "a\n<!-- x -->\nold\n<!-- end of x -->\nb\n", "a\n<!-- x -->\nnew\n<!-- end of x -->\nb\n"},
		{"an empty part", "<!-- x -->\n<!-- end of x -->\n", "<!-- x -->\nnew\n<!-- end of x -->\n"},
		{"no part", "a\n", ""},
		{"another part", "<!-- y -->\n<!-- end of y -->\n", ""},
		{"no end", "<!-- x -->\nold\n", ""},
		{"the end first", "<!-- end of x -->\n<!-- x -->\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "page.md")
			if err := os.WriteFile(path, []byte(c.page), 0o600); err != nil {
				t.Fatal(err)
			}
			want := c.want
			if want == "" {
				want = c.page // unchanged
			}
			err := ReplacePart(path, "x", "new\n")
			got, readErr := os.ReadFile(path)
			if (err != nil) != (c.want == "") || readErr != nil || string(got) != want {
				t.Errorf("got %q, %v, %v", got, err, readErr)
			}
		})
	}
}
