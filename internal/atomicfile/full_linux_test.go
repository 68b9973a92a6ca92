package atomicfile

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestLinesAreWrittenWholeOrNever limits the size of files, so that only a part of a line can be written.
func TestLinesAreWrittenWholeOrNever(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := AppendLine(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit := before
	limit.Cur = 100
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	err := AppendLine(path, []byte(strings.Repeat("x", 200)))
	if restored := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); restored != nil {
		t.Fatal(restored)
	}
	data, _ := os.ReadFile(path)
	if err == nil || string(data) != "first\n" {
		t.Errorf("the file has %q, %v", data, err)
	}
	if err := AppendLine(path, []byte("second")); err != nil {
		t.Error(err)
	}
	if data, _ = os.ReadFile(path); string(data) != "first\nsecond\n" {
		t.Errorf("the file has %q", data)
	}
}
