package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// existing returns the text of the output as it is now, nil if there is none. A file there that hookgen did not
// write, or that it generated from another spec, is a finding.
func (o *output) existing() ([]byte, error) {
	info, err := os.Lstat(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", o.path, plain(err))
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, inTheWay(o.path, "output-link", "is a symbolic link, and would be replaced by a file: "+
			"remove it, or give the directory that it leads to with -o")
	case info.IsDir():
		return nil, inTheWay(o.path, "output-directory", "is a directory, and the generated file goes there: move it")
	case !info.Mode().IsRegular():
		return nil, inTheWay(o.path, "output-special", "is not a regular file, and the generated file goes there: move it")
	}
	text, err := os.ReadFile(o.path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", o.path, plain(err))
	}
	origin, generated := gen.OriginOf(text)
	own, _ := gen.OriginOf(o.text)
	switch {
	case !generated:
		return nil, inTheWay(o.path, "hand-written",
			"was not written by hookgen (it lacks the line "+gen.Header+") and is not overwritten: rename or remove it")
	case !o.sameSpec(origin.Source, own.Source):
		return nil, inTheWay(o.path, "other-spec", fmt.Sprintf(
			"was generated from %s and is not overwritten with the output of %s: "+
				"choose another directory with -o, or remove the file if its spec was moved", origin.Source, own.Source))
	}
	return text, nil
}

// sameSpec reports whether a header's source is the spec that is generated from. An older file names none. Next to the
// spec it may be known by the name of its package: it was not in a module when the file was generated, or is not in one
// now. Elsewhere a source is always an import path, and that of another spec may be one word.
func (o *output) sameSpec(source, own string) bool {
	if source == "" || source == own {
		return true
	}
	name := o.spec.Package
	return !o.own && (source == name || own == name && path.Base(source) == name)
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
	temporary, err := atomicfile.Stage(path, text, 0o644)
	if err != nil {
		return fmt.Errorf("%s cannot be written to: %w: make it writable, or choose another directory", dir, plain(err))
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, plain(errors.Join(err, os.Remove(temporary))))
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
