package hookimpl

import "github.com/hookgen/hookgen/hookkit"

// A PointRegistry is the part that all generated Points have in common: registering hooks and observers, and listing
// them. A Point embeds one under a name that is not exported, so that only the exported methods below are promoted.
//
// H is the interface of the point's hooks and F the function type of them, O and OF the same of its observers, and
// Option the options that a hook takes. F and OF are not named types, so that the compiler shows the signature when it
// refuses a function.
//
// Its underlying type is that of [State]. So a Point reaches its State by converting the pointer to the embedded field.
type PointRegistry[D Description, H, F, O, OF, Option any] State

func (r *PointRegistry[D, H, F, O, OF, Option]) ownRegistry() *Registry {
	return (*State)(r).ownRegistry(*new(D))
}

// Add registers a hook. It panics, naming the place of the call, if the hook is nil or the order asked for is
// impossible.
func (r *PointRegistry[D, H, F, O, OF, Option]) Add(h H, opts ...Option) *hookkit.Registration {
	return (*State)(r).ownRegistry(*new(D)).add(isHook, h, opts)
}

// AddFunc registers a function as a hook. It panics as Add does.
func (r *PointRegistry[D, H, F, O, OF, Option]) AddFunc(f F, opts ...Option) *hookkit.Registration {
	own := (*State)(r).ownRegistry(*new(D))
	return own.add(isHook, own.point.hookOf(f), opts)
}

// Observe registers an observer. It panics as Add does.
func (r *PointRegistry[D, H, F, O, OF, Option]) Observe(
	o O, opts ...hookkit.ObserverOption,
) *hookkit.Registration {
	return (*State)(r).ownRegistry(*new(D)).add(isObserver, o, opts)
}

// ObserveFunc registers a function as an observer. It panics as Add does.
func (r *PointRegistry[D, H, F, O, OF, Option]) ObserveFunc(
	f OF, opts ...hookkit.ObserverOption,
) *hookkit.Registration {
	return (*State)(r).ownRegistry(*new(D)).add(isObserver, f, opts)
}

// List lists the hooks in firing order, those of outer layers included.
func (r *PointRegistry[D, H, F, O, OF, Option]) List() []hookkit.Info {
	return (*State)(r).ownRegistry(*new(D)).Hooks()
}
