//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the process into a group of its own, so that its children can be ended with it, and so that an
// interrupt of the terminal reaches only this program.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminateGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
func killGroup(cmd *exec.Cmd)      { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
