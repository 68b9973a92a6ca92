package gen

import (
	"testing"
)

// Only two forms of comments above the package clause are build constraints. The go command ignores the old form in the
// package comment.
func TestLeadingCommentsAreNotConstraints(t *testing.T) {
	for head, fine := range map[string]bool{
		"// Copyright.\n\n":                        true,
		"/* Copyright. */\n\n// Package p is p.\n": true,
		"// Package p is p.\n// +build linux\n":    true,
		"// +build linux\n\n":                      false,
		"//go:build linux\n\n// Package p is p.\n": false,
		"// Copyright.\n\n//go:build linux\n\n":    false,
	} {
		t.Run(head, func(t *testing.T) {
			_, found := readFiles(map[string]string{"spec.go": head + oneSpec + "\n//go:build linux\n"})
			if fine != (len(found) == 0) || !fine && found[0].Rule != "build-constraint" {
				t.Errorf("%v", found)
			}
		})
	}
}

// A file that every build leaves out because of the tag ignore is not of the package. Other files may be of it.
