package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/rotated"
)

// A file is one of the files of a record. It is open while it is read, and for a while after that. A rotation renames
// it, so it is found again by its identity. Its methods may be called concurrently.
type file struct {
	path    string // of the record
	name    string // for people
	info    fs.FileInfo
	removed bool // by a rotation; guarded by the mutex of the index

	mu     sync.Mutex // guards the rest
	handle *os.File   // nil while it is closed
	head   []byte     // its first bytes
	used   time.Time
}

// An older file of a record is closed when nobody has read it for a while, or when others were read after it. An open
// file takes room on the disk after a rotation has removed it.
const (
	idleAfter = 30 * time.Second
	mostOpen  = 8
)

// errRemoved reports that a file was removed by a rotation.
var errRemoved = errors.New("a rotation has removed the file with this event; only its numbers are left")

// openFiles opens the files of a record, the oldest first.
func openFiles(path string) ([]*file, error) {
	opened, err := rotated.Open(path)
	var files []*file
	for _, f := range opened {
		files = append(files, newFile(path, filepath.Base(f.Name()), f))
	}
	return files, err
}

func newFile(path, name string, f rotated.File) *file {
	return &file{path: path, name: name, info: f.Info, handle: f.File, used: time.Now()}
}

// use passes the open file to a function.
func (f *file) use(read func(*os.File) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.handle == nil {
		if err := f.find(); err != nil {
			return err
		}
	}
	f.used = time.Now()
	return read(f.handle)
}

// find opens the file under the name that it has now.
func (f *file) find() error {
	all, err := rotated.Existing(f.path)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(o rotated.File) bool { // another file may have the number of one that was removed
		return os.SameFile(o.Info, f.info) && bytes.Equal(headOf(o, len(f.head)), f.head)
	})
	if at >= 0 {
		f.handle = all[at].File
		all = slices.Delete(all, at, at+1)
	}
	rotated.Close(all)
	if f.handle == nil {
		return fmt.Errorf("%s: %w", f.name, errRemoved)
	}
	return nil
}

// headOf returns the first bytes of a file, at most most.
func headOf(f io.ReaderAt, most int) []byte {
	head := make([]byte, most)
	n, _ := f.ReadAt(head, 0)
	return head[:n]
}

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(p []byte, offset int64) (n int, err error) {
	err = f.use(func(handle *os.File) (err error) {
		n, err = handle.ReadAt(p, offset)
		return err
	})
	return n, err
}

// stat describes the file as it is now.
func (f *file) stat() (info fs.FileInfo, err error) {
	err = f.use(func(handle *os.File) (err error) {
		info, err = handle.Stat()
		return err
	})
	return info, err
}

// remember keeps the first bytes of the file.
func (f *file) remember(head []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head = head
}

// close closes the file until it is read again.
func (f *file) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.handle == nil {
		return nil
	}
	err := f.handle.Close()
	f.handle = nil
	return err
}

// lastUse returns when the file was read last; zero if it is closed.
func (f *file) lastUse() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.handle == nil {
		return time.Time{}
	}
	return f.used
}

// closeIdle closes older files of the record that nobody reads. The caller holds updating.
func (x *Index) closeIdle() {
	older := slices.Clone(x.files[:len(x.files)-1])
	slices.SortFunc(older, func(a, b *file) int { return b.lastUse().Compare(a.lastUse()) })
	for i, f := range older {
		if i >= mostOpen || time.Since(f.lastUse()) > idleAfter {
			_ = f.close() // it was only read
		}
	}
}
