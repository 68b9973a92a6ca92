package hookimpl

import (
	"cmp"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// An entry is one hook, observer or tracer at one point. Apart from walk, it does not change once it is registered.
type entry struct {
	hook       any
	regs       []*registration // every registration it belongs to, the innermost first; a Use appends its own
	name       string
	site       string
	sited      bool     // the site was given
	seq        []uint64 // the time of registration, and the position in what replaced the entry of that time
	priority   int
	ranked     bool // the priority was given
	anchors    []anchor
	keys       opaque.Keys
	registry   *Registry
	timeout    time.Duration
	failClosed bool
	queue      *queue // of Async
	walk       uint   // the last walk of its ordering that met it
	walkEnded  bool   // whether that walk has met all that must follow
}

// An anchor is one registration in a Before or an After.
type anchor struct {
	place *place
	after bool
	weak  bool // given in a Bind whose Use gave anchors too, which outrank it
}

// target returns the place that the anchor means now, and the side.
func (a anchor) target() target {
	p := a.place
	for whole := p.whole.Load(); whole != nil; whole = p.whole.Load() {
		p = whole
	}
	return target{p, a.after}
}

// isAt reports whether the entry belongs to the registration that holds the place.
func (e *entry) isAt(p *place) bool {
	return slices.ContainsFunc(e.regs, func(r *registration) bool { return r.place == p })
}

// bySeq puts the earlier registration first.
func bySeq(a, b *entry) int { return slices.Compare(a.seq, b.seq) }

// byRank puts the higher priority first, then the earlier registration.
func byRank(a, b *entry) int { return cmp.Or(cmp.Compare(b.priority, a.priority), bySeq(a, b)) }

// clock counts registrations of all Hooks, so that those of different layers can be compared.
var clock atomic.Uint64

// options collects the options of one registration. One that is nil, or of a type that is not hookkit's but embeds one
// of the interfaces, is invalid. It is not inlined, because the compiler would compile it once more for each method of
// each point.
//
//go:noinline
func options[O any](opts []O) opaque.Settings {
	var set opaque.Settings
	for _, o := range opts {
		if option, ok := any(o).(interface{ Apply(*opaque.Settings) }); ok {
			option.Apply(&set)
		} else if set.Invalid == "" {
			set.Invalid = fmt.Sprintf("option %T: pass the result of one of the package's functions", o)
		}
	}
	return set
}

// refuseInvalid panics if one of the options cannot be used.
func refuseInvalid(verb, site string, set opaque.Settings) {
	if set.Invalid != "" {
		panic(fmt.Sprintf("hookkit: %s at %s: %s", verb, site, set.Invalid))
	}
}

func anchors(set opaque.Settings) []anchor {
	var as []anchor
	add := func(regs []*opaque.Registration, after bool) {
		for _, r := range regs {
			as = append(as, anchor{place: r.Registered().(*registration).place, after: after})
		}
	}
	add(set.Before, false)
	add(set.After, true)
	return as
}

// newEntry makes the entry of one hook or observer, which is not nil. Nothing is registered yet.
func newEntry(hook any, set opaque.Settings, site string) *entry {
	e := &entry{hook: hook, name: set.Name, site: cmp.Or(set.Site, site), sited: set.Site != "",
		priority: set.Priority, ranked: set.Ranked, anchors: anchors(set), keys: set.Keys, timeout: set.Timeout,
		failClosed: set.FailClosed}
	if e.name == "" {
		e.name = nameOf(hook)
	}
	if set.Queue > 0 {
		e.queue = newQueue(set.Queue)
	}
	return e
}

// refuseNil panics if the hook or observer is nil.
func refuseNil(verb, site, what string, hook any) {
	if isNil(hook) {
		panic(fmt.Sprintf("hookkit: %s at %s: the %s is nil; pass a value", verb, site, what))
	}
}

func isNil(hook any) bool {
	if hook == nil {
		return true
	}
	v := reflect.ValueOf(hook)
	switch v.Kind() {
	case reflect.Func, reflect.Map, reflect.Pointer, reflect.Chan, reflect.Slice:
		return v.IsNil()
	}
	return false
}

// nameOf returns the type of a hook without its star and its type arguments, or the name of a function.
func nameOf(hook any) string {
	if e, ok := hook.(everything); ok {
		hook = e.observer
	}
	v := reflect.ValueOf(hook)
	if v.Kind() == reflect.Func {
		if f := runtime.FuncForPC(v.Pointer()); f != nil {
			name := f.Name()
			return name[strings.LastIndexByte(name, '/')+1:]
		}
	}
	name, _, _ := strings.Cut(strings.TrimLeft(fmt.Sprintf("%T", hook), "*"), "[")
	return name
}
