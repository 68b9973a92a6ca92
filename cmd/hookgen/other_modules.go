package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	slashpath "path"
	"path/filepath"
	"slices"
	"strings"

	modpath "golang.org/x/mod/module"

	"github.com/hookgen/hookgen/gen"
)

// otherModules finds packages of modules that two versions of a spec require in different versions. The types of the
// other packages cannot have changed.
type otherModules struct {
	old, now map[string]string // by module path: the module and its version, or the directory that replaces it
	cache    string            // the directory of the module cache
	missing  []string          // packages that cannot be compared, with both versions
}

// requirements returns the modules that a go.mod requires. The go command ignores replace lines of a dependency.
func requirements(goMod []byte, dependency bool) map[string]string {
	modules, f := map[string]string{}, parseMod(goMod)
	for _, r := range f.Require {
		modules[r.Mod.Path] = r.Mod.String()
	}
	for _, r := range f.Replace {
		if !dependency && modules[r.Old.Path] != "" {
			modules[r.Old.Path] = r.New.String()
		}
	}
	return modules
}

// owner returns the path of the required module that has a package, or "".
func (o *otherModules) owner(importPath string) string {
	for ; importPath != "."; importPath = slashpath.Dir(importPath) {
		if o.old[importPath]+o.now[importPath] != "" {
			return importPath
		}
	}
	return ""
}

// files returns the files of a package for the version of the spec, or nil if it is of the standard library, if both
// versions are the same, or if one of them is not in the module cache. The spec may extend that of a parent, whose
// environment it may have only now, so a parent is read in any case.
func (o *otherModules) files(importPath string, now, parent bool) []gen.File {
	owner := o.owner(importPath)
	old, is := o.old[owner], o.now[owner]
	if !parent && (old == "" || is == "" || old == is && strings.Contains(is, "@")) {
		return nil
	}
	before, after := o.directory(owner, old, importPath), o.directory(owner, is, importPath)
	if old != "" && is != "" && (before == "" || after == "") {
		what := fmt.Sprintf("%s (%s, %s)", importPath, old, is)
		if !slices.Contains(o.missing, what) {
			o.missing = append(o.missing, what)
		}
		return nil
	}
	if now {
		before = after
	}
	files, _ := gen.Files(before)
	return files
}

// directory returns the directory of a package of a module in the module cache, or "" if it is not there.
func (o *otherModules) directory(owner, module, importPath string) string {
	modPath, version, ok := strings.Cut(module, "@")
	if !ok {
		return ""
	}
	if o.cache == "" {
		out, err := exec.Command("go", "env", "GOMODCACHE").Output()
		if o.cache = strings.TrimSpace(string(out)); err != nil || o.cache == "" {
			return ""
		}
	}
	escaped, badPath := modpath.EscapePath(modPath)
	at, badVersion := modpath.EscapeVersion(version)
	dir := filepath.Join(o.cache, filepath.FromSlash(escaped)+"@"+at,
		filepath.FromSlash(strings.TrimPrefix(importPath, owner)))
	info, err := os.Stat(dir)
	if errors.Join(badPath, badVersion, err) != nil || !info.IsDir() {
		return ""
	}
	return dir
}
