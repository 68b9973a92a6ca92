//go:build unix

package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/record"
)

// places make something else than a file at a path.
var places = map[string]func(path string) error{
	"a pipe":           func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"a directory":      func(path string) error { return os.Mkdir(path, 0o700) },
	"a device":         func(path string) error { return os.Symlink(os.DevNull, path) },
	"a link to itself": func(path string) error { return os.Symlink(path, path) },
}

func TestAuditWritesOnlyToFiles(t *testing.T) {
	for name, place := range places {
		for when, before := range map[string]int{"at first": 0, "later": 2} {
			t.Run(name+" "+when, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "audit.jsonl")
				var reported []error
				log := &record.Audit{Path: path, OnError: func(err error) { reported = append(reported, err) }}
				for range before {
					fire(t, log)
				}
				if before > 0 {
					if err := os.Rename(path, path+".1"); err != nil {
						t.Fatal(err)
					}
				}
				if err := place(path); err != nil {
					t.Skip(err)
				}
				fire(t, log)
				fire(t, log)
				if len(reported) != 2 || !strings.Contains(reported[1].Error(), "2 so far") {
					t.Errorf("reported: %v", reported)
				}
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				fire(t, log)
				check := record.AuditCheck{}
				if before > 0 {
					check.After = verified(t, path+".1", record.AuditCheck{}).Hash
				}
				if s := verified(t, path, check); s.Lost != 2 || s.Seq != uint64(before)+1 {
					t.Errorf("state: %+v", s)
				}
			})
		}
	}
}

func TestHeadsAreWrittenOnlyToTheirFiles(t *testing.T) {
	long := strings.Repeat("important ", 100)
	places := map[string]func(path string) error{
		"another file": func(path string) error { return os.WriteFile(path, []byte(long), 0o600) },
	}
	for name, place := range allPlaces(places) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, headFile := filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "head")
			if err := place(headFile); err != nil {
				t.Skip(err)
			}
			var reported []error
			with := &record.Audit{Path: path, HeadFile: headFile, OnError: func(err error) { reported = append(reported, err) }}
			fire(t, with) // a new program
			fire(t, &record.Audit{Path: path, OnError: func(err error) { t.Error(err) }})
			fire(t, with) // a program that knows the log
			if len(reported) != 2 {
				t.Errorf("reported: %v", reported)
			}
			if name == "another file" && string(fixture.ReadFile(t, headFile)) != long {
				t.Error("the file was changed")
			}
			verified(t, path, record.AuditCheck{})
		})
	}
}

func allPlaces(more map[string]func(path string) error) map[string]func(path string) error {
	for name, place := range places {
		more[name] = place
	}
	return more
}
