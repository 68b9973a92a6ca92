package hookimpl

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/callsite"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// Use lets bind add hooks to the points of staged, which are new, and then moves them to points, all or none, under one
// registration.
func Use(points, staged []hookkit.AnyPoint, hook any, bind func(), opts []hookkit.UseOption) *hookkit.Registration {
	site := callsite.Of(2)
	set := options(opts)
	refuse("Use", site, isHook, hook, set)
	reg := newRegistration(cmp.Or(set.Name, callsite.NameOf(hook)), cmp.Or(set.Site, site))
	at, stage := registries(points), registries(staged)
	defer empty(stage)
	bindOn(stage, bind)

	registering.Lock()
	defer registering.Unlock()
	var added []*entry
	var hooks, deciding bool
	for i, from := range stage {
		for _, e := range from.entries {
			hooks = hooks || e.kind == isHook
			deciding = deciding || e.kind == isHook && from.point.decides
			e.registry = at[i]
			added = append(added, e)
		}
	}
	impossible := func(format string, args ...any) {
		panic(fmt.Sprintf("hookkit: Use at %s: ", site) + fmt.Sprintf(format, args...))
	}
	old := replaced(set.Replacing)
	switch {
	case len(added) == 0:
		impossible("Bind of %s registered nothing, so that the hook would never run; call Add, Observe or Use on the Hooks "+
			"that Bind is given", reg.name)
	case set.FailClosed && !deciding:
		impossible("FailClosed, but no hook of %s is at a point where hooks decide; remove the option", reg.name)
	case set.Timeout > 0 && !hooks:
		impossible("Timeout, but %s only observes and an observer has none; remove the option", reg.name)
	case old != nil && !slices.Contains(at, old.entries[0].registry):
		impossible("%s (%s) was registered on other Hooks or another layer; remove it there instead of Replacing it",
			old.name, old.site)
	case old != nil && !old.entries[0].isWholly(old):
		impossible("%s (%s) was registered in the Bind of another Use; pass the registration of that Use to Replacing",
			old.name, old.site)
	}
	clock++ // all have one place in time, and in it the order in which Bind added them
	for _, e := range added {
		e.use(reg, &set)
	}
	if given := anchors(set); len(given) > 0 { // they replace those of the Bind, except the ones among its hooks
		for _, e := range added {
			isOutside := func(a anchor) bool {
				to := e.now(a).holder
				return len(to.entries) == 0 || !reg.has(to.entries[0])
			}
			e.anchors = append(slices.DeleteFunc(slices.Clone(e.anchors), isOutside), given...)
		}
	}
	if err := commit(added, reg, old); err != nil {
		impossible("%v", err)
	}
	for _, from := range stage {
		from.ordering = ordering{}
	}
	return reg.public
}

// empty removes what is left on the points that a Bind was given, because the Use was refused. A hook may keep the
// points, and the registrations that its Bind made.
func empty(stage []*Registry) {
	registering.Lock()
	defer registering.Unlock()
	for _, from := range stage {
		retire(from.entries)
		from.ordering = ordering{}
	}
}

// replaced returns the registration that Replacing means: that which holds the place now. It is nil without the option,
// and if nothing is left to replace.
func replaced(r *opaque.Registration) *registration {
	if r != nil {
		if now := placeOf(r).holder; len(now.entries) > 0 {
			return now
		}
	}
	return nil
}

// bindOn calls bind while the points accept registrations. Afterwards they refuse them, and fires, for ever.
func bindOn(stage []*Registry, bind func()) {
	set := func(fixed string) {
		registering.Lock()
		defer registering.Unlock()
		for _, r := range stage {
			r.inBind, r.fixed = true, fixed
			r.state.activate(true) // so that a fire is refused
		}
	}
	set("")
	defer set(fixedByBind)
	bind()
}

// use makes the entry a part of a Use, whose options outrank those given in its Bind.
func (e *entry) use(reg *registration, set *opaque.Settings) {
	if set.Site != "" || !e.sited {
		e.Site, e.sited = reg.site, set.Site != ""
	}
	e.seq = slices.Concat([]uint64{clock}, e.seq)
	for _, r := range e.regs {
		r.place.seq = nil
	}
	e.regs = append(e.regs, reg)
	e.Keys = e.Keys.And(set.Keys)
	e.Name = cmp.Or(set.Name, e.Name)
	if set.Ranked {
		e.Priority, e.Ranked = set.Priority, true
	}
	if e.kind != isHook {
		return
	}
	if set.Timeout > 0 && (e.Timeout == 0 || set.Timeout < e.Timeout) {
		e.Timeout = set.Timeout
	}
	e.FailClosed = e.FailClosed || set.FailClosed && e.registry.point.decides
}
