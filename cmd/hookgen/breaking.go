package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/breaking"
)

// A specVersion is one version of a spec.
type specVersion struct {
	breaking.Version
	module string // the path of its module, or ""
	root   string // the directory of the module
	down   string // the directory of the spec, relative to root and slash-separated
}

// breaking reports the differences between the spec in the directory and an older version of it. It returns the exit
// code.
func (i *invocation) breaking() int {
	i.line.Set(func() string { return "reading the spec, and " + i.against })
	var found []breaking.Finding
	now, err := i.newVersion()
	if err == nil {
		var old *specVersion
		old, err = i.oldVersion(now)
		switch {
		case err != nil:
		case old == nil:
			err = i.printFindings(nil, "the spec is new since "+i.against)
		default:
			found = breaking.Compare(old.Version, now.Version)
			if missing := breaking.NotCompared(old.Version, now.Version); len(missing) > 0 {
				fmt.Fprintf(i.stderr, "hookgen: %s does not have these types, so they were not compared: %s; "+
					"compare with git:REV, or with a copy of the whole module\n", i.against, strings.Join(missing, ", "))
			}
			err = i.printFindings(found, "no change since "+i.against)
		}
	}
	switch {
	case err != nil:
		return i.report(err)
	case slices.ContainsFunc(found, breaking.Finding.Fails):
		return findings
	}
	return fine
}

// printFindings prints findings in the format that the flags ask for. If there are none, the summary is the line none.
func (i *invocation) printFindings(found []breaking.Finding, none string) error {
	switch {
	case i.json:
		text, err := breaking.JSON(found)
		if err == nil {
			_, err = i.stdout.Write(text)
		}
		return err
	case i.github:
		fmt.Fprint(i.stdout, breaking.GitHub(found))
	default:
		for _, f := range found {
			fmt.Fprintln(i.stdout, f)
		}
	}
	if len(found) == 0 {
		i.say("%s", none)
	} else {
		i.say("%s since %s: %s", count(len(found), "change"), i.against, breaking.Summary(found))
	}
	return nil
}

// newVersion reads the spec in the directory.
func (i *invocation) newVersion() (*specVersion, error) {
	spec, found := gen.Read(i.dir)
	if len(found) > 0 {
		return nil, incomparable("the spec", found)
	}
	v := &specVersion{}
	files, _ := gen.Files(i.dir)
	absolute, root, text, err := locate(i.dir)
	if err == nil {
		v.setModule(root, modulePath(text), absolute, files)
	}
	v.Output = outputName(spec, filepath.ToSlash(absolute), files)
	return v, v.describe("the spec", spec, modulesNear(i.dir).goFiles)
}

// setModule sets the module of a version, and the import path of its generated package.
func (v *specVersion) setModule(root, module, dir string, files []gen.File) {
	v.root, v.module = root, module
	if down, err := filepath.Rel(root, dir); err == nil && module != "" {
		v.down = filepath.ToSlash(down)
		v.Path = path.Join(module, outputDir(v.down, files))
	}
}

// isCopyIn reports whether a directory is only a copy of a spec in some module, which hooks never imported from there.
// The copy of a whole module has another go.mod, with the same path or for the same directory.
func (v *specVersion) isCopyIn(now *specVersion) bool {
	if sameDir(v.root, now.root) {
		return true
	}
	return withoutMajor(v.module) != withoutMajor(now.module) && v.down != now.down
}

// majorSuffix matches the end of the path of a module from its second major version on.
var majorSuffix = regexp.MustCompile(`[./]v[0-9]+$`)

func withoutMajor(module string) string { return majorSuffix.ReplaceAllString(module, "") }

// describe sets the surface of a version. lookUp returns the files of another package of its module.
func (v *specVersion) describe(what string, spec *gen.Spec, lookUp func(importPath string) []gen.File) error {
	surface, found := spec.Surface(v.module, lookUp)
	if len(found) > 0 {
		return incomparable(what, found)
	}
	v.Surface = surface
	return nil
}

