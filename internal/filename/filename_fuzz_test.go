package filename

import (
	"path/filepath"
	"strings"
	"testing"
)

// FuzzFileNames makes names of files of any two texts and reads any text as such a name: a name leads nowhere else,
// is turned back into its text, and two texts have two names, whatever a file system makes of capitals.
func FuzzFileNames(f *testing.F) {
	for _, s := range []string{
		"",
		"a",
		"A",
		"../x",
		"..",
		".",
		"/etc/passwd",
		`c:\x`,
		"con",
		"a\x00b",
		"%41",
		"%",
		"%zz",
		"%2",
		"%+1",
		"é",
		"\xff",
		"a.json",
		strings.Repeat("a", 149),
		strings.Repeat("A", 51),
		"-",
		"_",
	} {
		f.Add(s, "b")
		f.Add(s, strings.ToUpper(s))
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		if back, ok := Decode(text); ok { // text is the name of a file that somebody else made
			if again, err := Encode(back); err != nil || again != text {
				t.Errorf("the file %q is of %q, which has the file %q, %v", text, back, again, err)
			}
		}
		name, err := Encode(text)
		if err != nil {
			return
		}
		if len(name) > maxLength || !filepath.IsLocal(name) || filepath.Base(name) != name ||
			strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_%") != "" {
			t.Errorf("%q has the file %q", text, name)
		}
		if back, ok := Decode(name); !ok || back != text {
			t.Errorf("%q has the file %q, which is of %q", text, name, back)
		}
		if second, err := Encode(other); err == nil && (name == second) != (text == other) {
			t.Errorf("%q and %q have the files %q and %q", text, other, name, second)
		}
	})
}
