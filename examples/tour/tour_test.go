package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// highlights must appear in the output of the tour in this order.
var highlights = []string{
	"1. A spec", "//hookgen:points", "BeforeSend(Message) (spec.Replace, Refuse, spec.FailClosed)",
	"$ hookgen mail", "wrote mail", "hooks_gen.go: 3 points",
	"2. A hook", "func (l Limit) BeforeSend(", "$ go build ./limit\n\n",
	"3. A wrong hook", "+ return mail.Junk{", "$ go build ./limit", "mail.Junk does not implement mail.BeforeSendOutcome",
	"4. A program", "mail.MatchBeforeSend(exit,",
	"$ go run .", "sent: Good morning\n", "not sent: refused by limit.Limit: too long",
	"5. A record", "$ hooklog show run.jsonl", "BeforeSend", "continue", "Refuse", `by limit.Limit "too long"`,
}

// readModule reads the files that the tools of the tour will read. The go command caches the result of a test until a
// file changes that the test itself has read.
func readModule(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"cmd/hookgen", "cmd/hooklog", "gen", "hookkit", "internal", "spec"} {
		err := filepath.WalkDir(filepath.Join("..", "..", dir), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				_, err = os.ReadFile(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The directory of the clone and that of temporary files have blanks in their names here, and GOFLAGS asks for a vendor
// directory.
func TestTourRunsInAnyDirectory(t *testing.T) {
	readModule(t)
	temporary := filepath.Join(t.TempDir(), "a temporary directory")
	clone := filepath.Join(t.TempDir(), "a clone")
	if err := os.Mkdir(temporary, 0o777); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		clone = root // whose packages are in the build cache
	} else if os.Symlink(root, clone) != nil {
		clone = root // Windows may forbid symbolic links
	}
	t.Chdir(clone)
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary) // for Windows
	t.Setenv("GOFLAGS", "-mod=vendor")
	t.Setenv("GOPROXY", "off")
	var out strings.Builder
	if err := run(t.Context(), &out, false); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	rest := out.String()
	for _, want := range highlights {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("no %q after the previous highlight, in:\n%s", want, &out)
		}
		rest = after
	}
	if lines := strings.Count(out.String(), "\n"); lines > 60 {
		t.Errorf("the output has %d lines", lines)
	}
	if left, err := os.ReadDir(temporary); len(left) > 0 || err != nil {
		t.Error("not removed:", left, err)
	}
}

func TestTourSaysWhatIsMissing(t *testing.T) {
	t.Run("clone", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if err := run(t.Context(), t.Output(), false); err == nil || !strings.Contains(err.Error(), "root of a clone") {
			t.Error(err)
		}
	})
	t.Run("go command", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		if err := run(t.Context(), t.Output(), false); err == nil || !strings.Contains(err.Error(), "install Go 1.26") {
			t.Error(err)
		}
	})
}

func TestTourFailsIfACommandDisagrees(t *testing.T) {
	s := &stage{ctx: t.Context(), out: t.Output(), dir: t.TempDir(), files: map[string]string{"a.txt": "one\ntwo\n"}}
	if s.refused("go", "version") == nil {
		t.Error("refused accepted a command that succeeded")
	}
	if err := s.refused("go", "nonsense"); err != nil {
		t.Error(err)
	}
	if s.succeeds("go", "nonsense") == nil {
		t.Error("succeeds accepted a command that failed")
	}
	if s.refused("hookgen") == nil {
		t.Error("refused accepted a missing program")
	}
	if s.edit("a.txt", "three\n", "four\n") == nil {
		t.Error("edit accepted a line that does not exist")
	}
	if s.show("a.txt", "three") == nil {
		t.Error("show accepted a line that does not exist")
	}
}
