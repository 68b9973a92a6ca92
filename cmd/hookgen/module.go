package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"golang.org/x/mod/modfile"
)

// importPath returns the import path of a directory: the path of its module and the relative path. The directory need
// not exist.
func importPath(dir string) (string, error) {
	absolute, root, text, err := locate(dir)
	if err != nil {
		return "", err
	}
	module := modfile.ModulePath(text)
	if module == "" {
		return "", fmt.Errorf("%s has no module line", filepath.Join(root, "go.mod"))
	}
	down, err := filepath.Rel(root, absolute)
	if err != nil {
		return "", err
	}
	return path.Join(module, filepath.ToSlash(down)), nil
}

// locate returns the absolute path of a directory, the root of its module, and the text of the go.mod there. Links
// between directories of a module are followed, so that each package has one path.
func locate(dir string) (absolute, root string, text []byte, err error) {
	if absolute, err = filepath.Abs(dir); err != nil {
		return "", "", nil, err
	}
	root, text, err = moduleAbove(absolute)
	if resolved, bad := filepath.EvalSymlinks(absolute); bad == nil && resolved != absolute {
		resolvedRoot, resolvedText, bad := moduleAbove(resolved)
		if bad == nil && (err != nil || sameDir(root, resolvedRoot)) {
			return resolved, resolvedRoot, resolvedText, nil
		}
	}
	return absolute, root, text, err
}

// errNoModule reports that neither a directory nor its parents have a go.mod.
var errNoModule = errors.New("no go.mod")

// moduleAbove returns the directory of the nearest go.mod in dir or its parents, and the text of the file.
func moduleAbove(dir string) (string, []byte, error) {
	root, text, err := fileAbove(dir, "go.mod")
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s has %w in it or above it", dir, errNoModule)
	}
	return root, text, err
}

// fileAbove returns the nearest directory with a file of this name, from dir upwards, and the text of the file.
func fileAbove(dir, name string) (string, []byte, error) {
	for at := dir; ; at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(at, name))
		switch {
		case err == nil:
			return at, text, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return "", nil, err
		case at == filepath.Dir(at):
			return "", nil, fs.ErrNotExist
		}
	}
}

// parseMod reads a go.mod. One with a mistake, which the go command reports, has no directives.
func parseMod(text []byte) *modfile.File {
	f, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return new(modfile.File)
	}
	return f
}
