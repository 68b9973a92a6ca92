package hookimpl

import (
	"cmp"
	"slices"
)

// layers returns the registries whose hooks r fires, the outermost first: those of its bases, each once, and r itself.
func (r *Registry) layers() []*Registry {
	var all []*Registry
	for i, base := range r.bases {
		if i == 0 {
			all = base.layers()
			continue
		}
		for _, layer := range base.layers() {
			if !slices.ContainsFunc(all, layer.isSame) {
				all = append(all, layer)
			}
		}
	}
	if r.fixed == "" {
		all = append(all, r)
	}
	return all
}

// nameOf returns the name of one of the layers of r. The outermost Hooks have none; in the result of Over those of the
// second base have the name of the result.
func (r *Registry) nameOf(layer *Registry) string {
	root := r.outermost()
	if layer.name != "" || layer.live != nil || len(root.bases) < 2 || slices.Contains(root.bases[0].layers(), layer) {
		return layer.name
	}
	return cmp.Or(root.bases[1].nameOf(layer), root.name)
}

// isSame reports whether both registries are one, or copies of one.
func (r *Registry) isSame(other *Registry) bool { return r.origin() == other.origin() }

// origin returns the registry of which r is a frozen copy, or r itself.
func (r *Registry) origin() *Registry { return cmp.Or(r.live, r) }

// outermost returns the registry of the same point in the Hooks that all layers are on.
func (r *Registry) outermost() *Registry {
	for r.outer != nil {
		r = r.outer
	}
	return r
}

// isWith reports whether both registries belong to one Hooks and the layers on it.
func (r *Registry) isWith(other *Registry) bool {
	return sameHooks(r.outermost().genPoint, other.outermost().genPoint)
}

// isWithin reports whether outer is one of the layers around r.
func (r *Registry) isWithin(outer *Registry) bool {
	for at := r.outer; at != nil; at = at.outer {
		if at == outer {
			return true
		}
	}
	return false
}
