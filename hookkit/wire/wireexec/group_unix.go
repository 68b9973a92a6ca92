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

// runs reports whether the program was started and not yet reaped.
func runs(cmd *exec.Cmd) bool {
	return cmd.Process != nil && cmd.Process.Signal(syscall.Signal(0)) == nil
}

// killTree is killGroup for a program that runs. On Linux it also kills the descendants that have left the group.
func killTree(cmd *exec.Cmd) {
	var descendants []int
	if runs(cmd) {
		descendants = stopTree(cmd.Process.Pid)
	}
	killGroup(cmd)
	for _, pid := range descendants {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
