package main

import (
	"os"
	"runtime"
	"slices"
	"testing"
)

// A hook of a room that needs nothing large stays below the bound. The bound is for the format and processor of the
// table.
func TestHooksAddLittleSize(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the bound is for linux/amd64")
	}
	alone, err := meter(true).firing("", "")
	if err != nil {
		t.Fatal(err)
	}
	rooms, err := os.ReadDir("builtin")
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	for _, room := range rooms {
		if _, large := needs[room.Name()]; large || !room.IsDir() {
			continue
		}
		hook, err := hookOf(room.Name())
		if err != nil {
			t.Fatal(err)
		}
		if hook == "" {
			continue
		}
		measured++
		t.Run(room.Name(), func(t *testing.T) {
			size, err := meter(true).sizeWith(room.Name(), hook)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkSize(room.Name(), size-alone); err != nil {
				t.Error(err)
			}
		})
	}
	if measured == 0 {
		t.Error("no room was measured")
	}
}

func TestLargeHookNeedsAReason(t *testing.T) {
	if err := checkSize("limit", maxAdded+1); err == nil {
		t.Error("a hook of limit above the bound was accepted")
	}
	if err := checkSize("shell", maxAdded+1); err != nil {
		t.Errorf("a hook of shell, which has a reason, was refused: %v", err)
	}
}

// The hooks of these rooms must stay cheap to link. crypto/sha256 alone, for example, adds 0.2 MB to a program.
func TestCheapRoomsLinkNoLargePackages(t *testing.T) {
	for _, room := range []string{"limit", "prompt", "repair", "share"} {
		t.Run(room, func(t *testing.T) {
			_, standard, err := linked("./builtin/" + room)
			if err != nil || len(standard) > 0 {
				t.Errorf("links %q, %v", standard, err)
			}
		})
	}
	if _, standard, err := linked("./builtin/declared"); err != nil || !slices.Contains(standard, "net/http") {
		t.Errorf("builtin/declared links %q, %v, want net/http among them", standard, err)
	}
}
