package hookimpl

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/callsite"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// An entry is one hook, observer or tracer at one point. Fires read what does not change once it is registered.
type entry struct {
	opaque.Settings // of the registration, with the name and the site if none was given; anchors has Before and After

	kind     kind
	hook     any
	regs     []*registration // every registration it belongs to, the innermost first; a Use appends its own
	sited    bool            // the site was given
	seq      []uint64        // the time of registration, and the position in what replaced the entry of that time
	anchors  []anchor
	registry *Registry
	queue    *queue // of Async
	removed  bool

	notify func(context.Context, hookkit.AnyRun, hookkit.AnyFired) // of an observer of all points
}

// A kind is the kind of an entry.
type kind int

const (
	isHook kind = iota
	isObserver
	isTracer
)

func (k kind) String() string { return [...]string{"hook", "observer", "tracer"}[k] }

// An anchor is one registration in a Before or an After.
type anchor struct {
	place *place
	after bool
}

// now returns the place that an anchor of the entry means now.
func (e *entry) now(a anchor) *place {
	p := a.place
	for p.whole[e.spot()] != nil {
		p = p.whole[e.spot()]
	}
	return p
}

func (e *entry) spot() spot { return spot{e.registry.point, e.kind} }

// isAnchored reports whether the entry has a Before or an After.
func (e *entry) isAnchored() bool { return len(e.anchors) > 0 }

// String returns the side: before or after.
func (a anchor) String() string {
	if a.after {
		return "after"
	}
	return "before"
}

// isWholly reports whether no other registration contains the one of the entry.
func (e *entry) isWholly(r *registration) bool { return e.regs[len(e.regs)-1] == r }

// isAt reports whether the entry belongs to the registration that holds the place.
func (e *entry) isAt(p *place) bool {
	return slices.ContainsFunc(e.regs, func(r *registration) bool { return r.place == p })
}

// bySeq puts the earlier registration first.
func bySeq(a, b *entry) int { return slices.Compare(a.seq, b.seq) }

// byRank puts the higher priority first, then the earlier registration.
func byRank(a, b *entry) int { return cmp.Or(cmp.Compare(b.Priority, a.Priority), bySeq(a, b)) }

// clock counts registrations of all Hooks, so that those of different layers can be compared. The lock registering
// guards it.
var clock uint64

// options collects the options of one registration from a slice of them. One that is nil, or of a type that is not
// hookkit's but embeds one of the interfaces, is invalid.
func options(opts any) opaque.Settings {
	var set opaque.Settings
	for i, all := 0, reflect.ValueOf(opts); i < all.Len(); i++ {
		o := all.Index(i).Interface()
		if option, ok := o.(interface{ Apply(*opaque.Settings) }); ok {
			option.Apply(&set)
		} else if set.Invalid == "" {
			set.Invalid = fmt.Sprintf("option %T: pass the result of one of the package's functions", o)
		}
	}
	return set
}

func anchors(set opaque.Settings) (all []anchor) {
	for _, r := range set.Before {
		all = append(all, anchor{placeOf(r), false})
	}
	for _, r := range set.After {
		all = append(all, anchor{placeOf(r), true})
	}
	return all
}

func placeOf(r *opaque.Registration) *place { return r.Registered().(*registration).place }

// newEntry makes an entry. Nothing is registered yet. It panics if the hook is nil, or one of the options cannot be
// used.
func newEntry(verb, site string, k kind, hook any, set opaque.Settings) *entry {
	refuse(verb, site, k, hook, set)
	e := &entry{Settings: set, kind: k, hook: hook, sited: set.Site != "", anchors: anchors(set)}
	e.Before, e.After = nil, nil // so that they do not keep hooks that are removed
	e.Name, e.Site = cmp.Or(set.Name, callsite.NameOf(hook)), cmp.Or(set.Site, site)
	if set.Queue > 0 {
		e.queue = &queue{size: set.Queue}
	}
	return e
}

// refuse panics if the hook or observer is nil, or one of the options cannot be used.
func refuse(verb, site string, k kind, hook any, set opaque.Settings) {
	problem := set.Invalid
	if isNil(hook) {
		problem = fmt.Sprintf("the %v is nil; pass a value", k)
	}
	if problem != "" {
		panic(fmt.Sprintf("hookkit: %s at %s: %s", verb, site, problem))
	}
}

func isNil(hook any) bool {
	switch v := reflect.ValueOf(hook); v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Func, reflect.Map, reflect.Pointer, reflect.Chan, reflect.Slice:
		return v.IsNil()
	}
	return false
}
