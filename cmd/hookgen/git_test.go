package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// The files of a revision are neither links nor submodules, and a name may contain anything.
func TestReadRevision(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("needs git and a file system for any name")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module m\n", "mail/spec.go": "spec", "mail/new\nline\tand tab.go": "odd", "mail/deep/x.go": "deep",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("spec.go", filepath.Join(dir, "mail", "link.go")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "all"},
	} {
		if _, err := git(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	r, at, err := openRevision(filepath.Join(dir, "mail"), "HEAD")
	if err != nil || at != "mail" {
		t.Fatal(at, err)
	}
	for dir, want := range map[string]string{
		".": "HEAD:go.mod=module m\n;", "mail": "HEAD:mail/new\nline\tand tab.go=odd;HEAD:mail/spec.go=spec;",
		"mail/deep": "HEAD:mail/deep/x.go=deep;", "none": "", "../mail": "", "--name-only": "", "mail/spec.go": "",
	} {
		files, err := r.read(dir, func(string) bool { return true })
		got := ""
		for _, f := range files {
			got += f.Path + "=" + string(f.Text) + ";"
		}
		if err != nil || got != want {
			t.Errorf("%s: got %q, want %q, %v", dir, got, want, err)
		}
	}
}
