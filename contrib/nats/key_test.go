package nats

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// names draws texts that imitate paths and patterns.
func names() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{
		"", "/", "//", "a", "a/", "/a", "a.b", "a..b", ".", "..", "*", ">", "a.>", "$KV", "=", "=2E", "==", "=2",
		"%2F", "\xff", "ä", " ", "\r\n", "k", "h", "p", strings.Repeat("/", 300), strings.Repeat("long", 200),
	}), rapid.String(), rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", ".", "/", "*", "="}), 0, 6)
		return strings.Join(parts.Draw(t, "parts"), "/")
	}))
}

// legal is a path that NATS permits as a key, without empty tokens.
var legal = regexp.MustCompile(`^[-_=a-zA-Z0-9]+(\.[-_=a-zA-Z0-9]+)*$`)

// matches reports whether a pattern that ends with > matches a path.
func matches(pattern, path string) bool {
	before, _ := strings.CutSuffix(pattern, ">")
	return len(path) > len(before) && strings.HasPrefix(path, before)
}

func TestPathsAreLegalAndDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := names().Draw(t, "a"), names().Draw(t, "b")
		path, hashed := pathOf(a)
		if !legal.MatchString(path) || len(path) > maxPath {
			t.Fatalf("the path is %q", path)
		}
		if back, ok := unescape(path); ok == hashed || ok && back != a {
			t.Fatalf("%q has the path %q, which is of %q, %t", a, path, back, ok)
		}
		if other, _ := pathOf(b); (other == path) != (a == b) {
			t.Fatalf("%q and %q have the paths %q and %q", a, b, path, other)
		}
		if strings.HasPrefix(a, b) && !hashed && !matches(filterOf(b), path) {
			t.Fatalf("the filter %q of %q does not match %q", filterOf(b), b, path)
		}
	})
}

func FuzzUnescape(f *testing.F) {
	for _, path := range []string{"", "k", "k.", "k.=", "k.a=2Eb", "k.=2", "k.=zz", "k.=61", "h.00", "k..", "p.1.2.k.a"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		key, ok := unescape(path)
		if again, _ := pathOf(key); ok && again != path {
			t.Errorf("%q is the key %q, whose path is %q", path, key, again)
		}
	})
}
