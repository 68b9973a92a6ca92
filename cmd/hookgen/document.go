package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/page"
	"github.com/hookgen/hookgen/gen/summary"
)

// doc prints the page of the spec, or writes it to the file of -o.
func (i *invocation) doc() error {
	spec, found := gen.Read(i.dir)
	if len(found) > 0 {
		return found
	}
	specPath, err := importPath(i.dir)
	if err != nil {
		specPath = "" // outside of a module
	}
	s := summary.Of(spec, specPath)
	text := page.Write(s, i.generatedPackage(s))
	if i.out == "" {
		_, err := i.stdout.Write(text)
		return err
	}
	o := &output{path: i.out, text: text}
	if o.old, err = previous(o.path, page.Header); err != nil {
		return err
	}
	return i.write(o)
}

// generatedPackage returns the import path of the package that a go:generate line of the spec writes, by default that
// of the spec.
func (i *invocation) generatedPackage(s *summary.Spec) string {
	files, _ := gen.Files(i.dir)
	out := filepath.FromSlash(outputDir(filepath.ToSlash(i.dir), files))
	path, err := importPath(out)
	if err != nil || sameDir(out, i.dir) {
		return s.Path
	}
	return path
}

// previous returns the text of a document that an earlier run wrote, or nil if the file does not exist. A file without
// the header of its kind is a diagnostic, so that nobody loses a page of their own.
func previous(path, header string) ([]byte, error) {
	text, err := current(path, func(path string, _ fs.FileMode) error {
		return inTheWay(path, "output-special", "is not a regular file: give the name of a file")
	})
	if text != nil && !bytes.Contains(text, []byte(header)) {
		return nil, inTheWay(path, "hand-written", fmt.Sprintf(
			"was not written by hookgen (it lacks %q) and is not overwritten: give another file, or remove it", header))
	}
	return text, err
}
