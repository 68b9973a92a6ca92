package main

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/hookgen/hookgen/gen"
)

// generate writes the outputs for the spec in the directory: all, or none if one of them is refused.
func (i *invocation) generate() error {
	outputs, err := i.make()
	if err != nil {
		return err
	}
	for _, o := range outputs {
		if err := i.write(o); err != nil {
			return err
		}
	}
	return nil
}

// make reads the spec and generates its outputs in memory: the hooks, and the file for hooks of other processes. The
// text of the latter is nil if the spec does not ask for it.
func (i *invocation) make() ([]*output, error) {
	dir, name, err := i.destination()
	if err != nil {
		return nil, err
	}
	spec, found := gen.Read(i.dir)
	if len(found) > 0 {
		return nil, found
	}
	to, err := i.outputFor(spec, dir, name)
	if err != nil {
		return nil, err
	}
	if found := gen.CheckOutput(spec, to); len(found) > 0 {
		return nil, found
	}
	if found := i.checkParents(spec); len(found) > 0 {
		return nil, found
	}
	text, err := gen.Emit(spec, to)
	if err != nil {
		return nil, err
	}
	outputs := []*output{
		{path: filepath.Join(dir, gen.FileName), text: text, holds: count(len(spec.Points), "point") + ", "},
		{path: filepath.Join(dir, gen.WireFileName)},
	}
	if spec.Wire {
		wired := slices.DeleteFunc(slices.Clone(spec.Points), func(p *gen.Point) bool { return !spec.Wired(p) })
		outputs[1].holds = count(len(wired), "point") + ", "
		if outputs[1].text, err = gen.EmitWire(spec, to); err != nil {
			return nil, err
		}
	}
	for _, o := range outputs {
		if o.old, err = existing(o, spec, to); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}

// existing returns the text of a generated file, or nil if the file does not exist. A file that hookgen did not
// generate, or that it generated from another spec, is a diagnostic.
//
// If the spec has no use for the file, only one that hookgen generated from this spec counts.
func existing(o *output, s *gen.Spec, to gen.Output) ([]byte, error) {
	text, err := current(o.path, notGenerated)
	if text == nil || err != nil {
		return nil, err
	}
	origin, generated := gen.OriginOf(text)
	switch {
	case o.text == nil && (!generated || !sameSpec(origin.Source, s, to)):
		return nil, nil
	case !generated:
		return nil, inTheWay(o.path, "hand-written",
			"was not written by hookgen (it lacks the line "+gen.Header+") and is not overwritten: rename or remove it")
	case !sameSpec(origin.Source, s, to):
		return nil, inTheWay(o.path, "other-spec", fmt.Sprintf(
			"was generated from %s and is not overwritten with the output of %s: "+
				"choose another directory with -o, or remove the file if its spec was moved", origin.Source, to.Source))
	}
	return text, nil
}

// notGenerated returns the diagnostic for something else than a file where a generated file goes.
func notGenerated(path string, mode fs.FileMode) error {
	switch {
	case mode&fs.ModeSymlink != 0:
		return inTheWay(path, "output-link", "is a symbolic link, and would be replaced by a file: "+
			"remove it, or give the directory that it leads to with -o")
	case mode.IsDir():
		return inTheWay(path, "output-directory", "is a directory, and the generated file goes there: move it")
	}
	return inTheWay(path, "output-special", "is not a regular file, and the generated file goes there: move it")
}

// sameSpec reports whether the source in a header is this spec. Older files have no source. Next to the spec, the
// source may be a package name, because the directory was outside of a module at some time. With -o, the source is
// always an import path.
func sameSpec(source string, s *gen.Spec, to gen.Output) bool {
	if source == "" || source == to.Source {
		return true
	}
	own := to.SpecPath != ""
	return !own && (source == s.Package || to.Source == s.Package && path.Base(source) == s.Package)
}