// oldVersion reads the version that the flag -against names. It returns nil if the spec is new since then.
func (i *invocation) oldVersion(now *specVersion) (*specVersion, error) {
	if name, ok := strings.CutPrefix(i.against, "git:"); ok {
		return i.committedVersion(name, now)
	}
	info, err := os.Stat(i.against)
	if err != nil {
		return nil, fmt.Errorf("-against %s: %w: give a directory, a file, or git:REV for a revision", i.against, plain(err))
	}
	if !info.IsDir() {
		return i.fileVersion(now)
	}
	files, found := gen.Files(i.against)
	if len(found) > 0 {
		return nil, incomparable("the old spec", found)
	}
	spec, found := gen.Outline(i.against, files)
	if len(found) > 0 {
		return nil, i.noOldSpec(found)
	}
	// A copy of the old directory need not be in a module. Its imports are then those of the module that it was copied
	// from.
	v := &specVersion{module: now.module}
	absolute, root, text, err := locate(i.against)
	if err == nil && modulePath(text) != "" {
		v.setModule(root, modulePath(text), absolute, files)
		if v.isCopyIn(now) {
			v.Path = ""
		}
	}
	v.Output = outputName(spec, filepath.ToSlash(absolute), files)
	return v, v.describe("the old spec", spec, modulesNear(i.against).goFiles)
}

// noOldSpec returns the error for a directory or a file that holds no spec that can be read.
func (i *invocation) noOldSpec(found gen.Diagnostics) error {
	if found[0].Rule == ruleNoSpec {
		return fmt.Errorf("-against %s: there is no spec: give the directory or the file that held the old one", i.against)
	}
	return incomparable("the old spec", found)
}

// fileVersion reads an old version of the spec file alone.
func (i *invocation) fileVersion(now *specVersion) (*specVersion, error) {
	text, err := os.ReadFile(i.against)
	if err != nil {
		return nil, fmt.Errorf("-against %s: %w", i.against, plain(err))
	}
	files := []gen.File{{Path: i.against, Text: text}}
	spec, found := gen.Outline(i.against, files)
	if len(found) > 0 {
		return nil, i.noOldSpec(found)
	}
	v := &specVersion{Version: breaking.Version{Part: true, Output: now.Output}, module: now.module}
	if spec.Package != now.Package {
		v.Output = outputName(spec, "", files)
	}
	return v, v.describe("the old spec", spec, nil)
}

// committedVersion reads the version of a git revision, REV or REV:DIR. It returns nil if the spec is new since then.
func (i *invocation) committedVersion(name string, now *specVersion) (*specVersion, error) {
	name, dir, given := strings.Cut(name, ":")
	if name == "" {
		return nil, errors.New("-against git: names no revision: write git:REV, for example git:v1.0.0 or git:HEAD~1")
	}
	r, prefix, err := openRevision(i.dir, name)
	if err != nil {
		return nil, err
	}
	if !given {
		dir = prefix
	}
	dir = path.Clean(strings.TrimSuffix(filepath.ToSlash(dir), "/"))
	spec, files, err := r.spec(dir)
	if err != nil {
		return nil, err
	}
	if spec == nil && given {
		return nil, fmt.Errorf("%s has no spec at %s: give its directory from the root of the repository", dir, name)
	}
	if spec == nil {
		if dir, spec, files, err = r.find(dir, now.Package); err != nil {
			return nil, err
		}
		if spec == nil {
			return nil, nil
		}
		fmt.Fprintf(i.stderr, "hookgen: at %s the spec was in %s\n", name, dir)
	}
	v := &specVersion{Version: breaking.Version{Output: outputName(spec, dir, files)}, module: now.module}
	lookUp := func(string) []gen.File { return nil }
	if module, root := r.module(dir); module != "" {
		v.setModule(filepath.FromSlash(root), module, filepath.FromSlash(dir), files)
		lookUp = func(importPath string) []gen.File {
			files, err := r.goFiles(path.Join(root, strings.TrimPrefix(importPath, module)))
			if err != nil {
				return nil
			}
			return files
		}
	}
	return v, v.describe("the old spec", spec, lookUp)
}

