package hookkit

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Registration is what one Add, Observe, ObserveAny or Use did. All methods may be called at any time
// from any goroutine, from inside a hook too.
type Registration struct {
	name, site string
	owners     []*registry // where it may have entries; grows only under changes
	queues     []*queue
}

// Name returns the name of what was registered: the one given with Named, or else its type's.
func (r *Registration) Name() string { return r.name }

// Site returns the place, file:line, of the call that registered it.
func (r *Registration) Site() string { return r.site }

// Remove undoes the registration, at all its points, and reports whether there was anything left to undo.
// Fires that have begun still call its hooks. Removing twice is harmless.
func (r *Registration) Remove() bool {
	changes.Lock()
	defer changes.Unlock()
	removed := false
	for _, owner := range r.owners {
		removed = owner.remove(func(e *entry) bool { return e.belongsTo(r) }) || removed
	}
	r.owners = nil
	return removed
}

// Drain waits until the Async observers of the registration have been told all that is in their queues now. It
// returns the context's error if that ends first; the events stay in the queue.
func (r *Registration) Drain(ctx context.Context) error {
	for _, q := range r.queues {
		if err := q.drain(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Dropped returns how many events the Async observers of the registration have missed because their queue was full.
func (r *Registration) Dropped() uint64 {
	var n uint64
	for _, q := range r.queues {
		n += q.dropped.Load()
	}
	return n
}

// changes guards every registry: a change is rare, may span points, and is made whole or not at all.
var changes sync.Mutex

// clock counts registrations; it is guarded by changes.
var clock uint64

// An entry is one hook or observer at one point. It does not change once it is registered.
type entry struct {
	hook     any
	regs     []*Registration // the innermost first; a Use puts its own behind those made in Bind
	name     string
	site     string
	seq      uint64
	layer    int
	owner    *registry // of a hook
	anchors  []anchor
	settings              // as given; what matters later is priority, timeout, once, failClosed
	spent    *atomic.Bool // of Once
	queue    *queue       // of Async
	when     string       // the description of a When adapter
}

// An anchor is one registration of a Before or an After.
type anchor struct {
	reg   *Registration
	after bool
	weak  bool // given in a Bind whose Use gave anchors too
}

func (e *entry) belongsTo(r *Registration) bool {
	for _, own := range e.regs {
		if own == r {
			return true
		}
	}
	return false
}

func (s *settings) anchors() []anchor {
	var as []anchor
	for _, r := range s.before {
		as = append(as, anchor{reg: r})
	}
	for _, r := range s.after {
		as = append(as, anchor{reg: r, after: true})
	}
	return as
}

// newEntry makes the entry of one hook or observer that is not nil. Nothing is registered yet.
func newEntry(hook any, set settings, site string) *entry {
	e := &entry{hook: hook, name: set.name, site: site, settings: set, anchors: set.anchors()}
	if e.name == "" {
		e.name = nameOf(hook)
	}
	behind, _ := conditions(hook)
	for _, c := range behind {
		e.when = strings.TrimPrefix(e.when+" and "+c.desc, " and ")
	}
	if set.once {
		e.spent = new(atomic.Bool)
	}
	if set.async > 0 {
		e.queue = newQueue(set.async)
	}
	return e
}

// refuseNil panics if the hook or observer is nil, or one behind a condition, or that condition's function.
func refuseNil(verb, site, what string, hook any) {
	behind, hook := conditions(hook)
	for _, c := range behind {
		if !c.given {
			panic(fmt.Sprintf("hookkit: %s at %s: the condition %q is nil; pass a function", verb, site, c.desc))
		}
	}
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

// nameOf returns the type of a hook without its star, or the name of a function.
func nameOf(hook any) string {
	_, hook = conditions(hook)
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
	return strings.TrimLeft(fmt.Sprintf("%T", hook), "*")
}

// caller returns the place of the call that many frames above the caller of caller, as dir/file:line. Two
// elements of the path tell files apart and are the same on every machine.
func caller(skip int) string {
	_, file, line, ok := runtime.Caller(skip + 1)
	if !ok {
		return "unknown"
	}
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		if j := strings.LastIndexByte(file[:i], '/'); j >= 0 {
			file = file[j+1:]
		}
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// An Info is what a listing shows of one hook or observer.
type Info struct {
	Name       string        // as Registration.Name of the Add or Observe
	Site       string        // file:line of the Add, Observe or Use that a person wrote
	Priority   int           // as given
	Layer      int           // 0 for the outermost
	Timeout    time.Duration // 0 for none
	Once       bool
	FailClosed bool   // the policy in force for this hook; false where a point has none
	Async      int    // the queue's length, 0 for a synchronous observer
	When       string // the description of a When adapter, "" without one
	Why        string // why it stands where it stands, in words
}
