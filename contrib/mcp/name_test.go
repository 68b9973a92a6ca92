package mcp

import (
	"regexp"
	"strings"
	"testing"
)

var legalTool = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)

func TestToolNames(t *testing.T) {
	for remote, want := range map[string]string{
		"read_file":             "files__read_file",
		"Read-File":             "files__Read-File",
		"_":                     "files___",
		"a.b":                   "files__a_b_2e7336dc",
		"a b":                   "files__a_b_c8687a08",
		strings.Repeat("a", 57): "files__" + strings.Repeat("a", 57),
	} {
		t.Run(remote, func(t *testing.T) {
			if got := toolName("files", remote); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func FuzzToolNames(f *testing.F) {
	f.Add("read_file", "read.file")
	f.Add("", "\xff")
	f.Add(strings.Repeat("a", 200), strings.Repeat("a", 201))
	f.Add("ä", "ö")
	f.Fuzz(func(t *testing.T, a, b string) {
		first, second := toolName("files", a), toolName("files", b)
		if !legalTool.MatchString(first) || !strings.HasPrefix(first, "files__") {
			t.Errorf("%q has the name %q", a, first)
		}
		if a != b && first == second && len(a) < 50 && len(b) < 50 {
			t.Errorf("%q and %q have the name %q", a, b, first)
		}
	})
}
