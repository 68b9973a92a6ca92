package atomicfile

import (
	"errors"
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Files that hooks write are readable by their owner alone.
const (
	fileMode = 0o600
	dirMode  = 0o700
)

// Write writes a file whole or not at all, readable by its owner alone. Missing directories are made. A program that
// is killed meanwhile leaves a temporary file next to it, which nobody reads; a later Write removes it.
func Write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return err
	}
	return Replace(path, data, fileMode)
}

// Replace is Write for a file of another mode, in a directory that exists.
func Replace(path string, data []byte, mode fs.FileMode) error {
	temporary, err := Stage(path, data, mode)
	if err != nil {
		return err
	}
	if err = flush(temporary); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		_ = os.Remove(temporary)
	}
	return err
}

// Stage writes data to a temporary file next to path and returns its name, for the caller to rename or remove. It
// removes the temporary files that killed programs left in the directory.
func Stage(path string, data []byte, mode fs.FileMode) (temporary string, err error) {
	dir := filepath.Dir(path)
	removeLeft(dir)
	base := filepath.Base(path)
	if len(base) > maxName { // with the extension, the name of the temporary file could be too long
		base = shortened(base)
	}
	f, err := os.CreateTemp(dir, "."+base+".*"+tempExt)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// flush writes a file through to the disk. Otherwise the rename could reach the disk before the data does, and after a
// power failure the file would be empty.
func flush(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(syncFile(f), f.Close())
}

var syncFile = (*os.File).Sync // replaced in tests

const (
	tempExt  = ".hook-tmp"
	leftFor  = time.Hour // after which a temporary file has no writer any more
	lookedAt = 1000      // directories at most that are remembered
)

// looked holds the directories in which this process has looked for temporary files of killed processes.
var looked struct {
	sync.Mutex
	dirs map[string]bool
}

// removeLeft removes the temporary files that killed programs left in a directory, once per process and directory.
func removeLeft(dir string) {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	looked.Lock()
	seen := looked.dirs[dir]
	if looked.dirs == nil || len(looked.dirs) >= lookedAt {
		looked.dirs = make(map[string]bool)
	}
	looked.dirs[dir] = true
	looked.Unlock()
	if seen {
		return
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), tempExt) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > leftFor {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// appending are the locks of the files that lines are appended to: hooks that share a file never mix their lines. Files
// share locks by the hash of their path, so that a program which appends to ever new files keeps no lock for each.
var (
	appending [64]sync.Mutex
	pathSeed  = maphash.MakeSeed()
)

// Lock locks a path against other appends of this process and returns the function that unlocks it. The caller must not
// lock a second path before that.
func Lock(path string) (unlock func()) {
	mu := localLock(path)
	mu.Lock()
	return mu.Unlock
}

// localLock returns the lock of a path.
func localLock(path string) *sync.Mutex {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return &appending[maphash.String(pathSeed, path)%uint64(len(appending))]
}

// AppendLine appends one line, which must not hold a line break, in one write. Missing directories are made. A
// line that an interrupted write left without its end is ended first.
func AppendLine(path string, line []byte) error {
	defer Lock(path)()
	f, size, err := OpenAppend(path)
	if err != nil {
		return err
	}
	whole := append(line[:len(line):len(line)], '\n')
	if size > 0 && !EndsLine(f, size) {
		whole = append([]byte{'\n'}, whole...)
	}
	return errors.Join(WriteEnd(f, size, whole), f.Close())
}

// WriteEnd writes data to the end of a file of the given size that OpenAppend opened, completely or not at all. If only
// a part can be written, for example because the disk is full, it removes that part again.
func WriteEnd(f *os.File, size int64, data []byte) error {
	n, err := f.Write(data)
	if err == nil {
		return nil
	}
	if info, statErr := f.Stat(); n > 0 && statErr == nil && info.Size() == size+int64(n) {
		err = errors.Join(err, f.Truncate(size))
	}
	return err
}

// OpenAppend opens a file for reading and appending and returns its size. It refuses everything but regular files.
func OpenAppend(path string) (*os.File, int64, error) {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, 0, err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, 0, notRegular(path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, fileMode)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() { // somebody replaced it meanwhile
		err = notRegular(path)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

func notRegular(path string) error {
	return &fs.PathError{Op: "append", Path: path, Err: errors.New("it is no regular file; name another one")}
}

// EndsLine reports whether the last byte of a file of the given size is a line break.
func EndsLine(f *os.File, size int64) bool {
	var last [1]byte
	_, err := f.ReadAt(last[:], size-1)
	return err == nil && last[0] == '\n'
}

// maxName is the length of the longest name of a file that the names of other files are made of.
const maxName = 150

// shortened returns the beginning of a long name and a checksum, which is enough for temporary files and locks: two
// names with the same result share a lock, which costs time and nothing else. A cryptographic digest would add a third
// of a megabyte to every program that links this package.
func shortened(name string) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(name))
	return fmt.Sprintf("%s-%x", strings.ToValidUTF8(name[:20], ""), sum.Sum64())
}
