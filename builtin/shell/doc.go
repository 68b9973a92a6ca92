// Package shell denies dangerous shell commands in the arguments of tool calls.
//
// It prevents accidents; it is not a sandbox. Rules that allow commands, or ask a person about them, belong in package
// permission, which uses [Parse] of this package. The package imports no third-party library.
//
// Start with [Guard].
package shell
