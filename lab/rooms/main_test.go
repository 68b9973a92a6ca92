package main

import (
	"slices"
	"testing"
)

// The hooks of these rooms must stay cheap to link. crypto/sha256 alone, for example, adds 0.2 MB to a program.
func TestCheapRoomsLinkNoLargePackages(t *testing.T) {
	t.Chdir("../..")
	for _, room := range []string{"compact", "limit", "prompt", "repair", "share"} {
		t.Run(room, func(t *testing.T) {
			standard, err := standardOf(room)
			if err != nil || len(standard) > 0 {
				t.Errorf("links %q, %v", standard, err)
			}
		})
	}
	if standard, err := standardOf("external"); err != nil || !slices.Contains(standard, "net/http") {
		t.Errorf("builtin/external links %q, %v, want net/http among them", standard, err)
	}
}
