package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Command is a server that runs as a child process and speaks over its standard input and output.
//
// The child gets Env and, of the environment of this program, only PATH, HOME, USER, LOGNAME, SHELL, TERM, LANG,
// LC_ALL, TZ, TMPDIR and on Windows their counterparts. A key of a model provider in this program's environment does
// not reach it. It can use everything else that the user of this program can, for example all files of the user;
// restrict it by a program that sandboxes, as the first of Args.
type Command struct {
	Args   []string  // the program and its arguments. No shell reads them
	Dir    string    // the working directory; empty: that of this program
	Env    []string  // KEY=value, in addition to the environment above
	Stderr io.Writer // the messages of the server; nil: discarded. They may have parts of the conversation
}

// String returns the name of the program, without arguments and environment, which may have keys.
func (c Command) String() string {
	if len(c.Args) == 0 {
		return "command"
	}
	return "command " + filepath.Base(c.Args[0])
}

// Format writes String for every verb.
func (c Command) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// LogValue returns String.
func (c Command) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalJSON encodes String.
func (c Command) MarshalJSON() ([]byte, error) { return json.Marshal(c.String()) }

func (c Command) secrets() (all []string) {
	for _, entry := range c.Env {
		_, value, _ := strings.Cut(entry, "=")
		all = append(all, value)
	}
	return append(all, secretsOfArgs(c.Args[min(len(c.Args), 1):])...)
}

// inherited are the names of the variables that a child gets from the environment of this program.
var inherited = func() []string {
	if runtime.GOOS == "windows" {
		return []string{
			"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE",
			"PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE",
		}
	}
	return []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "TZ", "TMPDIR"}
}()

// environment returns the environment of a child.
func environment(given []string) []string {
	all := make([]string, 0, len(inherited)+len(given))
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			all = append(all, name+"="+value)
		}
	}
	return append(all, given...)
}

// grace is the time for a child to end after its input has ended, and again after the signal to terminate.
const grace = 2 * time.Second

// A process is a running child.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	exited chan struct{}
	stop   func() error
}

func (c Command) open() (*link, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("the Command has no Args; set the program and its arguments")
	}
	p, err := c.start()
	if err != nil {
		return nil, err
	}
	return &link{
		transport: &sdk.IOTransport{Reader: p.stdout, Writer: p.stdin, MaxLineLength: maxMessage},
		halt:      p.stop, ended: p.state,
	}, nil
}

func (c Command) start() (*process, error) {
	input, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer input.Close()
	stdout, output, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close())
	}
	defer output.Close()
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, environment(c.Env), input, output, c.Stderr
	cmd.WaitDelay = grace // for a child of the child that keeps Stderr open
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("the program cannot be started: %w", err), stdin.Close(), stdout.Close())
	}
	p := &process{cmd: cmd, stdin: stdin, stdout: stdout, exited: make(chan struct{})}
	p.stop = sync.OnceValue(p.end)
	go p.wait()
	return p, nil
}

// wait waits for the process to exit and ends its children, so that the reader of its output gets to the end.
func (p *process) wait() {
	_ = p.cmd.Wait() // state has the exit code
	killGroup(p.cmd)
	_ = p.stdin.Close()
	_ = p.stdout.SetReadDeadline(time.Now().Add(grace)) // for a child of the child that has left the group
	close(p.exited)
}

// end ends the process: by the end of its input, by a signal, by force.
func (p *process) end() error {
	_ = p.stdin.Close()
	for _, signal := range []func(*exec.Cmd){terminateGroup, killGroup} {
		if p.within(grace) {
			return nil
		}
		signal(p.cmd)
	}
	if !p.within(2 * grace) {
		return fmt.Errorf("the process %d of the MCP server does not end", p.cmd.Process.Pid)
	}
	return nil
}

// within reports whether the process exits within the time.
func (p *process) within(d time.Duration) bool {
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-p.exited:
		return true
	case <-late.C:
		return false
	}
}

// state returns the exit status for errors. The process of a closed connection has a moment to exit.
func (p *process) state() string {
	if !p.within(grace) {
		return ""
	}
	return fmt.Sprintf(" (%v)", p.cmd.ProcessState)
}
