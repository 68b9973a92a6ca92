package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPackageNamed(t *testing.T) {
	for dir, want := range map[string]string{
		"mail": "mail", "Mail-Room": "mailroom", "2026": "mail2026", "": "mail", "/": "mail", "func": "funchooks",
		"main": "mainhooks", "Über": "ber", "a.b": "ab",
	} {
		if got := packageNamed(dir); got != want {
			t.Errorf("%q: got %q, want %q", dir, got, want)
		}
	}
}

func TestDirectoriesOfPackages(t *testing.T) {
	root := t.TempDir()
	t.Setenv("GOWORK", "off")
	text := "module example.com/m\n\nreplace example.com/m/inner => ./elsewhere\n" +
		"replace example.com/near v1.0.0 => ../near\nreplace example.com/far => example.com/fork v1.0.0\n"
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	m := modulesNear(root)
	for path, want := range map[string]string{
		"example.com/m":         ".",
		"example.com/m/a/b":     "a/b",
		"example.com/m/inner":   "elsewhere",
		"example.com/m/inner/a": "elsewhere/a",
		"example.com/m/inners":  "inners",
		"example.com/near/a":    "../near/a",
		"example.com/far/a":     "vendor/example.com/far/a",
		"example.com/mail":      "vendor/example.com/mail",
	} {
		if got := m.directory(path); got != filepath.Join(root, filepath.FromSlash(want)) {
			t.Errorf("%s is in %s, want %s", path, got, want)
		}
	}
}
