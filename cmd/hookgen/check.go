package main

import (
	"fmt"
	"go/token"

	"github.com/hookgen/hookgen/gen"
)

// check reports how the output is stale, without writing anything.
func (i *invocation) check() error {
	o, err := i.make()
	if err != nil {
		return err
	}
	old, err := o.existing()
	switch {
	case err != nil:
		return err
	case old == nil:
		return i.stale(o, "does not exist")
	case same(old, o.text):
		i.say("fresh %s: %s, %d bytes", o.path, o.points(), len(o.text))
		return nil
	}
	i.say("%s", unifiedDiff(o.path, old, o.text))
	return i.stale(o, "is not what the spec makes")
}

// stale returns the diagnostic for output that is not up to date.
func (i *invocation) stale(o *output, why string) error {
	flag := ""
	if i.out != "" {
		flag = " -o " + i.out
	}
	return gen.Diagnostics{{
		Pos: token.Position{Filename: o.path}, Rule: "stale",
		Message: fmt.Sprintf("%s: run hookgen%s %s", why, flag, i.dir),
	}}
}
