// Package shell denies dangerous shell commands in the arguments of tools.
//
// It is a seat belt, not a sandbox: it reads commands as a shell would and refuses what a rule names. Rules that allow
// or ask are in package permission, which uses the parser of this package. The package imports no library.
//
// Start with [Guard].
package shell
