// Package terminal escapes untrusted text before it is written to a terminal.
package terminal
