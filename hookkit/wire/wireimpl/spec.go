package wireimpl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/internal/spelling"
)

// A Spec describes a spec of generated code.
type Spec struct {
	Path   string   // the import path of the spec's package
	Points []string // the points that have messages
}

// has returns an error if a point that an option names is not a wire point. all are the points of the Hooks.
func (s Spec) has(option, named string, all []hookkit.AnyPoint) error {
	switch {
	case slices.Contains(s.Points, named):
		return nil
	case slices.ContainsFunc(all, func(p hookkit.AnyPoint) bool { return p.Name == named }):
		return fmt.Errorf("wire: wire.%s names %q, which has no messages; points that wrap an act, and points marked "+
			"//hookgen:local, stay in the process", option, named)
	}
	if meant := spelling.Suggest(named, s.Points); meant != "" {
		return fmt.Errorf("wire: wire.%s names %q; did you mean %q?", option, named, meant)
	}
	return fmt.Errorf("wire: wire.%s names %q, which is not a point of %s; it has %s", option, named, s.Path,
		strings.Join(s.Points, ", "))
}

// accept compares a description with the spec.
func (s Spec) accept(d wire.Description) error {
	if d.Protocol != wire.Protocol {
		return fmt.Errorf("it speaks version %d of the protocol, and this program version %d; use the same version of "+
			"hookgen at both ends", d.Protocol, wire.Protocol)
	}
	if d.Spec != s.Path {
		return fmt.Errorf("its hooks are for the spec %.200q, and this program has %q", d.Spec, s.Path)
	}
	return nil
}
