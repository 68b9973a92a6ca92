package atomicfile

import (
	"os"
	"syscall"
	"unsafe"
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// lockFile waits until no other process has locked the file.
func lockFile(f *os.File) error {
	const exclusive = 2 // LOCKFILE_EXCLUSIVE_LOCK
	var at syscall.Overlapped
	ok, _, err := lockFileEx.Call(f.Fd(), exclusive, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	if ok == 0 {
		return err
	}
	return nil
}
