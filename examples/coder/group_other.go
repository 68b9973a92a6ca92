//go:build !unix

package main

import "os/exec"

// Without process groups, only the command itself ends.
func ownGroup(*exec.Cmd)      {}
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
