//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the command into a process group of its own, so that it ends together with its children.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
