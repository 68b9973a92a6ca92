package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/hookgen/hookgen/gen"
)

// checkAll checks every spec that a pattern such as ./... matches, and prints one line about all of them.
func (i *invocation) checkAll(root string) error {
	i.all = true
	i.line.Set(func() string { return "looking for specs" })
	tree, err := readTree(root)
	if err != nil {
		return err
	}
	var found gen.Diagnostics
	specs, fresh, stale := 0, 0, 0
	for n, dir := range tree.dirs {
		i.line.Set(func() string { return fmt.Sprintf("checking %d of %d: %s", n+1, len(tree.dirs), dir) })
		spec, problems := gen.Read(dir)
		if isNoSpec(problems) {
			continue
		}
		specs++
		if len(problems) == 0 {
			problems = i.checkSpec(spec, tree.linesFor(dir))
		}
		switch {
		case len(problems) == 0:
			fresh++
		case !slices.ContainsFunc(problems, func(d gen.Diagnostic) bool { return d.Rule != ruleStale }):
			stale++
		}
		found = append(found, problems...)
	}
	if specs == 0 {
		return inTheWay(root, ruleNoSpec,
			"no spec in it or below it: run hookgen init for a first one, or give another directory")
	}
	i.say("checked %s: %d fresh, %d stale, %d with mistakes", count(specs, "spec"), fresh, stale, specs-fresh-stale)
	return asError(found)
}

// checkSpec checks the outputs of one spec, for which these go:generate lines were found.
func (i *invocation) checkSpec(spec *gen.Spec, lines []generateLine) gen.Diagnostics {
	if len(lines) == 0 {
		return diagnostic(namePosition(spec), ruleGenerateLine,
			"no go:generate line generates this spec: add the line "+suggestedLine+" to its file")
	}
	err := i.checkLines(lines)
	var found gen.Diagnostics
	if err != nil && !errors.As(err, &found) {
		found = inTheWay(spec.Dir, gen.RuleIO, err.Error())
	}
	return found
}

// count returns a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// goPath returns a directory as an argument of the go command.
func goPath(dir string) string {
	dir = filepath.ToSlash(dir)
	if dir == "." || filepath.IsAbs(dir) || strings.HasPrefix(dir, "../") {
		return dir
	}
	return "./" + dir
}

// A specTree is what hookgen needs to know of a directory and those below it.
type specTree struct {
	dirs  []string       // that may have a spec
	lines []generateLine // of all directories
}

// readTree reads the directories that the go command matches with root/...: without testdata, vendor, nested modules,
// directories that go.mod ignores, and those whose names begin with a dot or an underscore.
func readTree(root string) (*specTree, error) {
	if info, err := os.Stat(root); err != nil {
		return nil, fmt.Errorf("%s: %w", root, plain(err))
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory: give one before the pattern", root)
	}
	ignored, err := ignoredDirs(root)
	if err != nil {
		return nil, err
	}
	tree := &specTree{}
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("%s cannot be read: %w", name, plain(err))
		case entry.IsDir():
			if name != root && (skipped(name, entry.Name()) || ignored(name)) {
				return fs.SkipDir
			}
			return nil
		}
		if err := tree.read(name); err != nil {
			return fmt.Errorf("%s cannot be read: %w", name, plain(err))
		}
		return nil
	})
	return tree, err
}

// read adds a file that may be a part of a spec.
func (t *specTree) read(name string) error {
	if filepath.Ext(name) != ".go" {
		return nil
	}
	text, err := readSource(name)
	if err != nil || !bytes.Contains(bytes.ToLower(text), []byte("hookgen")) || gen.Generated(text) {
		return err
	}
	if dir := filepath.Dir(name); !slices.Contains(t.dirs, dir) {
		t.dirs = append(t.dirs, dir)
	}
	t.lines = append(t.lines, generateLines(name, text)...)
	return nil
}

// readSource returns the text of a Go file. Editors leave links that lead nowhere, and reading a named pipe would wait
// for ever, so readSource returns nil for everything that is not a regular file.
func readSource(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// skipped reports whether the go command leaves out a directory below the root of a pattern.
func skipped(path, name string) bool {
	return name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
		exists(filepath.Join(path, "go.mod"))
}

// ignoredDirs returns a function that reports whether an ignore line of the module's go.mod names a directory.
func ignoredDirs(root string) (func(dir string) bool, error) {
	absolute, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	module, text, err := moduleAbove(absolute)
	if err != nil {
		return func(string) bool { return false }, nil //nolint:nilerr // outside of a module nothing is ignored
	}
	lines := parseMod(text).Ignore
	return func(dir string) bool {
		absolute, _ := filepath.Abs(dir) // like that of root
		down, err := filepath.Rel(module, absolute)
		down = "/" + filepath.ToSlash(down)
		return err == nil && slices.ContainsFunc(lines, func(line *modfile.Ignore) bool {
			if fixed, ok := strings.CutPrefix(line.Path, "./"); ok {
				return down == "/"+strings.TrimSuffix(fixed, "/")
			}
			return strings.HasSuffix(down, "/"+strings.Trim(line.Path, "/"))
		})
	}, nil
}

// linesFor returns the lines that generate from the spec in a directory. A line in the same directory that cannot be
// used may have been meant for it.
func (t *specTree) linesFor(dir string) []generateLine {
	var lines []generateLine
	for _, line := range t.lines {
		if here := filepath.Dir(line.pos.Filename) == dir; line.problem != "" && here ||
			line.problem == "" && sameDir(line.dir, dir) {
			lines = append(lines, line)
		}
	}
	return lines
}
