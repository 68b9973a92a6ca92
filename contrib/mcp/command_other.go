//go:build !unix

package mcp

import "os/exec"

// Without process groups the children of the process are on their own.
func ownGroup(*exec.Cmd)           {}
func terminateGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
func killGroup(cmd *exec.Cmd)      { _ = cmd.Process.Kill() }
