package hookimpl

import (
	"cmp"
	"context"
	"slices"

	"github.com/hookgen/hookgen/hookkit"
)

// A layer is the registrations of one registry: those of now or, in the result of Pinned, of an earlier moment.
type layer struct {
	of        *Registry
	name      string   // in listings; "" for the outermost Hooks
	entries   []*entry // in firing order
	onFailure func(context.Context, *hookkit.Failure)
	frozen    bool // it never changes
}

// layers returns the layers whose hooks r fires, the outermost first: those of its bases, each once, and its own. The
// caller holds the lock.
func (r *Registry) layers() []layer {
	if r.frozen != nil {
		return r.frozen
	}
	var all []layer
	for i, base := range r.bases {
		if i == 0 {
			all = base.layers()
			continue
		}
		for _, l := range base.layers() {
			if !slices.ContainsFunc(all, l.of.owns) {
				l.name = cmp.Or(l.name, r.name)
				all = append(all, l)
			}
		}
	}
	if r.fixed == "" {
		all = append(all, layer{of: r, name: r.name, entries: r.inOrder(), onFailure: r.onFailure})
	}
	return all
}

// owns reports whether the layer is that of r.
func (r *Registry) owns(l layer) bool { return l.of == r }

// around returns r and the registries of the layers around it, the outermost last.
func (r *Registry) around() []*Registry {
	all := []*Registry{r}
	for len(r.bases) == 1 {
		r = r.bases[0]
		all = append(all, r)
	}
	return all
}

// isWith reports whether both registries belong to one Hooks and the layers on it.
func (r *Registry) isWith(other *Registry) bool {
	a, b := r.around(), other.around()
	return sameHooks(a[len(a)-1].genPoint, b[len(b)-1].genPoint)
}

// isWithin reports whether outer is of the Hooks of one of the layers around r, at this point or another.
func (r *Registry) isWithin(outer *Registry) bool {
	return slices.ContainsFunc(r.around()[1:], func(l *Registry) bool { return sameHooks(l.genPoint, outer.genPoint) })
}
