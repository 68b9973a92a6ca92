//go:build unix

package wireexec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/hookkit/wire/wireexec"
)

// alive reports whether a process exists.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) }

// zombie reports whether a process has ended and waits for its parent, which may be a container without an init.
func zombie(pid int) bool {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(text), ") ")
	return strings.HasPrefix(after, "Z")
}

func ended(t *testing.T, pid int) {
	t.Helper()
	for range 500 {
		if !alive(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is alive", pid)
}

// The children of a program end with it, whether it replied or was killed.
func TestChildrenEndWithTheProgram(t *testing.T) {
	t.Run("after a reply", func(t *testing.T) {
		r, err := command(t, "child").Call(t.Context(), wire.Request{})
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(r.Decision)
		if err != nil {
			t.Fatal(err)
		}
		ended(t, pid)
	})
	t.Run("at the time limit", func(t *testing.T) {
		var stderr syncBuffer
		_, err := command(t, "child, silent", wireexec.Timeout(time.Second),
			wireexec.Stderr(&stderr)).Call(t.Context(), wire.Request{})
		if err == nil {
			t.Fatal("no error")
		}
		var pid int
		if _, err := fmt.Sscanf(stderr.String(), "child %d", &pid); err != nil {
			t.Fatalf("%v in %q", err, stderr.String())
		}
		ended(t, pid)
	})
}
