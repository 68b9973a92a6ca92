package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"
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

// LockSharedBriefly is LockShared for a writer that must not wait for long, for example because another process holds
// the lock and has stopped. It waits for at most a second, and then only once per path until it has the lock again. If
// it cannot have the lock, or cannot make its file, only this process is locked out.
func LockSharedBriefly(path string) (unlock func()) {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	l := OpenSharedLock(path)
	l.LockBriefly()
	return func() {
		_ = l.Close() // also unlocks it for other processes
		l.local.Unlock()
	}
}

// lockBriefly locks an open lock file and reports whether it could.
func lockBriefly(path string, f *os.File) bool {
	_, waited := stopped.Load(path)
	var deadline time.Time
	for {
		locked, err := tryLockFile(f)
		if !locked && deadline.IsZero() { // the usual case needs no clock
			deadline = time.Now().Add(Brief)
		}
		switch {
		case locked:
			if waited {
				stopped.Delete(path)
			}
			return true
		case err == nil && !waited && time.Now().Before(deadline):
			time.Sleep(time.Millisecond)
			continue
		case err == nil:
			stopped.Store(path, true)
		}
		return false
	}
}

// A SharedLock is a lock as [LockSharedBriefly] takes it, for a writer that locks one path often: its file stays open.
type SharedLock struct {
	path  string
	local *sync.Mutex
	file  *os.File // nil if it cannot be made
	held  bool     // against other processes too; guarded by local
}

// OpenSharedLock returns the lock of a path.
func OpenSharedLock(path string) *SharedLock {
	f, err := openLock(path)
	if err != nil {
		f = nil
	}
	return &SharedLock{path: path, local: localLock(path), file: f}
}

// LockBriefly is LockSharedBriefly. The caller must call Unlock before it locks the path again.
func (l *SharedLock) LockBriefly() {
	l.local.Lock()
	l.held = l.file != nil && lockBriefly(l.path, l.file)
}

// Unlock unlocks the path.
func (l *SharedLock) Unlock() {
	if l.held {
		_ = unlockFile(l.file)
	}
	l.held = false
	l.local.Unlock()
}

// Close closes the file.
func (l *SharedLock) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Brief is the time for which LockSharedBriefly waits. Tests with several processes set it: a busy machine may stop one
// of them for longer while it holds the lock.
var Brief = time.Second

// stopped holds the paths whose locks could not be had.
var stopped sync.Map

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
