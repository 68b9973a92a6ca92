// Package servertest runs NATS servers in processes of their own for tests, which can kill them: one server or a
// cluster. Each process is the program of the test, so TestMain calls [Main] first.
package servertest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/contrib/nats/embedded"
)

// Environment variables of a process that is a server.
const (
	dirVariable    = "HOOKGEN_NATS_DIR"
	configVariable = "HOOKGEN_NATS_CONFIG"
)

// Main runs a server and returns true if a test has started the program as one. The server ends when its standard input
// is closed.
func Main() bool {
	dir := os.Getenv(dirVariable)
	if dir == "" {
		return false
	}
	s, err := embedded.Start(dir, embedded.Config(os.Getenv(configVariable)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(s.ListenURL())
	_, _ = os.Stdin.Read(make([]byte, 1)) // the test never writes
	_ = s.Close()                         // it returns nil
	return true
}

// A Process is a server in a process of its own.
type Process struct {
	URL   string // for nats.Connect
	cmd   *exec.Cmd
	stdin io.Closer
}

// Start starts a server with a configuration file. It stops at the end of the test.
func Start(t testing.TB, dir, config string) *Process {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), dirVariable+"="+dir, configVariable+"="+config)
	stdin, err := c.StdinPipe()
	out, failed := c.StdoutPipe()
	if err = errors.Join(err, failed, c.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = c.Wait() // the test may have killed it
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("the server has not started: ", err)
	}
	return &Process{strings.TrimSpace(url), c, stdin}
}

// ID returns the number of the process.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// Stop stops the server and waits for the end of its process. A server of a cluster lets another one lead first.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	if err := errors.Join(p.stdin.Close(), p.cmd.Wait()); err != nil {
		t.Fatal(err)
	}
}

// Kill kills the server and waits for the end of its process.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // it was killed
}
