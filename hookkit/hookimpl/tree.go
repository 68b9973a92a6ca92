package hookimpl

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"weak"
)

// A tree is shared by the registries of one point in all layers on the same Hooks.
type tree struct {
	id uint64
	mu sync.Mutex
	// cached are the registries whose points have a snapshot. They are weak, because a program may make a layer for each
	// of its requests.
	cached []weak.Pointer[Registry]
}

// trees is the id of the last tree.
var trees atomic.Uint64

// keep stores a snapshot for later fires of the point. The caller holds the locks of all its layers.
func (r *Registry) keep(s *Snapshot) {
	var last *tree
	for _, layer := range s.layers {
		if t := layer.tree; t != last {
			t.cache(r)
			last = t
		}
	}
	r.state.snapshot.Store(s)
}

// cache makes forget drop the snapshot of the registry.
func (t *tree) cache(r *Registry) {
	if len(t.cached) == cap(t.cached) {
		t.cached = slices.DeleteFunc(t.cached, func(p weak.Pointer[Registry]) bool { return p.Value() == nil })
	}
	t.cached = append(t.cached, weak.Make(r))
}

// forget drops all snapshots, so that the next fires make new ones. Hooks that were removed do not stay in memory until
// then. The caller holds the lock.
func (t *tree) forget() {
	for _, p := range t.cached {
		if r := p.Value(); r != nil {
			r.state.snapshot.Store(nil)
		}
	}
	t.cached = nil
}

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
// first counts once.
func (r *Registry) layers() []*Registry {
	var own []*Registry
	for r.outer != nil {
		own = append(own, r)
		r = r.outer
	}
	var all []*Registry
	if r.over == nil {
		own = append(own, r)
	} else {
		all = r.over.first.layers()
		for _, layer := range r.over.second.layers() {
			if !slices.Contains(all, layer) {
				all = append(all, layer)
			}
		}
	}
	slices.Reverse(own)
	return append(all, own...)
}

// nameOf returns the name of one of the layers of r. The outermost Hooks have none; in the result of Over those of the
// second registry have the name of the result.
func (r *Registry) nameOf(layer *Registry) string {
	root := r.outermost()
	if layer.name != "" || root.over == nil || slices.Contains(root.over.first.layers(), layer) {
		return layer.name
	}
	return cmp.Or(root.over.second.nameOf(layer), root.name)
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
