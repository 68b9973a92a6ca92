package claudecode

import "testing"

// A rule covers the call that it was copied from, and every call if its pattern matches everything.
func FuzzRules(f *testing.F) {
	for _, text := range []string{"git push", "a:*", "CI=1 git  push", "~/.ssh/**", "//etc/../x", "./*.ts", "domain:a.b",
		"", "https://a.b/c", "a)b", "*", "..", "//", "\xff", "\n", "İ"} {
		for i := range subjects {
			f.Add(i, text)
		}
	}
	f.Fuzz(func(t *testing.T, i int, text string) {
		subject := subjects[uint(i)%uint(len(subjects))].argument
		for _, pattern := range []string{text, "*", "**"} {
			c := handler{If: "Tool(" + pattern + ")"}
			if !c.applies("Tool", map[string]any{subject: text}) {
				t.Errorf("%q does not cover the %s %q", c.If, subject, text)
			}
		}
	})
}
