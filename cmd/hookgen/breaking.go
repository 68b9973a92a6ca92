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

	"golang.org/x/mod/modfile"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/breaking"
)

// A specVersion is one version of a spec.
type specVersion struct {
	breaking.Version
	what   string // for messages
	spec   *gen.Spec
	files  func(importPath string) []gen.File // of other packages of its module
	goMod  []byte
	module string // the path of its module, or ""
	root   string // the directory of the module
	down   string // the directory of the spec, relative to root and slash-separated
}

// breaking prints the differences between the spec in the directory and an older version of it.
func (i *invocation) breaking() error {
	if i.forHooks {
		return i.breakingFor()
	}
	i.line.Set(func() string { return "reading the spec, and " + i.against })
	now, err := i.newVersion()
	if err != nil {
		return err
	}
	old, err := i.oldVersion(now)
	switch {
	case err != nil:
		return err
	case old == nil:
		return i.printChanges(nil, "the spec is new since "+i.against)
	}
	found, err := i.compareVersions(old, now)
	if err != nil {
		return err
	}
	return i.printChanges(found, "no change since "+i.against)
}

// compareVersions reads the surfaces of two versions and compares them. It says which types could not be compared.
func (i *invocation) compareVersions(old, now *specVersion) ([]breaking.Finding, error) {
	others := &otherModules{old: requirements(old.goMod, i.forHooks), now: requirements(now.goMod, i.forHooks)}
	for _, v := range []*specVersion{now, old} {
		if err := v.readSurface(others, v == now); err != nil {
			return nil, err
		}
	}
	if len(others.missing) > 0 {
		fmt.Fprintf(i.stderr, "hookgen: the types of these packages were not compared, because one of their versions is not "+
			"in the module cache: %s; run go mod download MODULE@VERSION for each\n", strings.Join(others.missing, ", "))
	}
	for _, p := range now.spec.Parents {
		owner := others.owner(p.Import.Path)
		if was, is := others.old[owner], others.now[owner]; was != "" && is != "" && was != is {
			fmt.Fprintf(i.stderr, "hookgen: the spec extends %s, which changes from %s to %s: compare these, too\n",
				p.Import.Path, was, is)
		}
	}
	if missing := breaking.NotCompared(old.Version, now.Version); len(missing) > 0 {
		fmt.Fprintf(i.stderr, "hookgen: %s does not have these types, so they were not compared: %s; "+
			"compare with git:REV, or with a copy of the whole module\n", i.against, strings.Join(missing, ", "))
	}
	return breaking.Compare(old.Version, now.Version), nil
}

// printChanges prints findings in the format that the flags ask for, and returns the exit code. If there are none, the
// summary is the line none.
func (i *invocation) printChanges(found []breaking.Finding, none string) error {
	code := exitCode(fine)
	if slices.ContainsFunc(found, breaking.Finding.Fails) {
		code = findings
	}
	switch {
	case i.json:
		if err := i.printJSON(breaking.JSON(found)); err != nil {
			return err
		}
		return code
	case i.github:
		fmt.Fprint(i.stdout, breaking.GitHub(found))
	default:
		for _, f := range found {
			fmt.Fprintln(i.stdout, f)
		}
	}
	if len(found) > 0 {
		none = fmt.Sprintf("%s since %s: %s", count(len(found), "change"), i.against, breaking.Summary(found))
	}
	i.say("%s", none)
	return code
}

// newVersion reads the spec in the directory.
func (i *invocation) newVersion() (*specVersion, error) {
	spec, found := gen.Read(i.dir)
	if len(found) > 0 {
		return nil, incomparable("the spec", found)
	}
	files, _ := gen.Files(i.dir)
	v := &specVersion{what: "the spec"}
	v.describeIn(i.dir, spec, files)
	return v, nil
}

// describeIn describes the version of the spec in a directory, which need not be in a module.
func (v *specVersion) describeIn(dir string, spec *gen.Spec, files []gen.File) {
	absolute, root, text, err := locate(dir)
	if module := modfile.ModulePath(text); err == nil && module != "" {
		v.setModule(root, module, absolute, files)
		v.goMod = text
	}
	v.files = modulesNear(dir).goFiles
	v.describe(spec, filepath.ToSlash(absolute), files)
}

// setModule sets the module of a version, and the import path of its generated package.
func (v *specVersion) setModule(root, module, dir string, files []gen.File) {
	v.root, v.module = root, module
	if down, err := filepath.Rel(root, dir); err == nil {
		v.down = filepath.ToSlash(down)
		v.Path = path.Join(module, outputDir(v.down, files))
	}
}

// describe sets the spec and the generated package of a version. dir is the directory of its files, slash-separated.
func (v *specVersion) describe(spec *gen.Spec, dir string, files []gen.File) {
	v.spec, v.Output = spec, spec.Package
	if out := outputDir(dir, files); out != dir {
		v.Output = path.Base(out)
	}
}

