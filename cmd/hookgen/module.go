package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// importPath returns the import path of a directory, which need not exist: the path of the module above it and
// the way down.
func importPath(dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	root, text, err := moduleAbove(absolute)
	if err != nil {
		if real, bad := filepath.EvalSymlinks(absolute); bad == nil && real != absolute {
			absolute = real
			root, text, err = moduleAbove(absolute)
		}
	}
	if err != nil {
		return "", err
	}
	module := modulePath(text)
	if module == "" {
		return "", fmt.Errorf("%s has no module line", filepath.Join(root, "go.mod"))
	}
	down, err := filepath.Rel(root, absolute)
	if err != nil {
		return "", err
	}
	return path.Join(module, filepath.ToSlash(down)), nil
}

// errNoModule tells that no go.mod is above a directory.
var errNoModule = errors.New("no go.mod")

// moduleAbove returns the directory of the nearest go.mod in or above dir, and its text.
func moduleAbove(dir string) (string, []byte, error) {
	for at := dir; ; at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil {
			return at, text, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !notDirectory(err) {
			return "", nil, err
		}
		if at == filepath.Dir(at) {
			return "", nil, fmt.Errorf("%s has %w in it or above it", dir, errNoModule)
		}
	}
}

// modulePath returns the path in the module line of a go.mod, "" if there is none.
func modulePath(text []byte) string {
	inBlock := false
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case inBlock:
			return unquoted(words[0])
		case words[0] == "module" && len(words) > 1 && words[1] == "(":
			inBlock = true
		case words[0] == "module" && len(words) > 1:
			return unquoted(words[1])
		}
	}
	return ""
}

// unquoted returns a word of a go.mod without its quotes, if it has any.
func unquoted(word string) string {
	if plain, err := strconv.Unquote(word); err == nil {
		return plain
	}
	return word
}
