package main

import (
	"fmt"

	"github.com/hookgen/hookgen/gen"
)

// An output is one generated file and its spec.
type output struct {
	spec *gen.Spec
	path string
	text []byte
	own  bool // it is a package of its own
}

// generate writes the output for the spec in the directory.
func (i *invocation) generate() error {
	o, err := i.make()
	if err != nil {
		return err
	}
	old, err := o.existing()
	if err != nil {
		return err
	}
	did := "unchanged"
	if !same(old, o.text) {
		did = "wrote"
		if err := replace(o.path, o.text); err != nil {
			return err
		}
	}
	i.say("%s %s: %s, %d bytes", did, o.path, o.points(), len(o.text))
	return nil
}

// make reads the spec and generates its output in memory.
func (i *invocation) make() (*output, error) {
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
	return &output{spec, where.path, text, where.own}, nil
}

// points returns the number of points with its noun, for messages.
func (o *output) points() string {
	if n := len(o.spec.List); n != 1 {
		return fmt.Sprintf("%d points", n)
	}
	return "1 point"
}
