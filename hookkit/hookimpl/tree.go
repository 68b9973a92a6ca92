package hookimpl

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// A tree is shared by the registries of one point in all layers on the same Hooks.
type tree struct {
	id      uint64
	mu      sync.Mutex
	version atomic.Uint64 // counts changes, so that a snapshot knows whether it is current
}

var trees atomic.Uint64

func newTree() *tree { return &tree{id: trees.Add(1)} }

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

// layers returns the registries of the point in all layers around r and r itself, the outermost first.
func (r *Registry) layers() []*Registry {
	var all []*Registry
	for at := r; at != nil; at = at.outer {
		all = append(all, at)
	}
	slices.Reverse(all)
	return all
}

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
