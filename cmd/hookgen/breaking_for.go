package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	"golang.org/x/tools/go/packages"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/breaking"
)

// breakingFor prints what changed at the points that packages of hooks implement, between the version of a module that
// they require and the one of -against. The older of the two is the old one. Changes that only concern the program that
// fires the points are left out.
func (i *invocation) breakingFor() error {
	modPath, version, ok := strings.Cut(i.against, "@")
	if !ok || modPath == "" || version == "" {
		return fmt.Errorf("-against %s: with -for, give a module and its version: "+
			"for example -against example.com/mail@v1.2.0", i.against)
	}
	i.line.Set(func() string { return "reading the hooks, and " + i.against })
	hooks, err := loadHooks(i.hooks, modPath)
	if err != nil {
		return err
	}
	other, err := download(modPath, version)
	if err != nil {
		return err
	}
	m := hooks.module
	if m.Replace != nil {
		m = m.Replace
	}
	own := moduleDir{Path: m.Path, Version: m.Version, Dir: m.Dir}
	if own.Dir == "" { // the packages are in a folder vendor, perhaps without the spec
		if own, err = download(own.Path, own.Version); err != nil {
			return err
		}
	}
	old, now := other, own
	if own.Version != "" && semver.Compare(own.Version, other.Version) < 0 {
		old, now = own, other
	}
	i.against = old.String()
	var all []breaking.Finding
	for _, down := range slices.Sorted(maps.Keys(hooks.specs)) {
		v, err := old.spec(down)
		if err != nil {
			return err
		}
		w, err := now.spec(down)
		if err != nil {
			return err
		}
		found, err := i.compareVersions(v, w)
		if err != nil {
			return err
		}
		all = append(all, slices.DeleteFunc(found, func(f breaking.Finding) bool { return !hooks.concerns(f) })...)
	}
	return i.printChanges(all, fmt.Sprintf("no change at the points of these hooks from %s to %s", old, now))
}

// hookPackages are the packages of -for.
type hookPackages struct {
	module *packages.Module
	specs  map[string]bool // directories of the specs whose generated packages they import, relative to the module
	names  map[string]bool // all identifiers in their files
}

// loadHooks loads packages, and finds the specs of a module whose generated packages they import. The hooks of other
// modules that they import count as theirs: a hook that embeds another one implements its points.
func loadHooks(patterns []string, modPath string) (*hookPackages, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	h := &hookPackages{specs: map[string]bool{}, names: map[string]bool{}}
	for p := range packages.Postorder(loaded) {
		if !slices.Contains(loaded, p) && (p.Module == nil || p.Module.Path == modPath) || !h.addSpecs(p, modPath) {
			continue // a package of the module itself, or one without hooks
		}
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s cannot be read: %w", p.PkgPath, p.Errors[0])
		}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			for n := range ast.Preorder(f) {
				if id, ok := n.(*ast.Ident); ok {
					h.names[id.Name] = true
				}
			}
		}
	}
	if h.module == nil {
		return nil, fmt.Errorf("%s: no package imports one that hookgen generated in %s: give the packages of your hooks, "+
			"and the module of the points", strings.Join(patterns, " "), modPath)
	}
	return h, nil
}

// addSpecs adds the specs of a module whose generated packages a package imports, and reports whether there is one.
func (h *hookPackages) addSpecs(p *packages.Package, modPath string) (found bool) {
	for _, imported := range p.Imports {
		m := imported.Module
		if m == nil || m.Path != modPath || len(imported.GoFiles) == 0 {
			continue
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(imported.GoFiles[0]), gen.FileName))
		if err != nil {
			continue // not a generated package
		}
		origin, _ := gen.OriginOf(text)
		if down, ok := strings.CutPrefix(origin.Source+"/", modPath+"/"); ok {
			h.module, h.specs[down], found = m, true, true
		}
	}
	return found
}

// concerns reports whether a finding is about a point that the hooks implement or observe, or about the whole spec.
func (h *hookPackages) concerns(f breaking.Finding) bool {
	if f.Verdict == breaking.BreaksLoops {
		return false
	}
	return len(f.Points) == 0 || h.names["AnyFired"] || slices.ContainsFunc(f.Points, func(point string) bool {
		return h.names[point] || h.names[point+"Func"] || h.names["Observe"+point]
	})
}

// A moduleDir is a version of a module on this machine.
type moduleDir struct {
	Path, Version, Dir, Error string
}

// String returns the path and the version. A directory that replaces the module has no version.
func (m moduleDir) String() string {
	if m.Version == "" {
		return m.Dir
	}
	return m.Path + "@" + m.Version
}

// download lets the go command download a version of a module, which may be latest.
func download(modPath, version string) (m moduleDir, err error) {
	if strings.HasPrefix(modPath, "-") {
		return m, fmt.Errorf("-against %s@%s is not a module", modPath, version)
	}
	out, err := exec.Command("go", "mod", "download", "-json", modPath+"@"+version).Output()
	var exit *exec.ExitError
	switch decoded := json.Unmarshal(out, &m); {
	case m.Error != "":
		err = errors.New(m.Error)
	case errors.As(err, &exit):
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	case err == nil:
		err = decoded
	}
	if err != nil {
		return m, fmt.Errorf("%s@%s cannot be downloaded: %w", modPath, version, err)
	}
	return m, nil
}

// spec reads the spec in a directory of the module, without the lines that accept changes: they speak for the program,
// not for the authors of hooks.
func (m moduleDir) spec(down string) (*specVersion, error) {
	dir := filepath.Join(m.Dir, filepath.FromSlash(down))
	files, found := gen.Files(dir)
	spec, err := outline(dir, m.String(), files, found)
	if spec == nil && err == nil {
		err = fmt.Errorf("%s has no spec in %s: it was moved or removed", m, strings.TrimSuffix(down, "/"))
	}
	if err != nil {
		return nil, err
	}
	spec.Ignores = nil
	for _, p := range spec.Points {
		p.Ignores = nil
	}
	v := &specVersion{what: m.String()}
	v.describeIn(dir, spec, files)
	return v, nil
}
