//go:build unix

package wireexec

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the program the leader of a process group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the program and all its children in the group. It does nothing if all have ended.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

// killTree kills a program that runs, with its group. On Linux it also kills the descendants that have left the group.
// It does nothing if the program was reaped, because its number may belong to another process then.
func killTree(cmd *exec.Cmd) {
	if cmd.Process == nil || cmd.Process.Signal(syscall.Signal(0)) != nil {
		return
	}
	descendants := stopTree(cmd.Process.Pid)
	killGroup(cmd)
	for _, pid := range descendants {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
