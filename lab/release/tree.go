package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// unreleased are the modules that no release has, with the reason. Every other module of the repository is released.
var unreleased = map[string]string{
	"lab/bench":                   "measures speed next to other systems, in this repository only",
	"cmd/hooklog/pagetest":        "has only tests, which need a browser",
	"site/sitetest":               "has only tests, which need a browser",
	"contrib/temporal/servertest": "has only tests, which need a server that takes minutes to compile",
	"examples/agent":              "is a program to read and run in a clone",
	"examples/coder":              "is a program to read and run in a clone",
	"examples/fleet":              "is a program to read and run in a clone",
	"examples/gateway":            "is a program to read and run in a clone",
	"examples/jobs":               "is a program to read and run in a clone",
	"examples/quickstart":         "is a program to read and run in a clone",
}

// A tree is the modules of a directory.
type tree struct {
	dir     string
	modules map[string]*goModule // by path
}

// A goModule is a module of a tree.
type goModule struct {
	dir  string // with slashes, relative to the tree
	file *modfile.File
}

func (m *goModule) path() string   { return m.file.Module.Mod.Path }
func (m *goModule) name() string   { return path.Join(m.dir, "go.mod") }
func (m *goModule) released() bool { return unreleased[m.dir] == "" }

// tag returns the tag with which the go command finds a version of the module.
func (m *goModule) tag(version string) string { return path.Join(m.dir, version) }

// readTree reads every go.mod below a directory, except in testdata.
func readTree(dir string) (*tree, error) {
	t := &tree{dir, map[string]*goModule{}}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == ".git"):
			return fs.SkipDir
		case entry.IsDir() || entry.Name() != "go.mod":
			return nil
		}
		text, err := os.ReadFile(t.path(name))
		if err != nil {
			return err
		}
		file, err := modfile.Parse(name, text, nil)
		if err != nil {
			return err
		}
		t.modules[file.Module.Mod.Path] = &goModule{path.Dir(name), file}
		return nil
	})
	return t, err
}

// path returns the file for a name relative to the tree.
func (t *tree) path(name string) string { return filepath.Join(t.dir, filepath.FromSlash(name)) }

// module returns the module in a directory, or nil.
func (t *tree) module(dir string) *goModule {
	for _, m := range t.modules {
		if m.dir == dir {
			return m
		}
	}
	return nil
}

// ours reports whether a path is that of the root module, or of one that the root module's tree has or once had.
func (t *tree) ours(p string) bool {
	root := t.module(".").path()
	return p == root || strings.HasPrefix(p, root+"/")
}

// sorted returns the modules by directory.
func (t *tree) sorted() []*goModule {
	return slices.SortedFunc(maps.Values(t.modules), func(a, b *goModule) int { return strings.Compare(a.dir, b.dir) })
}

// check refuses a version that a file of the tree contradicts, and modules that would not install.
func (t *tree) check(version string) error {
	if err := module.Check(t.module(".").path(), version); err != nil {
		return fmt.Errorf("%w; a new major version changes the path in every import", err)
	}
	source, err := os.ReadFile(t.path("gen/version.go"))
	if err != nil {
		return err
	}
	declared := regexp.MustCompile(`(?m)^const Version = "(.*)"`).FindSubmatch(source)
	if declared == nil || string(declared[1]) != version {
		return fmt.Errorf("gen/version.go: Version is not %q; set it, because hookgen version prints it", version)
	}
	changelog, err := os.ReadFile(t.path("CHANGELOG.md"))
	if err != nil {
		return err
	}
	if err := checkChangelog(string(changelog), version); err != nil {
		return err
	}
	return t.checkModules()
}

// checkModules refuses modules that a program could not install when they are released.
func (t *tree) checkModules() error {
	required := "" // the version of every requirement on a module of this tree
	for _, m := range t.sorted() {
		want := path.Join(t.module(".").path(), m.dir)
		if m.released() && m.path() != want {
			return fmt.Errorf("%s: the module is %s, but its directory makes it %s; rename it, or add it to unreleased in "+
				"lab/release", m.name(), m.path(), want)
		}
		for _, r := range m.file.Require {
			if !t.ours(r.Mod.Path) {
				continue
			}
			if err := t.checkUse(m, r.Mod.Path, "requires"); err != nil {
				return err
			}
			if required == "" {
				required = r.Mod.Version
			}
			if r.Mod.Version != required {
				return fmt.Errorf("%s: it requires %s, other modules require version %s; use one version in all", m.name(),
					r.Mod, required)
			}
		}
		for _, r := range m.file.Replace {
			if !t.ours(r.Old.Path) {
				if m.released() {
					return fmt.Errorf("%s: it replaces %s, so go install refuses its programs; remove the replace directive",
						m.name(), r.Old.Path)
				}
				continue
			}
			if err := t.checkUse(m, r.Old.Path, "replaces"); err != nil {
				return err
			}
			if to := t.modules[r.Old.Path].dir; path.Join(m.dir, filepath.ToSlash(r.New.Path)) != to {
				return fmt.Errorf("%s: it replaces %s by %s, which is not its directory; replace it by its directory %s",
					m.name(), r.Old.Path, r.New.Path, to)
			}
		}
		if len(m.file.Exclude) > 0 && m.released() {
			return fmt.Errorf("%s: it excludes %s, so go install refuses its programs; remove the exclude directive",
				m.name(), m.file.Exclude[0].Mod.Path)
		}
	}
	return nil
}

// checkUse refuses the use of a module that is not in the tree, or not released with the module that uses it.
func (t *tree) checkUse(m *goModule, used, verb string) error {
	switch u := t.modules[used]; {
	case u == nil:
		return fmt.Errorf("%s: it %s %s, which is not in this repository; remove the line", m.name(), verb, used)
	case m.released() && !u.released():
		return fmt.Errorf("%s: it %s %s, which is not released; remove the line, or %s from unreleased in lab/release",
			m.name(), verb, used, u.dir)
	}
	return nil
}

// order returns the modules so that each is after the modules of the tree that it requires.
func (t *tree) order() ([]*goModule, error) {
	var order []*goModule
	const open, done = 1, 2
	state := map[*goModule]int{}
	var visit func(m *goModule) error
	visit = func(m *goModule) error {
		switch state[m] {
		case done:
			return nil
		case open:
			return fmt.Errorf("%s: it requires modules that require it; remove one of these requirements", m.name())
		}
		state[m] = open
		for _, used := range t.uses(m) {
			if err := visit(t.modules[used]); err != nil {
				return err
			}
		}
		state[m] = done
		order = append(order, m)
		return nil
	}
	for _, m := range t.sorted() {
		if err := visit(m); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// uses returns the modules of the tree that m requires, sorted.
func (t *tree) uses(m *goModule) []string {
	var used []string
	for _, r := range m.file.Require {
		if t.ours(r.Mod.Path) {
			used = append(used, r.Mod.Path)
		}
	}
	slices.Sort(used)
	return used
}
