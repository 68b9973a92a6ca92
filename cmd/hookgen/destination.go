package main

import (
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// A destination is the directory and package of the output.
type destination struct {
	path string // of the file
	dir  string // of the spec
	own  bool   // a package of its own
	name string // of that package
}

// destination evaluates the flag -o. Its errors are errors of usage.
func (i *invocation) destination() (*destination, error) {
	d := &destination{path: filepath.Join(i.dir, gen.FileName), dir: i.dir}
	if i.out == "" || sameDir(i.out, i.dir) {
		return d, nil
	}
	if info, err := os.Stat(i.out); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("-o %s is a file: give the directory that %s goes into", i.out, gen.FileName)
	}
	absolute, err := filepath.Abs(i.out)
	if err != nil {
		return nil, err
	}
	d.own, d.path, d.name = true, filepath.Join(i.out, gen.FileName), filepath.Base(absolute)
	if !token.IsIdentifier(d.name) || d.name == "_" || d.name == "main" {
		return nil, fmt.Errorf("-o %s: the package is named after its directory, and %q cannot be the name of a package: "+
			"choose another directory", i.out, d.name)
	}
	return d, nil
}

// sameDir reports whether two paths lead to the same directory.
func sameDir(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// output returns the destination for the emitter. An error is a diagnostic, or says that the import path of the spec is
// unknown.
func (d *destination) output(s *gen.Spec) (gen.Output, error) {
	specPath, err := importPath(d.dir)
	if !d.own {
		if err != nil {
			specPath = s.Package // all that a spec outside of a module is known by
		}
		return gen.Output{Package: s.Package, Source: specPath}, nil
	}
	if err != nil {
		return gen.Output{}, fmt.Errorf("%w, so the generated package could not import the spec: "+
			"generate next to it, without -o, or run go mod init", err)
	}
	// The checks of its path below need a module; outside of one they are skipped.
	ownPath, _ := importPath(filepath.Dir(d.path))
	position := s.Fset.PositionFor(s.Interface.Name.Pos(), false)
	if before, ok := internalParent(specPath); ok && ownPath != "" && ownPath != before &&
		!strings.HasPrefix(ownPath, before+"/") {
		return gen.Output{}, gen.Diagnostics{{Pos: position, Rule: "output-internal", Message: fmt.Sprintf(
			"the spec is in %s, which %s may not import: generate below %s, or move the spec", specPath, ownPath, before)}}
	}
	for _, line := range s.Imports {
		if line.Path == ownPath {
			return gen.Output{}, gen.Diagnostics{{Pos: s.Fset.PositionFor(line.Pos, false), Rule: "output-cycle",
				Message: fmt.Sprintf(
					"the spec imports %s, which is the package that is generated: generate into another directory", ownPath)}}
		}
	}
	return gen.Output{Package: d.name, SpecPath: specPath, Source: specPath}, nil
}

// internalParent returns the path whose packages may import an internal package. It reports false if the package is not
// internal.
func internalParent(path string) (string, bool) {
	if strings.HasPrefix(path, "internal/") || path == "internal" {
		return "", false
	}
	if i := strings.LastIndex(path+"/", "/internal/"); i >= 0 {
		return path[:i], true
	}
	return "", false
}
