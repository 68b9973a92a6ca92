package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// LockShared locks a path as [Lock] does, and against other processes that call LockShared. It keeps an empty file
// ".NAME.lock" next to the path. If a process that holds the lock is killed, the system unlocks it. Missing directories
// are made. On systems without file locks, only this process is locked out.
func LockShared(path string) (unlock func(), err error) {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to // all links to a file have one lock
	}
	local := Lock(path)
	f, err := openLock(path)
	if err == nil {
		if err = lockFile(f); err != nil {
			err = errors.Join(err, f.Close())
		}
	}
	if err != nil {
		local()
		return nil, err
	}
	return func() {
		_ = f.Close() // also unlocks it
		local()
	}, nil
}

func openLock(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	if len(base) > maxName {
		base = shortened(base)
	}
	if dir != "" {
		if err := os.MkdirAll(dir, dirMode); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(filepath.Join(dir, "."+base+".lock"), os.O_CREATE|os.O_RDWR, fileMode)
}
