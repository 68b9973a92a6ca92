package hookimpl

import (
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/callsite"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// A Key describes the key of a point: the part of the payload by which hooks are registered for some fires only.
type Key struct {
	name string
	typ  reflect.Type
	read func(payload any) any
}

// KeyOf describes a key. of returns the key of a payload.
func KeyOf[P any, K comparable](name string, of func(P) K) *Key {
	return &Key{name, reflect.TypeFor[K](), func(payload any) any { return of(As[P](payload)) }}
}

// A SnapshotFor is the snapshot of a point whose key is a K. hookvet reads the type of the key there.
type SnapshotFor[K any] = *Snapshot

// For returns the option that registers hooks for these values of the key only. It panics with the place of the call of
// the generated function, for example ForTool, if there are none.
func For[K comparable](key string, values []K) hookkit.KeyOption {
	if len(values) == 0 {
		panic(fmt.Sprintf("hookkit: For%s at %s: no key is given, so that the hook would never run; pass one, "+
			"or leave out the option to register for all", key, callsite.Of(2)))
	}
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	given := opaque.Keys{Name: key, Values: all}
	return opaque.KeyOption(given.And(given)).(hookkit.KeyOption) // each once
}

// For returns what a fire with the key runs of the result of Current, at a point with a key. It is nil as that may be.
// It is small enough to be inlined, for points without registrations for some keys.
func (s *Snapshot) For(key any) *Snapshot {
	if s == nil || s.keyed == nil {
		return s
	}
	return s.currentFor(key)
}

func (s *Snapshot) currentFor(key any) *Snapshot {
	if s.recording != nil || s.single {
		return s // which was given, for the key that the fire began with
	}
	if now := s.forKey(key); !now.observed() {
		return now
	}
	return nil
}

// SameKey returns the error of a hook that passed on a payload with another key than the fire began with; nil if the
// keys are the same.
func SameKey[K comparable](key string, began, now K) error {
	if began == now {
		return nil
	}
	return illegal(fmt.Sprintf("the key %s is %.60q now and was %.60q when the fire began: a hook must not change it",
		key, fmt.Sprint(now), fmt.Sprint(began)))
}

// keyed are the registrations at a point with a key, of which some are for some keys only.
type keyed struct {
	all    []*entry         // in order
	common []int            // the positions of those for all keys
	keys   []any            // for which something is registered, in order
	slots  map[any]*keySlot // by these keys
}

// A keySlot is the registrations for one key.
type keySlot struct {
	own      []int                    // the positions of those for this key
	snapshot atomic.Pointer[Snapshot] // nil until the first fire with the key
}

// byKey sorts the entries by their keys. The result is nil if all are for all keys.
func byKey(all []*entry) *keyed {
	if !slices.ContainsFunc(all, func(e *entry) bool { return e.Keys.Name != "" }) {
		return nil
	}
	k := &keyed{all: all, slots: make(map[any]*keySlot)}
	for i, e := range all {
		if e.Keys.Name == "" {
			k.common = append(k.common, i)
		}
		for _, key := range e.Keys.Values {
			slot := k.slots[key]
			if slot == nil {
				slot = new(keySlot)
				k.slots[key], k.keys = slot, append(k.keys, key)
			}
			slot.own = append(slot.own, i)
		}
	}
	return k
}

// with returns the entries for all keys and those at the positions, in order.
func (k *keyed) with(own []int) []*entry {
	var entries []*entry
	positions := slices.Concat(k.common, own)
	slices.Sort(positions)
	for _, at := range positions {
		entries = append(entries, k.all[at])
	}
	return entries
}

// forKey returns the snapshot of the fires with the key.
func (s *Snapshot) forKey(key any) *Snapshot {
	if s.keyed == nil {
		return s
	}
	slot := s.keyed.slots[key]
	if slot == nil {
		return s
	}
	if made := slot.snapshot.Load(); made != nil {
		return made
	}
	own := &Snapshot{registrations: &registrations{point: s.point, layers: s.layers, onFailure: s.onFailure}}
	own.divide(s.keyed.with(slot.own))
	own.fill()
	slot.snapshot.Store(own)
	return own
}

// checkKeys returns why the entry cannot be registered at the point for its keys.
func (p *Point) checkKeys(e *entry) error {
	switch {
	case e.Keys.Name == "":
		return nil
	case p.Key == nil:
		return fmt.Errorf("%s (%s) has the option For%s, but the point has no key; remove the option",
			e.Name, e.Site, e.Keys.Name)
	case p.Key.name != e.Keys.Name:
		return fmt.Errorf("%s (%s) has the option For%s, but the key of the point is %s; use For%s",
			e.Name, e.Site, e.Keys.Name, p.Key.name, p.Key.name)
	case len(e.Keys.Values) == 0:
		return fmt.Errorf("%s (%s): the options For%s have no key in common, so that it would never run; remove one of them",
			e.Name, e.Site, e.Keys.Name)
	case reflect.TypeOf(e.Keys.Values[0]) != p.Key.typ:
		return fmt.Errorf("%s (%s) has the option For%s with a %T, but the key of the point is a %v; "+
			"use For%s of the package of the point", e.Name, e.Site, e.Keys.Name, e.Keys.Values[0], p.Key.typ, p.Key.name)
	}
	return nil
}

// NewKey implements [hookkit.AnyPoint.NewKey] at a point with a key.
func (r *Registry) NewKey() any { return reflect.New(r.point.Key.typ).Interface() }

// Keys implements [hookkit.AnyPoint.Keys].
func (r *Registry) Keys() []any {
	if now := r.state.latest().keyed; now != nil {
		return slices.Clone(now.keys)
	}
	return nil
}

// keysInWords lists the first of the keys.
func keysInWords(keys opaque.Keys) string {
	const most = 5
	words := "for " + keys.Name
	for i, key := range keys.Values {
		if i == most {
			return fmt.Sprintf("%s %d more", words, len(keys.Values)-most)
		}
		words += fmt.Sprintf(" %.40q", fmt.Sprint(key))
	}
	return words
}
