package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// asNobody calls f as a user who owns no file, if this user is root, to whom permissions do not apply.
func asNobody(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if os.Geteuid() == 0 {
			runtime.LockOSThread() // the thread ends with the goroutine
			_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, 65534, 0, 0)
		}
		f()
	}()
	<-done
}

// Each case takes permissions away from a file that has a value. The value is there when they are given back.
func TestMissingPermissionsAreClearErrors(t *testing.T) {
	for _, c := range []struct {
		name      string
		file, dir fs.FileMode
		open, put string // the errors
	}{
		{"file", 0o444, 0o777, "", "readonly database (8); check the permissions of the file and of its directory"},
		{"directory", 0o666, 0o555, "readonly database (1544); check the permissions of the file and of its dir", ""},
		{"both", 0o444, 0o555, "check the permissions of the file and of its directory", ""},
		{"unreadable", 0, 0o755, "unable to open database file (14); check the permissions of the file, and", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "files")
			path := filepath.Join(dir, "agent.db")
			db, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join((Store{db}).Put(t.Context(), "key", []byte("value")), db.Close()); err != nil {
				t.Fatal(err)
			}
			modes := func(outer, dirMode, file fs.FileMode) {
				t.Helper()
				err := errors.Join(os.Chmod(filepath.Dir(top), outer), os.Chmod(dir, dirMode), os.Chmod(path, file))
				if err != nil {
					t.Fatal(err)
				}
			}
			modes(0o755, c.dir, c.file)
			asNobody(func() {
				db, err := Open(path, Options{})
				if c.open != "" {
					if err == nil || !strings.Contains(err.Error(), c.open) {
						t.Errorf("Open: got %v, want %s", err, c.open)
					}
					return
				}
				if err != nil {
					t.Errorf("Open: %v", err)
					return
				}
				if got, err := (Store{db}).Get(t.Context(), "key"); string(got) != "value" {
					t.Errorf("Get: %q, %v", got, err)
				}
				if err := (Store{db}).Put(t.Context(), "key", nil); err == nil || !strings.Contains(err.Error(), c.put) {
					t.Errorf("Put: got %v, want %s", err, c.put)
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
			modes(0o700, 0o700, 0o600)
			if got, err := (Store{reopen(t, path)}).Get(t.Context(), "key"); string(got) != "value" {
				t.Errorf("with permissions: %q, %v", got, err)
			}
		})
	}
}

func TestNewFileNeedsAWritableDirectory(t *testing.T) {
	top := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(top), 0o755), os.Chmod(top, 0o555)); err != nil {
		t.Fatal(err)
	}
	asNobody(func() {
		if _, err := Open(filepath.Join(top, "agent.db"), Options{}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("got %v", err)
		}
	})
}
