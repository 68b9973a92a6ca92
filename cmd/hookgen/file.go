package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hookgen/hookgen/gen"
)

// existing returns the text of the output as it is, nil if there is none. What stands in its place and was not
// written by hookgen is a finding.
func existing(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", path, plain(err))
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, inTheWay(path, "output-link", "is a symbolic link, and would be replaced by a file: remove it, or give the directory that it leads to with -o")
	case info.IsDir():
		return nil, inTheWay(path, "output-directory", "is a directory, and the generated file goes there: move it")
	case !info.Mode().IsRegular():
		return nil, inTheWay(path, "output-special", "is not a regular file, and the generated file goes there: move it")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, plain(err))
	}
	if !gen.Generated(text) {
		return nil, inTheWay(path, "hand-written", "was not written by hookgen (it lacks the line "+gen.Header+") and is not overwritten: rename or remove it")
	}
	return text, nil
}

// inTheWay is a finding about the output as a whole.
func inTheWay(path, rule, message string) error {
	return gen.Diagnostics{{Pos: token.Position{Filename: path}, Rule: rule, Message: message}}
}

// same reports whether two texts differ at most in their line ends: a checkout for Windows is not stale.
func same(old, text []byte) bool {
	return old != nil && (bytes.Equal(old, text) || bytes.Equal(bytes.ReplaceAll(old, []byte("\r\n"), []byte("\n")), text))
}

// replace writes the file at path, whole or not at all, and makes its directory if there is none.
func replace(path string, text []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("%s cannot be made: %w: choose another directory", dir, plain(err))
	}
	for _, at := range []string{dir, path} {
		if info, err := os.Stat(at); err == nil && info.Mode().Perm()&0o222 == 0 {
			return fmt.Errorf("%s is read-only: make it writable, or choose another directory", at)
		}
	}
	temporary, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("%s cannot be written to: %w: make it writable, or choose another directory", dir, plain(err))
	}
	defer os.Remove(temporary.Name()) // fails once the file is renamed
	_, err = temporary.Write(text)
	err = errors.Join(err, temporary.Chmod(0o644), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, plain(err))
	}
	return nil
}

// plain is an error without the path that its text begins with.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// notDirectory reports whether a path leads through a file.
func notDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
