//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package atomicfile

import "os"

// tryLockFile does nothing, like lockFile.
func tryLockFile(*os.File) (bool, error) { return true, nil }

// lockFile does nothing: the system has no file locks that the standard library supports.
func lockFile(*os.File) error { return nil }

// unlockFile does nothing, like lockFile.
func unlockFile(*os.File) error { return nil }
