//go:build !unix

package mcp

import "os/exec"

// There are no process groups, so the children of the process are on their own.
func ownGroup(*exec.Cmd)           {}
func terminateGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
func killGroup(cmd *exec.Cmd)      { _ = cmd.Process.Kill() }
