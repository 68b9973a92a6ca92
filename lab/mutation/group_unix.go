//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// endTogether lets the end of cmd's context kill its child processes, too.
func endTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
