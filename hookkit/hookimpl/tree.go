package hookimpl

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// A tree is shared by the registries of one point in all layers on the same Hooks.
type tree struct {
	id uint64
	mu sync.Mutex
}

// trees is the id of the last tree.
var trees atomic.Uint64

// lock locks the trees of the registries, in an order that is the same for everybody, and returns how to unlock them.
func lock(registries []*Registry) (unlock func()) {
	var ts []*tree
	for _, r := range registries {
		if !slices.Contains(ts, r.tree) {
			ts = append(ts, r.tree)
		}
	}
	slices.SortFunc(ts, func(a, b *tree) int { return cmp.Compare(a.id, b.id) })
	for _, t := range ts {
		t.mu.Lock()
	}
	return func() {
		for _, t := range ts {
			t.mu.Unlock()
		}
	}
}

// layers returns the registries whose hooks r fires, the outermost first: those of the layers around r, and r itself.
// The result of Over has no hooks of its own. Instead it fires those of two other registries, in which a layer of the
// first counts once. That of Pinned fires frozen copies.
func (r *Registry) layers() []*Registry {
	var own, all []*Registry
	for r.outer != nil && r.frozen == nil {
		own = append(own, r)
		r = r.outer
	}
	switch {
	case r.frozen != nil:
		all = slices.Clip(r.frozen)
	case r.over != nil:
		all = r.over.first.layers()
		for _, layer := range r.over.second.layers() {
			if !slices.ContainsFunc(all, layer.isSame) {
				all = append(all, layer)
			}
		}
	default:
		own = append(own, r)
	}
	slices.Reverse(own)
	return append(all, own...)
}

// nameOf returns the name of one of the layers of r. The outermost Hooks have none; in the result of Over those of the
// second registry have the name of the result.
func (r *Registry) nameOf(layer *Registry) string {
	root := r.outermost()
	if layer.name != "" || layer.live != nil || root.over == nil || slices.Contains(root.over.first.layers(), layer) {
		return layer.name
	}
	return cmp.Or(root.over.second.nameOf(layer), root.name)
}

// isSame reports whether both registries are one, or copies of one.
func (r *Registry) isSame(other *Registry) bool { return r.origin() == other.origin() }

// outermost returns the registry of the same point in the Hooks that all layers are on.
func (r *Registry) outermost() *Registry {
	for r.outer != nil {
		r = r.outer
	}
	return r
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
