package hookimpl

import (
	"cmp"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// An entry is one hook, observer or tracer at one point. It does not change once it is registered.
type entry struct {
	hook       any
	regs       []*registration // every registration it belongs to, the innermost first; a Use appends its own
	name       string
	site       string
	sited      bool     // the site was given
	seq        uint64   // the time of registration
	within     []uint64 // the position among the entries with the same seq, if they replaced others
	priority   int
	ranked     bool // the priority was given
	anchors    []anchor
	registry   *Registry
	timeout    time.Duration
	failClosed bool
	spent      *atomic.Bool // of Once: the hook was called
	queue      *queue       // of Async
}

// An anchor is one registration in a Before or an After.
type anchor struct {
	place *place
	after bool
	weak  bool // given in a Bind whose Use gave anchors too, which outrank it
}

// clock counts registrations of all Hooks, so that those of different layers can be compared.
var clock atomic.Uint64

// options collects the options of one registration.
func options[O any](opts []O) opaque.Settings {
	var set opaque.Settings
	for _, option := range opts {
		if text, ok := apply(option, &set); !ok && set.Invalid == "" {
			set.Invalid = "option " + text + ": pass the result of one of the package's functions"
		}
	}
	return set
}

// apply applies one option. It reports false, and the type of the option, if that is nil or not one of hookkit's.
func apply(option any, set *opaque.Settings) (text string, ok bool) {
	switch {
	case option == nil:
		return "<nil>", false
	case isNil(option):
		return fmt.Sprintf("%T(nil)", option), false
	}
	switch o := option.(type) {
	case hookkit.OrderOption:
		o(set)
	case hookkit.LimitOption:
		o(set)
	case hookkit.CallOption:
		o(set)
	case hookkit.PolicyOption:
		o(set)
	case hookkit.DeliveryOption:
		o(set)
	case hookkit.ExchangeOption:
		o(set)
	default: // another type that embeds the interface
		return fmt.Sprintf("%T", option), false
	}
	return "", true
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
		priority: set.Priority, ranked: set.Ranked, anchors: anchors(set), timeout: set.Timeout, failClosed: set.FailClosed}
	if e.name == "" {
		e.name = nameOf(hook)
	}
	if set.Once {
		e.spent = new(atomic.Bool)
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
