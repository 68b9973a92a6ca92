package hookimpl

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
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
	seq        uint64 // the time of registration
	priority   int
	ranked     bool // the priority was given
	anchors    []anchor
	owner      *registry
	timeout    time.Duration
	failClosed bool
	spent      *atomic.Bool // of Once: the hook was called
	queue      *queue       // of Async
	when       string       // the description of a When adapter
}

// An anchor is one registration in a Before or an After.
type anchor struct {
	reg   *registration
	after bool
	weak  bool // given in a Bind whose Use gave anchors too, which outrank it
}

// clock counts registrations of all Hooks, so that those of different layers can be compared.
var clock atomic.Uint64

// Options collects the options of one registration.
func Options[O any](opts []O) opaque.Settings {
	var set opaque.Settings
	for _, option := range opts {
		if option := any(option); option == nil {
			panic("hookkit: option <nil>: pass the result of one of the package's functions")
		} else if isNil(option) {
			panic(fmt.Sprintf("hookkit: option %T(nil): pass the result of one of the package's functions", option))
		}
		switch o := any(option).(type) {
		case hookkit.OrderOption:
			o(&set)
		case hookkit.LimitOption:
			o(&set)
		case hookkit.CallOption:
			o(&set)
		case hookkit.PolicyOption:
			o(&set)
		case hookkit.DeliveryOption:
			o(&set)
		default: // another type that embeds the interface
			panic(fmt.Sprintf("hookkit: option %T: pass the result of one of the package's functions", option))
		}
	}
	return set
}

func anchors(set opaque.Settings) []anchor {
	var as []anchor
	add := func(regs []*opaque.Registration, after bool) {
		for _, r := range regs {
			as = append(as, anchor{reg: r.Registered().(*registration), after: after})
		}
	}
	add(set.Before, false)
	add(set.After, true)
	return as
}

// newEntry makes the entry of one hook or observer, which is not nil. Nothing is registered yet.
func newEntry(hook any, set opaque.Settings, site string) *entry {
	e := &entry{hook: hook, name: set.Name, site: site, priority: set.Priority, ranked: set.Ranked, anchors: anchors(set),
		timeout: set.Timeout, failClosed: set.FailClosed}
	if e.name == "" {
		e.name = nameOf(hook)
	}
	var when []string
	around, _ := conditions(hook)
	for _, c := range around {
		when = append(when, c.desc)
	}
	e.when = strings.Join(when, " and ")
	if set.Once {
		e.spent = new(atomic.Bool)
	}
	if set.Queue > 0 {
		e.queue = newQueue(set.Queue)
	}
	return e
}

// failure describes a failure of the entry at the point.
func (e *entry) failure(point string, err error) *hookkit.Failure {
	f := &hookkit.Failure{Point: point, Hook: e.name, Site: e.site, Cause: err}
	if c, ok := err.(*crash); ok {
		f.Cause, f.Stack = c.cause, c.stack
	}
	return f
}

// A crash carries a panic or a Goexit, with its stack, to the place where it becomes a Failure.
type crash struct {
	cause error
	stack []byte
}

func (c *crash) Error() string { return c.cause.Error() }

// textOf returns the text of an error that a hook or the act made: the methods of a typed nil may panic.
func textOf(err error) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprintf("%T, whose Error panicked: %v", err, r)
		}
	}()
	return err.Error()
}

// crashed makes the error of a hook that did not return, from the result of recover: nil on Goexit.
func crashed(recovered any) error {
	if recovered == nil {
		return &crash{cause: hookkit.ErrGoexit}
	}
	return &crash{&hookkit.PanicError{Value: recovered}, stack()}
}

// stack returns the stack of this goroutine, as debug.Stack does. That begins with 1 KB and walks the whole stack again
// for each buffer that is too small, which would take most of the time of a fire whose hooks panic.
func stack() []byte {
	for size := 8 << 10; ; size *= 2 {
		buffer := make([]byte, size)
		if n := runtime.Stack(buffer, false); n < size {
			return bytes.Clone(buffer[:n])
		}
	}
}

// Illegal is the error of a hook that returned an outcome which no constructor of the point makes.
func Illegal(outcome any) error {
	return illegal(fmt.Sprintf(
		"outcome %T is not legal here: return nil, an exit by value, or the result of one of the point's constructors", outcome))
}

// An illegal error is ErrIllegal with a text of its own.
type illegal string

func (e illegal) Error() string        { return string(e) }
func (e illegal) Is(target error) bool { return target == hookkit.ErrIllegal }

// A registration implements the public Registration: the entries of one Add, Observe, ObserveAny, Use or Trace.
type registration struct {
	name, site string
	public     *hookkit.Registration
	queues     []*queue

	mu     sync.Mutex
	owners []*registry // the registries that may have entries of it
}

func newRegistration(name, site string) *registration {
	r := &registration{name: name, site: site}
	r.public = (*hookkit.Registration)(opaque.NewRegistration(r))
	return r
}

func (r *registration) Name() string { return r.name }

func (r *registration) Site() string { return r.site }

// Remove removes the entries at every point.
func (r *registration) Remove() bool {
	r.mu.Lock()
	owners := r.owners
	r.owners = nil
	r.mu.Unlock()
	unlock := lock(owners)
	defer unlock()
	removed := false
	for _, owner := range owners {
		if owner.remove(r) {
			removed = true
		}
	}
	return removed
}

// Drain waits for the queues.
func (r *registration) Drain(ctx context.Context) error {
	for _, q := range r.queues {
		if err := q.drain(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Dropped counts what the queues had no room for.
func (r *registration) Dropped() uint64 {
	var n uint64
	for _, q := range r.queues {
		n += q.dropped.Load()
	}
	return n
}

// registeredAt records where the registration has entries.
func (r *registration) registeredAt(owner *registry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners = append(r.owners, owner)
}

// at returns the registries that may have entries of the registration.
func (r *registration) at() []*registry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owners
}

// refuseNil panics if the hook or observer is nil, or one inside a When adapter, or that adapter's condition.
func refuseNil(verb, site, what string, hook any) {
	around, hook := conditions(hook)
	for _, c := range around {
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
