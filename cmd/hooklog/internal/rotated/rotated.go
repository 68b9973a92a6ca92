// Package rotated opens a log with the older files that a writer has renamed. hooklog.Rotate, for example, renames PATH
// to PATH.1, and PATH.1 to PATH.2, when PATH is full. A writer may rename the files while they are opened.
package rotated

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// A File is an open file of a log.
type File struct {
	*os.File
	Info fs.FileInfo
}

// Open opens the files of a log, the oldest first: PATH.2, PATH.1 and then PATH. Older files that are not regular ones
// are left out. PATH itself may be a pipe, and Open waits for its writer. The caller closes the files.
//
// If all files are renamed twice meanwhile, a newer one may be found after an older one. So Open tries again if PATH is
// another file at the end.
func Open(path string) ([]File, error) {
	const most = 20
	for tried := 1; ; tried++ {
		all, err := Existing(path)
		if err != nil {
			return nil, err
		}
		now, err := os.Stat(path)
		if len(all) > 0 && err == nil && (os.SameFile(now, all[len(all)-1].Info) || tried == most) {
			return all, nil
		}
		Close(all)
		if err != nil && (len(all) == 0 || tried == most) {
			return nil, err
		}
	}
}

// Existing is like Open, and returns the older files alone if PATH does not exist at the moment.
func Existing(path string) (all []File, err error) {
	// The files are opened in the direction in which the writer renames them. So a file that is renamed meanwhile is
	// found twice and not missed. The writer renames the oldest file first, so one number may be missing for a moment.
	for n, missing := 0, 0; missing < 2; n++ {
		name := path
		if n > 0 {
			name = fmt.Sprintf("%s.%d", path, n)
			if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
				missing++
				continue
			}
			missing = 0
		}
		f, err := open(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			Close(all)
			return nil, err
		case slices.ContainsFunc(all, f.is):
			_ = f.Close() // nothing was read
		default:
			all = append(all, f)
		}
	}
	slices.Reverse(all)
	return all, nil
}

// Newer returns those of the files of a log that were written after an older one of them. If than is not an older one,
// for example because another program has replaced it, Newer returns the newest file alone.
func Newer(all []File, than fs.FileInfo) []File {
	for i, f := range all[:len(all)-1] {
		if os.SameFile(f.Info, than) {
			return all[i+1:]
		}
	}
	return all[len(all)-1:]
}

// Close closes files that were only read.
func Close(files []File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func open(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return File{}, errors.Join(err, f.Close())
	}
	return File{f, info}, nil
}

// is reports whether both are the same file, possibly under different names.
func (f File) is(other File) bool { return os.SameFile(f.Info, other.Info) }
