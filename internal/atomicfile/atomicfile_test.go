package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestFileIsReplacedWholeForItsOwner(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "deep", "er", "x.json")
	for _, text := range []string{"first", "second"} {
		if err := Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("got %q, %v", got, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	left, _ := os.ReadDir(filepath.Dir(path))
	if len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFailedReplacementKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("x")); err == nil {
		t.Error("a directory was replaced")
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFileIsSyncedBeforeItIsRenamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	if err := Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	defer func() { syncFile = (*os.File).Sync }()
	for _, full := range []error{errors.New("disk full"), nil} {
		synced := ""
		syncFile = func(f *os.File) error {
			data, err := os.ReadFile(f.Name())
			synced = string(data)
			if now, _ := os.ReadFile(path); string(now) != "old" {
				t.Errorf("the file has %q before the new one is on disk", now)
			}
			return errors.Join(err, full)
		}
		if err := Write(path, []byte("new")); !errors.Is(err, full) || synced != "new" {
			t.Errorf("%q is on disk, %v", synced, err)
		}
		want := "new"
		if full != nil {
			want = "old"
		}
		if now, err := os.ReadFile(path); string(now) != want || err != nil {
			t.Errorf("the file has %q, want %q, %v", now, want, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestTemporaryFilesOfKilledProgramsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * leftFor)
	stay := []string{".new.json.1" + tempExt, ".x.json.1.tmp", "x" + tempExt, "x.json"}
	for _, name := range append([]string{".x.json.1" + tempExt, ".y.json.23" + tempExt}, stay...) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if name != stay[0] {
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := Write(filepath.Join(dir, "x.json"), []byte("whole")); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if got, want := strings.Join(names, " "), strings.Join(stay, " "); got != want {
		t.Errorf("left are %s, want %s", got, want)
	}
	for i := range 2 * lookedAt { // what is remembered of directories is bounded
		removeLeft(filepath.Join(dir, fmt.Sprint(i)))
	}
	if n := len(looked.dirs); n > lookedAt {
		t.Errorf("%d directories are remembered", n)
	}
}

func TestLinesAppendedAtOnceDoNotMix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "log.jsonl")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			for range 20 {
				if err := AppendLine(path, []byte(strings.Repeat(string(rune('a'+i)), 300))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(lines) != 400 {
		t.Errorf("%d lines, want 400", len(lines))
	}
	for _, line := range lines {
		if len(line) != 300 || strings.Trim(line, line[:1]) != "" {
			t.Errorf("a mixed line: %q", line)
		}
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestUnfinishedLineIsEndedFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("whole\ntor"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := AppendLine(path, []byte("next")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "whole\ntor\nnext\n" {
		t.Errorf("got %q", got)
	}
	if err := AppendLine(filepath.Dir(path), nil); err == nil {
		t.Error("a line was appended to a directory")
	}
}

func TestLongFileNamesAreLockedAndReplaced(t *testing.T) {
	dir := t.TempDir()
	for _, last := range []string{"a", "b"} {
		path := filepath.Join(dir, strings.Repeat("ä", 100)+last)
		unlock, err := LockShared(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(path, []byte(last)); err != nil {
			t.Error(err)
		}
		unlock()
		if text, err := os.ReadFile(path); string(text) != last || err != nil {
			t.Errorf("the file has %q, %v", text, err)
		}
	}
	locks, err := filepath.Glob(filepath.Join(dir, ".*.lock"))
	if err != nil || len(locks) != 2 {
		t.Errorf("the locks are %q, %v", locks, err)
	}
}
