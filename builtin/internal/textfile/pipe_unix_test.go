//go:build unix

package textfile_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/textfile"
)

// Nobody writes to the pipe, so that reading it would never return.
func TestNamedPipesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := textfile.Read(path, 100)
	if err == nil || !strings.Contains(err.Error(), path+": not a regular file; name another one") {
		t.Errorf("the error is %v", err)
	}
}
