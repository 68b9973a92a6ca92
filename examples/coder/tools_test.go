package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// newSpace returns a workspace with a few files.
func newSpace(t *testing.T) *workspace {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.txt": "one\ntwo\nthree\n", "sub/b.txt": "two\n", ".env": "two\n", "key.pem": "two\n", "binary": "two\x00",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := openWorkspace(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.root.Close() })
	return w
}

func TestNoPathLeadsOutOfTheWorkspace(t *testing.T) {
	outside := t.TempDir()
	file := filepath.Join(outside, "secret.txt")
	if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newSpace(t)
	for name, target := range map[string]string{"file": file, "dir": outside} {
		if err := os.Symlink(target, filepath.Join(w.dir, name)); err != nil {
			t.Skip(err)
		}
	}
	for _, path := range []string{file, "../x", "file", "dir/secret.txt", "sub/../../x", "/etc/passwd"} {
		t.Run(path, func(t *testing.T) {
			if got, err := w.read(t.Context(), readArgs{Path: path}); err == nil {
				t.Errorf("read %q", got)
			}
			got, err := w.list(t.Context(), listArgs{Path: filepath.Dir(path)})
			if err == nil && strings.Contains(got, "secret") {
				t.Errorf("listed %q", got)
			}
			got, err = w.search(t.Context(), searchArgs{Pattern: "secret", Path: path})
			if err == nil && got != "no match" {
				t.Errorf("found %q", got)
			}
			if _, err := w.edit(t.Context(), editArgs{Path: path, Old: "secret", New: "changed"}); err == nil {
				t.Error("edited")
			}
			if _, err := w.write(t.Context(), writeArgs{Path: path, Content: "changed"}); err == nil {
				t.Error("written")
			}
		})
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "secret" {
		t.Errorf("the file outside is %q, %v", text, err)
	}
}

func TestReadReturnsTheLinesAskedFor(t *testing.T) {
	w := newSpace(t)
	for _, c := range []struct {
		args readArgs
		want string // "": an error
	}{
		{readArgs{Path: "a.txt"}, "one\ntwo\nthree\n"},
		{readArgs{Path: filepath.Join(w.dir, "a.txt")}, "one\ntwo\nthree\n"},
		{readArgs{Path: "a.txt", First: 2, Lines: 1}, "two\n\n[the file has 3 lines; continue with first: 3]"},
		{readArgs{Path: "a.txt", First: 9}, ""},
		{readArgs{Path: "binary"}, ""},
		{readArgs{Path: "sub"}, ""},
		{readArgs{Path: "missing"}, ""},
	} {
		got, err := w.read(t.Context(), c.args)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: got %q, %v", c.args, got, err)
		}
	}
}

func TestSearchSkipsSecretsAndBinaries(t *testing.T) {
	w := newSpace(t)
	got, err := w.search(t.Context(), searchArgs{Pattern: "^t.o$"})
	if want := "a.txt:2: two\nsub/b.txt:1: two\n"; err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := w.search(t.Context(), searchArgs{Pattern: "("}); err == nil {
		t.Error("a wrong expression is accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.search(ctx, searchArgs{Pattern: "x"}); err == nil {
		t.Error("a cancelled search goes on")
	}
}

func TestEditReplacesOneText(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		want           string // the difference; "": an error
	}{
		{"line", "two", "2", "a.txt, line 2\n  one\n- two\n+ 2\n  three\n"},
		{"removal", "two\n", "", "a.txt, line 2\n  one\n- two\n  three\n"},
		{"addition", "three\n", "three\nfour\n", "a.txt, line 4\n  three\n+ four\n"},
		{"several times", "e", "x", ""},
		{"missing", "four", "4", ""},
		{"empty", "", "x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newSpace(t)
			got, err := w.edit(t.Context(), editArgs{Path: "a.txt", Old: c.old, New: c.new})
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestUndoRestoresFilesInReverse(t *testing.T) {
	w := newSpace(t)
	if _, err := w.write(t.Context(), writeArgs{Path: "new/c.txt", Content: "1"}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"2", "3"} {
		if _, err := w.write(t.Context(), writeArgs{Path: "a.txt", Content: text}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"2", "one\ntwo\nthree\n", "one\ntwo\nthree\n"} {
		w.undo()
		if got, err := w.text("a.txt"); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	if _, err := w.text("new/c.txt"); !os.IsNotExist(err) {
		t.Errorf("the new file is still there: %v", err)
	}
	if got := w.undo(); !strings.Contains(got, "no change") {
		t.Errorf("got %q", got)
	}
}

func TestShellEndsAndHasNoKeys(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	t.Setenv("OPENAI_API_KEY", "the-key")
	w := newSpace(t)
	got, err := w.shell(t.Context(), shellArgs{Command: "env; ls; exit 3"})
	if err != nil || !strings.Contains(got, "a.txt") || !strings.Contains(got, "[exit status 3]") {
		t.Errorf("got %q, %v", got, err)
	}
	if strings.Contains(got, "the-key") {
		t.Error("the command has the key of the model")
	}
	got, err = w.shell(t.Context(), shellArgs{Command: "yes | head -c 3000000"})
	if err != nil || len(got) != maxFile {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	// A child of the command holds its output open. The command still ends when its context does.
	ctx, cancel := context.WithCancel(t.Context())
	mark := filepath.Join(w.dir, "started")
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(mark); err == nil {
				return
			}
			runtime.Gosched()
		}
	}()
	if _, err = w.shell(ctx, shellArgs{Command: "sleep 600 & touch started; wait"}); err == nil {
		t.Error("a cancelled command succeeded")
	}
}

func TestTextCannotCommandTheTerminal(t *testing.T) {
	if got := clean("a\x1b[2J\rb\u202ec\td\n"); got != "a[2Jbc\td\n" {
		t.Errorf("got %q", got)
	}
}
