package terminal

import (
	"io"
	"os"
)

// IsTerminal reports whether a stream is a terminal, or another character device. A stream that is no file may say so
// with a method of this name.
func IsTerminal(w io.Writer) bool {
	switch w := w.(type) {
	case interface{ IsTerminal() bool }:
		return w.IsTerminal()
	case *os.File:
		info, err := w.Stat()
		return err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return false
}
