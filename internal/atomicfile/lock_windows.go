package atomicfile

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var (
	kernel32     = syscall.NewLazyDLL("kernel32.dll")
	lockFileEx   = kernel32.NewProc("LockFileEx")
	unlockFileEx = kernel32.NewProc("UnlockFileEx")
)

const (
	failImmediately = 1 // LOCKFILE_FAIL_IMMEDIATELY
	exclusive       = 2 // LOCKFILE_EXCLUSIVE_LOCK
	lockViolation   = syscall.Errno(33)
)

func lock(f *os.File, flags uintptr) error {
	var at syscall.Overlapped
	ok, _, err := lockFileEx.Call(f.Fd(), flags, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	if ok == 0 {
		return err
	}
	return nil
}

// tryLockFile locks the file unless another process has locked it.
func tryLockFile(f *os.File) (bool, error) {
	err := lock(f, exclusive|failImmediately)
	if errors.Is(err, lockViolation) {
		return false, nil
	}
	return err == nil, err
}

// lockFile waits until no other process has locked the file.
func lockFile(f *os.File) error { return lock(f, exclusive) }

// unlockFile unlocks the file for other processes.
func unlockFile(f *os.File) error {
	var at syscall.Overlapped
	ok, _, err := unlockFileEx.Call(f.Fd(), 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	if ok == 0 {
		return err
	}
	return nil
}
