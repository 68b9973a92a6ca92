// Package terminal makes text safe to show on a terminal.
package terminal