// readSurface reads the surface, with the types of packages of its module and of others that the two versions require
// in different versions.
func (v *specVersion) readSurface(others *otherModules, isNew bool) error {
	surface, found := v.spec.Surface(v.module, func(importPath string) []gen.File {
		within := strings.HasPrefix(importPath+"/", v.module+"/") && len(others.owner(importPath)) <= len(v.module)
		switch {
		case !within && v.module != "":
			parent := func(p gen.Parent) bool { return p.Import.Path == importPath }
			return others.files(importPath, isNew, slices.ContainsFunc(v.spec.Parents, parent))
		case v.files == nil:
			return nil
		}
		return v.files(importPath)
	})
	if len(found) > 0 {
		return incomparable(v.what, found)
	}
	v.Surface = surface
	return nil
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

// oldSpec names the version of the flag -against in messages.
const oldSpec = "the old spec"

// oldVersion reads the version that the flag -against names. It returns nil if the spec is new since then.
func (i *invocation) oldVersion(now *specVersion) (*specVersion, error) {
	if name, ok := strings.CutPrefix(i.against, "git:"); ok {
		return i.committedVersion(name, now)
	}
	info, err := os.Stat(i.against)
	if err != nil {
		return nil, fmt.Errorf("-against %s: %w: give a directory, a file, or git:REV for a revision", i.against, plain(err))
	}
	var files []gen.File
	var found gen.Diagnostics
	if info.IsDir() {
		files, found = gen.Files(i.against)
	} else {
		text, err := os.ReadFile(i.against)
		if err != nil {
			return nil, fmt.Errorf("-against %s: %w", i.against, plain(err))
		}
		files = []gen.File{{Path: i.against, Text: text}}
	}
	spec, err := outline(i.against, oldSpec, files, found)
	if err != nil {
		return nil, err
	}
	if spec == nil {
		return nil, fmt.Errorf("-against %s: there is no spec: give the directory or the file that held the old one",
			i.against)
	}
	// A copy of the old directory need not be in a module. Its imports are then those of the module that it was copied
	// from.
	v := &specVersion{what: oldSpec, module: now.module, goMod: now.goMod}
	if info.IsDir() {
		v.describeIn(i.against, spec, files)
		if v.isCopyIn(now) {
			v.Path = ""
		}
		return v, nil
	}
	v.Part = true
	v.describe(spec, "", files)
	if spec.Package == now.spec.Package {
		v.Output = now.Output
	}
	return v, nil
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
	old, err := r.spec(dir)
	switch {
	case err != nil:
		return nil, err
	case old == nil && given:
		return nil, fmt.Errorf("%s has no spec at %s: give its directory from the root of the repository", dir, name)
	case old == nil:
		if old, err = r.find(dir, now.spec.Package); old == nil || err != nil {
			return nil, err
		}
		fmt.Fprintf(i.stderr, "hookgen: at %s the spec was in %s\n", name, old.dir)
	}
	v := &specVersion{what: oldSpec, module: now.module}
	if text, root := r.goMod(old.dir); modfile.ModulePath(text) != "" {
		module := modfile.ModulePath(text)
		v.goMod = text
		v.setModule(filepath.FromSlash(root), module, filepath.FromSlash(old.dir), old.files)
		v.files = func(importPath string) []gen.File {
			files, _ := r.goFiles(path.Join(root, strings.TrimPrefix(importPath, module)))
			return files
		}
	}
	v.describe(old.spec, old.dir, old.files)
	return v, nil
}

// A committedSpec is the spec in a directory of a revision.
type committedSpec struct {
	dir   string
	spec  *gen.Spec
	files []gen.File
}

// spec reads the spec in a directory of the revision. It returns nil if the directory has none.
func (r *revision) spec(dir string) (*committedSpec, error) {
	files, err := r.goFiles(dir)
	if err != nil {
		return nil, err
	}
	spec, err := outline(r.name+":"+dir, oldSpec, files, nil)
	if spec == nil {
		return nil, err
	}
	return &committedSpec{dir, spec, files}, nil
}

// outline reads the spec in files, of which these problems are known. It returns nil if there is none. what names the
// spec in an error.
func outline(dir, what string, files []gen.File, found gen.Diagnostics) (spec *gen.Spec, err error) {
	if len(found) == 0 {
		spec, found = gen.Outline(dir, files)
	}
	if len(found) == 0 || isNoSpec(found) {
		return spec, nil
	}
	return nil, incomparable(what, found)
}

// find looks for the spec of a package that was in another directory. A directory that still holds a spec in the work
// tree is not the old place of another one. If there is no other directory, the spec is new, and find returns nil.
func (r *revision) find(dir, pkg string) (*committedSpec, error) {
	dirs, err := r.specDirs()
	if err != nil {
		return nil, err
	}
	var found []*committedSpec
	var gone []string
	for _, at := range dirs {
		old, err := r.spec(at)
		if err == nil && old == nil || holdsSpec(filepath.Join(r.top, filepath.FromSlash(at))) {
			continue
		}
		gone = append(gone, at)
		if err == nil && old.spec.Package == pkg {
			found = append(found, old)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(gone) == 0:
		return nil, nil
	}
	return nil, fmt.Errorf("%s has no spec at %s: if it was in another directory, write -against git:%s:DIR; "+
		"the specs of that revision that are gone were in %s", dir, r.name, r.name, strings.Join(gone, ", "))
}

// holdsSpec reports whether a directory holds a spec, which can have mistakes.
func holdsSpec(dir string) bool {
	files, _ := gen.Files(dir)
	_, found := gen.Outline(dir, files)
	return len(files) > 0 && !isNoSpec(found)
}

// isNoSpec reports whether the diagnostics say that there is no spec.
func isNoSpec(found gen.Diagnostics) bool { return len(found) > 0 && found[0].Rule == ruleNoSpec }

// incomparable returns the error for a version of the spec that cannot be read. It is an error, and no list of
// findings, because nothing was compared.
func incomparable(what string, found gen.Diagnostics) error {
	if found.Trouble() || isNoSpec(found) {
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
