//go:build !unix

package wireexec

import "os/exec"

// ownGroup does nothing: this system has no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup kills the program, but not its children.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}

// runs reports whether the program was started. This system does not say whether it was reaped.
func runs(cmd *exec.Cmd) bool { return cmd.Process != nil }

// killTree is killGroup.
func killTree(cmd *exec.Cmd) { killGroup(cmd) }
