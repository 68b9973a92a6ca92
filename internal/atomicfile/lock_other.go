//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package atomicfile

import "os"

// lockFile does nothing: the system has no file locks that the standard library supports.
func lockFile(*os.File) error { return nil }
