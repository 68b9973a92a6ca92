package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// An output is a file that hookgen writes.
type output struct {
	path  string
	text  []byte // nil if the file is not needed
	old   []byte // the text that the file has now; nil if it does not exist
	holds string // printed before its size
}

// put brings the file into its wanted state. It returns "unchanged", "wrote" or "removed".
func (o *output) put() (did string, err error) {
	switch {
	case same(o.old, o.text):
		return "unchanged", nil
	case o.text != nil:
		return "wrote", replace(o.path, o.text)
	}
	if err := os.Remove(o.path); err != nil {
		return "", fmt.Errorf("%s cannot be removed: %w", o.path, plain(err))
	}
	return "removed", nil
}

// write puts an output in its place and prints what that did.
func (i *invocation) write(o *output) error {
	did, err := o.put()
	switch {
	case err != nil:
		return err
	case did == "removed":
		i.say("removed %s: the spec is not marked //hookgen:wire", o.path)
	case o.text != nil:
		i.say("%s %s: %s%d bytes", did, o.path, o.holds, len(o.text))
	}
	return nil
}

// current returns the text of the file at path, or nil if it does not exist. special returns the diagnostic for a path
// that is not a regular file.
func current(path string, special func(path string, mode fs.FileMode) error) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && !info.Mode().IsRegular():
		return nil, special(path, info.Mode())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, plain(err))
	}
	return text, nil
}

// diagnostic returns one diagnostic.
func diagnostic(at token.Position, rule, message string) gen.Diagnostics {
	return gen.Diagnostics{{Pos: at, Rule: rule, Message: message}}
}

// inTheWay returns a diagnostic about a file or a directory as a whole.
func inTheWay(path, rule, message string) gen.Diagnostics {
	return diagnostic(token.Position{Filename: path}, rule, message)
}

// asError returns diagnostics as an error, or nil if there are none.
func asError(found gen.Diagnostics) error {
	if len(found) == 0 {
		return nil
	}
	return found
}

// namePosition returns the position of the name of the points interface.
func namePosition(s *gen.Spec) token.Position {
	return s.Fset.PositionFor(s.Interface.Name.Pos(), false)
}

// same reports whether two texts are equal except for line ends, so that a checkout on Windows is not stale. No text is
// the same only as no text.
func same(old, text []byte) bool {
	return (old == nil) == (text == nil) &&
		(bytes.Equal(old, text) || bytes.Equal(bytes.ReplaceAll(old, []byte("\r\n"), []byte("\n")), text))
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
