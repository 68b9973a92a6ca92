package main

import (
	"fmt"
	"go/token"

	"github.com/hookgen/hookgen/gen"
)

// check reports how the outputs are stale, without writing anything.
func (i *invocation) check() error {
	outputs, err := i.make()
	if err != nil {
		return err
	}
	var found gen.Diagnostics
	for _, o := range outputs {
		old, err := o.existing()
		switch {
		case err != nil:
			return err
		case old == nil && o.text == nil:
		case old == nil:
			found = append(found, i.stale(o, "does not exist"))
		case o.text == nil:
			found = append(found, i.stale(o, "is not needed, because the spec is not marked //hookgen:wire"))
		case same(old, o.text):
			i.say("fresh %s: %s, %d bytes", o.path, o.points(), len(o.text))
		default:
			i.say("%s", unifiedDiff(o.path, old, o.text))
			found = append(found, i.stale(o, "is not what the spec makes"))
		}
	}
	if len(found) > 0 {
		return found
	}
	return nil
}

// stale returns the diagnostic for output that is not up to date.
func (i *invocation) stale(o *output, why string) gen.Diagnostic {
	flag := ""
	if i.out != "" {
		flag = " -o " + i.out
	}
	return gen.Diagnostic{
		Pos: token.Position{Filename: o.path}, Rule: "stale",
		Message: fmt.Sprintf("%s: run hookgen%s %s", why, flag, i.dir),
	}
}
