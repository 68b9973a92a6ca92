package atomicfile

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullLog names the variable that makes this test program append to a log that has no room for its line.
const fullLog = "ATOMICFILE_FULL_LOG"

// TestLinesAreWrittenWholeOrNever limits the size of files, so that only a part of a line can be written. The limit
// holds for a whole process, and the testing package writes files of its own at any time: a child lives with it.
func TestLinesAreWrittenWholeOrNever(t *testing.T) {
	if path := os.Getenv(fullLog); path != "" {
		appendToFullLog(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "log")
	if err := AppendLine(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(program, "-test.run=^TestLinesAreWrittenWholeOrNever$")
	child.Env = append(os.Environ(), fullLog+"="+path)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if data, _ := os.ReadFile(path); string(data) != "first\n" {
		t.Errorf("the file has %q", data)
	}
	if err := AppendLine(path, []byte("second")); err != nil {
		t.Error(err)
	}
	if data, _ := os.ReadFile(path); string(data) != "first\nsecond\n" {
		t.Errorf("the file has %q", data)
	}
}

// appendToFullLog appends a line of 200 bytes where files have at most 100, and fails unless that is refused. The
// limit ends with the line: a run that measures coverage writes a file afterwards.
func appendToFullLog(t *testing.T, path string) {
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	err := AppendLine(path, []byte(strings.Repeat("x", 200)))
	if restored := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); restored != nil {
		t.Fatal(restored)
	}
	if err == nil {
		t.Error("the line was appended")
	}
}
