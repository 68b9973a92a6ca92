package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	modpath "golang.org/x/mod/module"

	"github.com/hookgen/hookgen/gen"
)

// otherModules finds packages of modules that two versions of a spec require in different versions. The types of the
// other packages cannot have changed.
type otherModules struct {
	old, now map[string]string // versions by module path
	cache    string            // the directory of the module cache
	missing  []string          // packages that are not there in both versions
}

// requirements returns the versions that a go.mod requires, without those that it replaces with a directory.
func requirements(goMod []byte) map[string]string {
	versions, f := map[string]string{}, parseMod(goMod)
	for _, r := range f.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	for _, r := range f.Replace {
		delete(versions, r.Old.Path)
	}
	return versions
}

// files returns the files of a package for the version of the spec, or nil if both versions are the same or one of them
// is not in the module cache.
func (o *otherModules) files(importPath string, now bool) []gen.File {
	path := importPath
	for o.old[path] == "" || o.now[path] == "" {
		slash := strings.LastIndexByte(path, '/')
		if slash < 0 {
			return nil // a package of the standard library, or of a module that one of the versions does not require
		}
		path = path[:slash]
	}
	if o.old[path] == o.now[path] {
		return nil
	}
	before, after := o.directory(path, o.old[path], importPath), o.directory(path, o.now[path], importPath)
	if before == "" || after == "" {
		if !slices.Contains(o.missing, importPath) {
			o.missing = append(o.missing, importPath)
		}
		return nil
	}
	if now {
		before = after
	}
	files, _ := gen.Files(before)
	return files
}

// directory returns the directory of a package in the module cache, or "" if it is not there.
func (o *otherModules) directory(modPath, version, importPath string) string {
	if o.cache == "" {
		out, err := exec.Command("go", "env", "GOMODCACHE").Output()
		if o.cache = strings.TrimSpace(string(out)); err != nil || o.cache == "" {
			return ""
		}
	}
	escaped, badPath := modpath.EscapePath(modPath)
	at, badVersion := modpath.EscapeVersion(version)
	dir := filepath.Join(o.cache, filepath.FromSlash(escaped)+"@"+at,
		filepath.FromSlash(strings.TrimPrefix(importPath, modPath)))
	info, err := os.Stat(dir)
	if errors.Join(badPath, badVersion, err) != nil || !info.IsDir() {
		return ""
	}
	return dir
}
