package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
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
	m.add(modfile.ModulePath(text), root)
	m.addReplaced(parseMod(text).Replace, root)
	if text = nil; os.Getenv("GOWORK") != "off" {
		root, text, _ = fileAbove(absolute, "go.work")
	}
	if work, err := modfile.ParseWork("go.work", text, nil); err == nil {
		m.addReplaced(work.Replace, root)
		for _, use := range work.Use {
			dir := within(root, use.Path)
			if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
				m.add(modfile.ModulePath(text), dir)
			}
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
func (m *modules) addReplaced(lines []*modfile.Replace, root string) {
	for _, r := range lines {
		if modfile.IsDirectoryPath(r.New.Path) {
			m.add(r.Old.Path, within(root, r.New.Path))
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

// within returns a path relative to root as an absolute path.
func within(root, dir string) string {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, filepath.FromSlash(dir))
	}
	return filepath.Clean(dir)
}
