package hookkit

import (
	"fmt"
	"time"

	"github.com/hookgen/hookgen/hookkit/internal/callsite"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// The tiers are a scale for [Priority]. Hooks with a higher priority fire first; equal ones fire in order of
// registration. The comments give an example from a program that sends mail.
const (
	Safety        = 100 // refuses what must not happen: a message to a blocked address
	InputShape    = 80  // brings the payload into its expected form: replaces an alias by its addresses
	Detection     = 60  // recognises a property of the payload: marks a message as spam
	Mutation      = 40  // rewrites the payload: adds a signature
	Observability = 0   // records and changes nothing: counts the messages; the default
)

// The option interfaces are closed sets by target, so that an option which would mean nothing does not compile. For
// example, Async is legal in Observe only, and FailClosed only where hooks decide.
type (
	// A HookOption is legal in Add at every point: [Priority], [Named], [Site], [Before], [After] and
	// [Timeout].
	HookOption interface {
		GateOption
		hookOption()
	}
	// A GateOption is legal in Add at a point where hooks decide under a policy: [Priority], [Named], [Site],
	// [Before], [After], [Timeout] and [FailClosed].
	GateOption interface{ gateOption() }
	// An ObserverOption is legal in Observe and ObserveAny: [Priority], [Named], [Site], [Before], [After] and
	// [Async].
	ObserverOption interface{ observerOption() }
	// A UseOption is legal in Use: [Priority], [Named], [Site], [Before], [After], [Timeout], [FailClosed] and
	// [Replacing]. It applies to the registrations of the hook's Bind, and outranks the options given there. A Before or
	// an After replaces all those of the Bind, except the ones among the hooks of the Bind.
	UseOption interface{ useOption() }
)

// Options that are legal at several targets.
type (
	anyOption interface {
		HookOption
		ObserverOption
		UseOption
	}
	hookUseOption interface {
		HookOption
		UseOption
	}
	gateUseOption interface {
		GateOption
		UseOption
	}
)

// A KeyOption is legal in Add, Observe and Use. A spec with keys has a function that makes one for each key. For
// example, ForTool("bash") registers a hook for the fires whose payload has this tool: it is not called in other fires,
// and costs them nothing. In Use it narrows the whole bundle, also what its hooks say themselves. At a point without
// the key it panics.
type KeyOption interface {
	anyOption
	keyOption()
}

// An option implements every option. The result types of the functions say where it is legal.
type option func(*opaque.Settings)

func (option) hookOption()     {}
func (option) gateOption()     {}
func (option) observerOption() {}
func (option) useOption()      {}
func (option) keyOption()      {}

// Apply sets the option. Package hookimpl calls it.
func (o option) Apply(s *opaque.Settings) { o(s) }

func init() {
	opaque.KeyOption = func(keys opaque.Keys) any {
		return option(func(s *opaque.Settings) {
			if s.Keys.Name != "" && s.Keys.Name != keys.Name {
				s.Invalid = fmt.Sprintf("options For%s and For%s: a point has one key; remove one of them", s.Keys.Name, keys.Name)
			}
			s.Keys = s.Keys.And(keys)
		})
	}
}

// Priority sets how early the hook fires: higher first, 0 if not given. See the tiers.
func Priority(n int) anyOption {
	return option(func(s *opaque.Settings) { s.Priority, s.Ranked = n, true })
}

// Named sets the hook's name in listings, failures and traces. The default is the name of its type or function.
func Named(name string) anyOption {
	return option(func(s *opaque.Settings) { s.Name = name })
}

// Site sets the place that listings, failures and traces give for the hook. The default is the line of the registering
// call. For example, a program reads which hooks to use from a file, and Site("hooks.json:3:2") names the line of that
// file. In a Bind it outranks the line of the Use.
func Site(place string) anyOption {
	return option(func(s *opaque.Settings) { s.Site = place })
}

// Before makes the hook fire before every hook of the registrations, whatever the priorities: the hook moves forward,
// the others stay. A registration that was removed, or has no hook at the point or in the layers that fire together, is
// ignored. A nil registration, and one of other Hooks, panics, and so does one of an outer layer, since its hooks
// always fire first. At a point whose law is Reverse the resulting order is mirrored as a whole.
func Before(regs ...*Registration) anyOption {
	anchors := anchored("Before", regs)
	return option(func(s *opaque.Settings) { s.Before = append(s.Before, anchors...) })
}

// After makes the hook fire after every hook of the registrations, whatever the priorities: the hook waits for them.
// Removed, nil and foreign registrations are treated as in [Before], and those of an inner layer as those of an outer
// one there.
func After(regs ...*Registration) anyOption {
	anchors := anchored("After", regs)
	return option(func(s *opaque.Settings) { s.After = append(s.After, anchors...) })
}

func anchored(option string, regs []*Registration) []*opaque.Registration {
	anchors := make([]*opaque.Registration, len(regs))
	for i, r := range regs {
		if r.registered() == nil {
			panic(fmt.Sprintf("hookkit: %s at %s: registration %d is nil; pass the result of Add, Observe or Use",
				option, callsite.Of(2), i))
		}
		anchors[i] = (*opaque.Registration)(r)
	}
	return anchors
}

// Timeout limits how long a fire waits for the hook. When d has passed, the hook has failed with [ErrTimeout]. The hook
// itself is not stopped: it continues in its goroutine with its context cancelled, and its late answer is dropped. In
// Use it applies to every hook of the Bind, and the shorter timeout wins. A d that is not positive panics.
//
// On an around hook the time includes the call of next. The hook's context ends when the time is up, also if the hook
// has returned before. Until then the program can read a body or a stream that the hook passed on. A stream that is
// read for longer needs another context. At other points the context also ends when the hook returns.
func Timeout(d time.Duration) hookUseOption {
	if d <= 0 {
		panic(fmt.Sprintf("hookkit: Timeout(%v) at %s: the timeout must be positive", d, callsite.Of(1)))
	}
	return option(func(s *opaque.Settings) { s.Timeout = d })
}

// FailClosed makes a failure of this hook end the fire at a FailOpen point. At a FailClosed point it changes nothing.
// In Use it applies to every hook of the Bind at a point with decisions; a Bind without one panics.
func FailClosed() gateUseOption {
	return option(func(s *opaque.Settings) { s.FailClosed = true })
}

// Replacing removes another registration in the moment in which the new one is added. For example, a program reads a
// configuration again while runs are under way: each fire calls either the old hooks or the new ones, never both and
// never none.
//
// The new hooks take the old position among hooks of equal priority. The Before and After of others that name the old
// registration apply to the new one from now on, and those that name a part of it where the part had hooks. The same is
// true for a Before, an After or a Replacing that names the old registration later. Priority, name, timeout and anchors
// are those of the new Use. Remove on the old registration does nothing.
//
// If the new order contradicts itself, the Use panics, and the old registration stays, as after every other panic of
// Use. A registration that was removed is ignored. Use also panics for a registration of other Hooks or of another
// layer, and for one that was made in the Bind of another Use. Nil and two options Replacing panic too.
func Replacing(reg *Registration) UseOption {
	old := anchored("Replacing", []*Registration{reg})[0]
	return option(func(s *opaque.Settings) {
		if s.Replacing != nil {
			s.Invalid = "two options Replacing: a Use replaces one registration; remove the other one afterwards"
		}
		s.Replacing = old
	})
}

// Async notifies the observer from a background goroutine, in order, through a queue of the given length. When the
// queue is full, the event is dropped, counted ([Registration.Dropped]) and reported to the failure handler.
// [Registration.Drain] waits for the queued events. The observer's context is not cancelled with the fire's. The
// observer receives the payload itself, not a copy, so neither it nor the program may change the payload in place. A
// length that is not positive panics.
func Async(queue int) ObserverOption {
	if queue <= 0 {
		panic(fmt.Sprintf("hookkit: Async(%d) at %s: the queue must hold at least one event", queue, callsite.Of(1)))
	}
	return option(func(s *opaque.Settings) { s.Queue = queue })
}
