package hookkit

import (
	"fmt"
	"time"
)

// The tiers: a scale for Priority. Higher fires first; equal ones fire in order of registration.
const (
	Safety        = 100 // refuses what must not happen
	InputShape    = 80  // prepares what goes in
	Detection     = 60  // recognises patterns
	Mutation      = 40  // rewrites what comes out
	Observability = 0   // records; the default
)

// The options are closed sets by target: one that would mean nothing where it stands does not compile.
type (
	// A HookOption is legal in Add, at every point.
	HookOption interface{ hookOption() }
	// A GateOption is legal in Add at a point that has a policy and where hooks decide.
	GateOption interface{ gateOption() }
	// An ObserverOption is legal in Observe and ObserveAny.
	ObserverOption interface{ observerOption() }
	// A UseOption is legal in Use; what it sets outranks what the hook's Bind set.
	UseOption interface{ useOption() }
)

// settings are what options set.
type settings struct {
	priority   int
	ranked     bool // priority was given
	name       string
	before     []*Registration
	after      []*Registration
	timeout    time.Duration
	once       bool
	failClosed bool
	async      int
}

// apply applies an option of whatever kind.
func (s *settings) apply(option any) {
	switch o := option.(type) {
	case OrderOption:
		o(s)
	case CallOption:
		o(s)
	case PolicyOption:
		o(s)
	case DeliveryOption:
		o(s)
	default:
		panic(fmt.Sprintf("hookkit: option %v: pass what the package's functions return", option))
	}
}

// An OrderOption says where a hook stands; it is legal everywhere.
type OrderOption func(*settings)

func (OrderOption) hookOption()     {}
func (OrderOption) gateOption()     {}
func (OrderOption) observerOption() {}
func (OrderOption) useOption()      {}

// Priority says how early the hook fires: higher first, 0 if not given. See the tiers.
func Priority(n int) OrderOption {
	return func(s *settings) { s.priority, s.ranked = n, true }
}

// Named gives the hook its name in listings, failures and traces, in place of its type's.
func Named(name string) OrderOption { return func(s *settings) { s.name = name } }

// Before makes the hook fire before every hook of the registrations, whatever the priorities: it moves forward,
// they stay. A registration that was removed, or has no hook at the point, is void. A nil one panics.
// At a point whose law is Reverse the order made so is mirrored as a whole.
func Before(regs ...*Registration) OrderOption {
	mustBeRegistrations("Before", regs)
	return func(s *settings) { s.before = append(s.before, regs...) }
}

// After makes the hook fire after every hook of the registrations, whatever the priorities: it waits for them.
// As with Before, what was removed is void, and a nil registration panics.
func After(regs ...*Registration) OrderOption {
	mustBeRegistrations("After", regs)
	return func(s *settings) { s.after = append(s.after, regs...) }
}

func mustBeRegistrations(option string, regs []*Registration) {
	for i, r := range regs {
		if r == nil {
			panic(fmt.Sprintf("hookkit: %s: registration %d is nil; pass what Add, Observe or Use returned", option, i))
		}
	}
}

// A CallOption says how a hook is called; it is legal in Add.
type CallOption func(*settings)

func (CallOption) hookOption() {}
func (CallOption) gateOption() {}

// Timeout limits how long a fire waits for the hook. When d has passed the hook has failed with [ErrTimeout]; it
// is not stopped: it runs on in its goroutine, with its context cancelled, and its late answer is dropped.
// On an around hook it covers next too. d must be positive.
func Timeout(d time.Duration) CallOption {
	if d <= 0 {
		panic(fmt.Sprintf("hookkit: Timeout(%v): a time-out must be positive", d))
	}
	return func(s *settings) { s.timeout = d }
}

// Once lets the hook be called at most once, even by fires at the same time; then its registration at
// the point is removed.
func Once() CallOption { return func(s *settings) { s.once = true } }

// A PolicyOption tightens the policy of a point for one hook; it is legal in Add where there is a policy.
type PolicyOption func(*settings)

func (PolicyOption) gateOption() {}

// FailClosed makes a failure of this hook end the fire at a FailOpen point. At a FailClosed point it changes nothing.
func FailClosed() PolicyOption { return func(s *settings) { s.failClosed = true } }

// A DeliveryOption says how an observer is told; it is legal in Observe and ObserveAny.
type DeliveryOption func(*settings)

func (DeliveryOption) observerOption() {}

// Async tells the observer in the background, in order, through a queue of the given length, which must be
// positive. When the queue is full the event is dropped, counted (Registration.Dropped) and logged;
// Registration.Drain waits for the rest. The context it gets is not cancelled with the fire's. What it sees is
// the payload itself, not a copy: it must not change it, and the host must not either.
func Async(queue int) DeliveryOption {
	if queue <= 0 {
		panic(fmt.Sprintf("hookkit: Async(%d): the queue must hold at least one event", queue))
	}
	return func(s *settings) { s.async = queue }
}