// spec reads the spec in a directory of the revision. It returns nil if the directory has none.
func (r *revision) spec(dir string) (*gen.Spec, []gen.File, error) {
	files, err := r.goFiles(dir)
	if err != nil {
		return nil, nil, err
	}
	spec, found := gen.Outline(r.name+":"+dir, files)
	switch {
	case len(found) > 0 && found[0].Rule == ruleNoSpec:
		return nil, nil, nil
	case len(found) > 0:
		return nil, nil, incomparable("the old spec", found)
	}
	return spec, files, nil
}

// find looks for the spec of a package that was in another directory. A directory that still holds a spec in the work
// tree is not the old place of another one. If there is no other directory, the spec is new, and find returns nil.
func (r *revision) find(dir, pkg string) (string, *gen.Spec, []gen.File, error) {
	dirs, err := r.specDirs()
	if err != nil {
		return "", nil, nil, err
	}
	type place struct {
		dir   string
		spec  *gen.Spec
		files []gen.File
	}
	var found []place
	var gone []string
	for _, at := range dirs {
		spec, files, err := r.spec(at)
		if err == nil && spec == nil || holdsSpec(filepath.Join(r.top, filepath.FromSlash(at))) {
			continue
		}
		gone = append(gone, at)
		if err == nil && spec.Package == pkg {
			found = append(found, place{at, spec, files})
		}
	}
	switch {
	case len(found) == 1:
		return found[0].dir, found[0].spec, found[0].files, nil
	case len(gone) == 0:
		return dir, nil, nil, nil
	}
	return "", nil, nil, fmt.Errorf("%s has no spec at %s: if it was in another directory, write -against git:%s:DIR; "+
		"the specs of that revision that are gone were in %s", dir, r.name, r.name, strings.Join(gone, ", "))
}

// holdsSpec reports whether a directory holds a spec, which can have mistakes.
func holdsSpec(dir string) bool {
	files, _ := gen.Files(dir)
	_, found := gen.Outline(dir, files)
	return len(files) > 0 && (len(found) == 0 || found[0].Rule != ruleNoSpec)
}

// incomparable returns the error for a version of the spec that cannot be read. It is an error, and no list of
// findings, because nothing was compared.
func incomparable(what string, found gen.Diagnostics) error {
	if found.Trouble() || found[0].Rule == ruleNoSpec {
		return errors.New(found[0].Pos.String() + ": " + found[0].Message)
	}
	return fmt.Errorf("%s has mistakes, so it cannot be compared:\n%w", what, errors.New(found.Error()))
}

// goFiles returns the Go files of a package of one of the modules, or nil if it is not found.
func (m *modules) goFiles(importPath string) []gen.File {
	dir := m.directory(importPath)
	if dir == "" {
		return nil
	}
	// Positions are relative to the current directory, like those of the spec.
	if current, err := os.Getwd(); err == nil {
		if relative, err := filepath.Rel(current, dir); err == nil {
			dir = relative
		}
	}
	files, _ := gen.Files(dir)
	return files
}

// outputDir returns the directory that the go:generate lines of a package generate into, or its own. dir is
// slash-separated.
func outputDir(dir string, files []gen.File) string {
	for _, f := range files {
		name := path.Join(dir, path.Base(filepath.ToSlash(f.Path)))
		for _, line := range generateLines(name, f.Text) {
			if line.problem == "" && line.out != "" && path.Clean(filepath.ToSlash(line.dir)) == path.Clean(dir) {
				return path.Clean(filepath.ToSlash(line.out))
			}
		}
	}
	return dir
}

// outputName returns the name of the generated package of a spec.
func outputName(spec *gen.Spec, dir string, files []gen.File) string {
	if out := outputDir(dir, files); out != dir {
		return path.Base(out)
	}
	return spec.Package
}
