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

// existing returns the current text of the output file, or nil if the file does not exist. A file that hookgen did not
// generate, or that it generated from another spec, is a diagnostic.
//
// If the spec has no use for the file, only one that hookgen generated from this spec counts.
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
	switch {
	case o.text == nil && (!generated || !o.sameSpec(origin.Source)):
		return nil, nil
	case !generated:
		return nil, inTheWay(o.path, "hand-written",
			"was not written by hookgen (it lacks the line "+gen.Header+") and is not overwritten: rename or remove it")
	case !o.sameSpec(origin.Source):
		return nil, inTheWay(o.path, "other-spec", fmt.Sprintf(
			"was generated from %s and is not overwritten with the output of %s: "+
				"choose another directory with -o, or remove the file if its spec was moved", origin.Source, o.source))
	}
	return text, nil
}

// sameSpec reports whether the source in a header is this spec. Older files have no source. Next to the spec, the
// source may be a package name, because the directory was outside of a module at some time. With -o, the source is
// always an import path.
func (o *output) sameSpec(source string) bool {
	if source == "" || source == o.source {
		return true
	}
	name := o.spec.Package
	return !o.own && (source == name || o.source == name && path.Base(source) == name)
}

// inTheWay returns a diagnostic about the output file as a whole.
func inTheWay(path, rule, message string) error {
	return gen.Diagnostics{{Pos: token.Position{Filename: path}, Rule: rule, Message: message}}
}

// same reports whether two texts are equal except for line ends, so that a checkout on Windows is not stale.
func same(old, text []byte) bool {
	return old != nil && (bytes.Equal(old, text) || bytes.Equal(bytes.ReplaceAll(old, []byte("\r\n"), []byte("\n")), text))
}

// replace writes the file at path atomically, and creates its directory if necessary.
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

// plain returns an error without the path at its beginning.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// notDirectory reports whether a part of a path is a file.
func notDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
