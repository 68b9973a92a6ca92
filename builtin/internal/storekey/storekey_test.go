package storekey

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/generated/agent"
)

// names draws names that imitate keys.
func names() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{
		"", "/", "//", "a", "a/", "/a", "%2F", "%", "%2", "history/writer", "session", "\xff", "ä", ".", "..", "a b", "+",
	}), rapid.String())
}

// keyed are the arguments of Of.
type keyed struct {
	kind  string
	owner agent.Identity
	parts []string
}

func draw(t *rapid.T, label string) keyed {
	return keyed{
		rapid.SampledFrom([]string{"session", "history", "checkpoint"}).Draw(t, label+" kind"),
		agent.Identity{
			Tenant: names().Draw(t, label+" tenant"), User: names().Draw(t, label+" user"),
			Conversation: names().Draw(t, label+" conversation"),
		},
		rapid.SliceOfN(names(), 0, 3).Draw(t, label+" parts"),
	}
}

func (k keyed) key() string { return Of(k.kind, k.owner, k.parts...) }

func TestDifferentValuesHaveDifferentKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		same := a.kind == b.kind && a.owner == b.owner && slices.Equal(a.parts, b.parts)
		if (a.key() == b.key()) != same {
			t.Errorf("%q and %q have the keys %q and %q", a, b, a.key(), b.key())
		}
		if a.kind != b.kind && strings.HasPrefix(a.key(), Prefix(b.kind)) {
			t.Errorf("%q is listed with the kind %s", a.key(), b.kind)
		}
	})
}

func TestKeysAreParsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := draw(t, "a")
		owner, parts, ok := Parse(a.kind, a.key())
		if !ok || owner != a.owner || !slices.Equal(parts, a.parts) {
			t.Errorf("%q was parsed as %q, %q, %t", a, owner, parts, ok)
		}
	})
}

func FuzzForeignKeysAreNotParsed(f *testing.F) {
	for _, key := range []string{
		"",
		"session",
		"session/",
		"session////",
		"session/a/b/c/",
		"session/%/b/c/d",
		"history/a",
	} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if owner, parts, ok := Parse("session", key); ok && Of("session", owner, parts...) != key {
			t.Errorf("%q was parsed as %q, %q", key, owner, parts)
		}
	})
}
