package main

import (
	"fmt"
	"go/token"
	"os"
	"path/filepath"

	"github.com/hookgen/hookgen/gen"
)

// destination evaluates the flag -o. It returns the directory of the output and the name of its package. Next to the
// spec, the name is "". Its errors are errors of usage.
func (i *invocation) destination() (dir, name string, err error) {
	if i.out == "" || sameDir(i.out, i.dir) {
		return i.dir, "", nil
	}
	if info, err := os.Stat(i.out); err == nil && !info.IsDir() {
		return "", "", fmt.Errorf("-o %s is a file: give the directory that %s goes into", i.out, gen.FileName)
	}
	absolute, err := filepath.Abs(i.out)
	if err != nil {
		return "", "", err
	}
	name = filepath.Base(absolute)
	if !token.IsIdentifier(name) || name == "_" || name == "main" {
		return "", "", fmt.Errorf("-o %s: the package is named after its directory, and %q cannot be the name of a package: "+
			"choose another directory", i.out, name)
	}
	return i.out, name, nil
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

// outputFor describes the output in a directory for the emitter. dir and name are results of destination. An error is a
// diagnostic, or says that the import path of the spec is unknown.
func (i *invocation) outputFor(s *gen.Spec, dir, name string) (gen.Output, error) {
	specPath, err := importPath(i.dir)
	if name == "" {
		if err != nil {
			specPath = s.Package // all that a spec outside of a module is known by
		}
		return gen.Output{Package: s.Package, Source: specPath}, nil
	}
	if err != nil {
		return gen.Output{}, fmt.Errorf("%w, so the generated package could not import the spec: "+
			"generate next to it, without -o, or run go mod init", err)
	}
	return gen.Output{Package: name, SpecPath: specPath, Source: specPath}, nil
}
