package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookgen/hookgen/gen"
)

// An output is one generated file and its spec.
type output struct {
	spec   *gen.Spec
	path   string
	text   []byte // nil if the spec has no use for the file
	own    bool   // it is a package of its own
	source string // the spec as the header names it
	points int    // in the file
}

// generate writes the outputs for the spec in the directory.
func (i *invocation) generate() error {
	outputs, err := i.make()
	if err != nil {
		return err
	}
	old := make([][]byte, len(outputs))
	for n, o := range outputs { // before any is written, so that all are or none
		if old[n], err = o.existing(); err != nil {
			return err
		}
	}
	if found := clashesWithNeighbours(outputs); len(found) > 0 {
		return found
	}
	for n, o := range outputs {
		if err := i.write(o, old[n]); err != nil {
			return err
		}
	}
	return nil
}

// clashesWithNeighbours reports why outputs of a package of its own would not compile next to the files that are in
// their directory already.
func clashesWithNeighbours(outputs []*output) gen.Diagnostics {
	if !outputs[0].own {
		return nil // gen.CheckOutput checked the package of the spec
	}
	texts := map[string][]byte{}
	for _, o := range outputs {
		if o.text != nil {
			texts[filepath.Base(o.path)] = o.text
		}
	}
	return gen.CheckNeighbours(filepath.Dir(outputs[0].path), texts)
}

// write replaces one output, unless it is up to date.
func (i *invocation) write(o *output, old []byte) error {
	if o.text == nil {
		if old == nil {
			return nil
		}
		if err := os.Remove(o.path); err != nil {
			return fmt.Errorf("%s cannot be removed: %w", o.path, plain(err))
		}
		i.say("removed %s: the spec is not marked //hookgen:wire", o.path)
		return nil
	}
	did := "unchanged"
	if !same(old, o.text) {
		did = "wrote"
		if err := replace(o.path, o.text); err != nil {
			return err
		}
	}
	i.say("%s %s: %s, %d bytes", did, o.path, count(o.points, "point"), len(o.text))
	return nil
}

// make reads the spec and generates its outputs in memory: the hooks, and the file for hooks of other processes. The
// text of the latter is nil if the spec does not ask for it.
func (i *invocation) make() ([]*output, error) {
	where, err := i.destination()
	if err != nil {
		return nil, err
	}
	spec, found := gen.Read(i.dir)
	if len(found) > 0 {
		return nil, found
	}
	to, err := where.output(spec)
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
	var wire []byte
	wired := 0
	for _, p := range spec.Points {
		if spec.Wired(p) {
			wired++
		}
	}
	if spec.Wire {
		if wire, err = gen.EmitWire(spec, to); err != nil {
			return nil, err
		}
	}
	return []*output{
		{spec, where.path, text, where.own, to.Source, len(spec.Points)},
		{spec, filepath.Join(filepath.Dir(where.path), gen.WireFileName), wire, where.own, to.Source, wired},
	}, nil
}
