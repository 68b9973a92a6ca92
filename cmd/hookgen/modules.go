package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// modules are the modules whose directories hookgen finds without running the go command.
type modules struct {
	list   []module // the longest path first
	vendor string   // the directory of vendored packages, which need not exist
}

// A module is a module path and its directory.
type module struct{ path, dir string }

// modulesNear returns the module that contains dir, the targets of its replace lines, and the modules of the workspace.
func modulesNear(dir string) *modules {
	m := &modules{}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return m
	}
	root, text, err := moduleAbove(absolute)
	if err != nil {
		return m
	}
	m.vendor = filepath.Join(root, "vendor")
	m.add(modulePath(text), root)
	m.addReplaced(text, root)
	root, text = workspace(absolute)
	m.addReplaced(text, root)
	for _, words := range directives(text, "use") {
		dir := within(root, words[0])
		if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			m.add(modulePath(text), dir)
		}
	}
	slices.SortStableFunc(m.list, func(a, b module) int { return cmp.Compare(len(b.path), len(a.path)) })
	return m
}

func (m *modules) add(path, dir string) {
	if path != "" {
		m.list = append(m.list, module{path, dir})
	}
}

// addReplaced adds the modules that a go.mod or go.work in root replaces with a directory.
func (m *modules) addReplaced(text []byte, root string) {
	for _, words := range directives(text, "replace") {
		old, target := words[0], words[len(words)-1]
		if local(target) {
			m.add(old, within(root, target))
		}
	}
}

// directory returns the directory of a package, or "" if it is unknown.
func (m *modules) directory(importPath string) string {
	for _, module := range m.list {
		if down, ok := strings.CutPrefix(importPath+"/", module.path+"/"); ok {
			return filepath.Join(module.dir, filepath.FromSlash(down))
		}
	}
	if m.vendor == "" {
		return ""
	}
	return filepath.Join(m.vendor, filepath.FromSlash(importPath))
}

// workspace returns the directory of the go.work file for dir, and the text of the file, which is empty if there is no
// workspace.
func workspace(dir string) (root string, text []byte) {
	switch work := os.Getenv("GOWORK"); work {
	case "off":
	case "":
		root, text, _ = fileAbove(dir, "go.work")
	default:
		root = filepath.Dir(work)
		text, _ = os.ReadFile(work)
	}
	return root, text
}

// local reports whether the target of a replace line is a directory. Otherwise it is a module path.
func local(target string) bool {
	return strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../") || target == "." || target == ".." ||
		filepath.IsAbs(target)
}

// within returns a path relative to root as an absolute path.
func within(root, dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(root, filepath.FromSlash(dir))
}
