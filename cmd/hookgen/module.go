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

// importPath returns the import path of a directory: the path of its module and the relative path. The directory need
// not exist.
func importPath(dir string) (string, error) {
	absolute, root, text, err := locate(dir)
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
		case !errors.Is(err, fs.ErrNotExist) && !notDirectory(err):
			return "", nil, err
		case at == filepath.Dir(at):
			return "", nil, fs.ErrNotExist
		}
	}
}

// modulePath returns the module path in a go.mod, or "".
func modulePath(text []byte) string {
	for _, words := range directives(text, "module") {
		return words[0]
	}
	return ""
}

// directives returns the arguments of every directive of a kind in a go.mod or go.work, without quotes. A directive can
// be a line, or a line in a block. Directives without arguments are left out.
func directives(text []byte, kind string) [][]string {
	var all [][]string
	block := ""
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		line, _, _ = strings.Cut(line, "//")
		words, verb := strings.Fields(line), block
		switch {
		case len(words) == 0:
			continue
		case words[0] == ")":
			block = ""
			continue
		case block == "" && len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		case block == "":
			verb, words = words[0], words[1:]
		}
		if verb != kind || len(words) == 0 {
			continue
		}
		for i, word := range words {
			if plain, err := strconv.Unquote(word); err == nil {
				words[i] = plain
			}
		}
		all = append(all, words)
	}
	return all
}
