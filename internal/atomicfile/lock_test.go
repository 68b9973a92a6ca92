package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestABriefLockWaitsOncePerPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	held, err := LockShared(path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := openLock(path) // as another process opens it
	if err != nil {
		t.Fatal(err)
	}
	held()
	if locked, err := tryLockFile(other); !locked || err != nil {
		t.Fatalf("locked %v, %v", locked, err)
	}
	probe, err := openLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if locked, _ := tryLockFile(probe); locked {
		t.Skip("the system has no file locks")
	}
	before := Brief
	Brief = 10 * time.Millisecond
	defer func() { Brief = before }()
	LockSharedBriefly(path)()
	if _, waited := stopped.Load(path); !waited {
		t.Error("the path is not remembered")
	}
	Brief = time.Hour
	LockSharedBriefly(path)() // waits no second time
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	unlock := LockSharedBriefly(path)
	if locked, err := tryLockFile(probe); locked || err != nil {
		t.Errorf("another process has the lock: %v, %v", locked, err)
	}
	unlock()
	if locked, err := tryLockFile(probe); !locked || err != nil {
		t.Errorf("another process cannot have the lock: %v, %v", locked, err)
	}
	if _, waited := stopped.Load(path); waited {
		t.Error("the path is still remembered")
	}
	_ = probe.Close()
}

func TestABriefLockNeedsNoLockFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.Mkdir(filepath.Join(filepath.Dir(path), ".log.lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	LockSharedBriefly(path)()
	LockSharedBriefly(path)()
}
