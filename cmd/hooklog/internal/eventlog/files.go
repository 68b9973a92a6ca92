package eventlog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/rotated"
)

// A file is one of the files of a record. It is open while it is read, and for a while after that. A rotation renames
// it, so it is found again by what it is. Its methods may be called concurrently.
type file struct {
	path    string // of the record
	name    string // for people
	info    fs.FileInfo
	removed bool // by a rotation; guarded by the mutex of the index

	mu     sync.RWMutex
	handle *os.File // nil while it is closed
	head   []byte   // its first bytes
	used   atomic.Int64
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
	made := &file{path: path, name: name, info: f.Info, handle: f.File}
	made.used.Store(time.Now().UnixNano())
	return made
}

// open opens the file if it is closed, and locks it for reading.
func (f *file) open() error {
	for {
		f.mu.RLock()
		if f.handle != nil {
			f.used.Store(time.Now().UnixNano())
			return nil
		}
		f.mu.RUnlock()
		if err := f.find(); err != nil {
			return err
		}
	}
}

// find opens the file under the name that it has now.
func (f *file) find() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.handle != nil {
		return nil
	}
	all, err := rotated.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) { // between a renaming and the first event of the new file
		all, err = rotated.Older(f.path)
	}
	if err != nil {
		return err
	}
	for i, other := range all {
		// Another file may have the number of one that was removed.
		if os.SameFile(other.Info, f.info) && bytes.Equal(headOf(other, len(f.head)), f.head) {
			f.handle = other.File
			all = slices.Delete(all, i, i+1)
			break
		}
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
func (f *file) ReadAt(p []byte, offset int64) (int, error) {
	if err := f.open(); err != nil {
		return 0, err
	}
	defer f.mu.RUnlock()
	return f.handle.ReadAt(p, offset)
}

// stat returns what the file is now.
func (f *file) stat() (fs.FileInfo, error) {
	if err := f.open(); err != nil {
		return nil, err
	}
	defer f.mu.RUnlock()
	return f.handle.Stat()
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

// closeIdle closes older files of the record that nobody reads.
func (x *Index) closeIdle() {
	x.mu.RLock()
	older := slices.Clone(x.files[:len(x.files)-1])
	x.mu.RUnlock()
	slices.SortFunc(older, func(a, b *file) int { return cmp.Compare(b.used.Load(), a.used.Load()) })
	for i, f := range older {
		if i >= mostOpen || time.Since(time.Unix(0, f.used.Load())) > idleAfter {
			_ = f.close() // it was only read
		}
	}
}
