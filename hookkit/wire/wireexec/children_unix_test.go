//go:build unix

package wireexec_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
	for range 6000 { // a minute
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
	t.Run("after the call is given up", func(t *testing.T) {
		child := &childWatch{ready: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { <-child.ready; cancel() }()
		if _, err := command(t, "child, silent", wireexec.Stderr(child), wireexec.Timeout(time.Minute)).Call(ctx,
			wire.Request{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("the error is %v", err)
		}
		ended(t, child.pid)
	})
}

// start starts an act in a session of its own, so that it is not in the process group of the program. It holds the
// output of the program.
func start(act string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{"WIREEXEC_ACT=" + act}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

func init() {
	acts["escaping"] = func() int {
		fmt.Fprintln(os.Stderr, "child", start("silent").Process.Pid, "is ready")
		time.Sleep(time.Hour)
		return 0
	}
	acts["start and end"] = func() int {
		fmt.Fprint(os.Stderr, "child ", start("silent").Process.Pid)
		return 0
	}
	acts["daemon"] = func() int {
		_ = start("start and end").Wait()
		fmt.Fprintln(os.Stderr, " is ready")
		time.Sleep(time.Hour)
		return 0
	}
	acts["daemon, dies"] = func() int {
		_ = start("start and end").Wait()
		fmt.Fprintln(os.Stderr, " is ready")
		return 3
	}
}

// A childWatch receives the standard error of a program, and closes ready when it says that a child is.
type childWatch struct {
	syncBuffer
	ready chan struct{}
	pid   int
}

func (w *childWatch) Write(p []byte) (int, error) {
	n, err := w.syncBuffer.Write(p)
	if _, err := fmt.Sscanf(w.String(), "child %d is ready\n", &w.pid); err == nil {
		close(w.ready)
	}
	return n, err
}

// A script starts a server with setsid. The server is not in the process group of the script and holds its output. A
// call that is given up returns all the same, and so does a call whose program ends. On Linux the server is killed as
// long as its parent runs; a server whose parent has ended lives on.
func TestChildrenThatLeaveTheGroup(t *testing.T) {
	for _, c := range []struct {
		act   string
		lives bool
		want  string
	}{
		{"escaping", runtime.GOOS != "linux", "context canceled"},
		{"daemon", true, "context canceled"},
		{"daemon, dies", true, "exit status 3"},
	} {
		for _, kind := range []string{"command", "process"} {
			t.Run(c.act+", "+kind, func(t *testing.T) {
				child := &childWatch{ready: make(chan struct{})}
				argv, opts := program(t, c.act, wireexec.Stderr(child), wireexec.Timeout(time.Minute))
				var caller wire.Caller = wireexec.Command(argv, opts...)
				closed := func() error { return nil }
				if kind == "process" {
					p := wireexec.Process(argv, opts...)
					caller, closed = p, p.Close
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.want == context.Canceled.Error() {
					go func() { <-child.ready; cancel() }()
				}
				_, err := caller.Call(ctx, wire.Request{})
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("the error is %v, want %q", err, c.want)
				}
				if err := closed(); err != nil {
					t.Error(err)
				}
				<-child.ready
				if !c.lives {
					ended(t, child.pid)
				} else if !alive(child.pid) {
					t.Error("the child was killed; the documentation says that it lives on")
				}
				_ = syscall.Kill(child.pid, syscall.SIGKILL)
			})
		}
	}
}
