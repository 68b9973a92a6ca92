package breaking

import (
	"go/token"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/model"
)

// comparePoints compares the points of both versions, and reports those that only one has.
func (c *comparison) comparePoints() {
	for _, p := range c.added {
		c.report("point-added", Safe, []string{p.Name}, p.Pos, token.Position{},
			"the point %s is new: fire it, and tell the authors of hooks", p.Name)
	}
	for _, p := range c.removed {
		c.explain(slices.Concat(p.Payload.Types, lawTypes(p))...)
		if p.Deprecated {
			c.report("point-removed", BreaksHooks, []string{p.Name}, c.now.Pos, p.Pos,
				"the point %s is gone: hooks that still bind to it do not compile", p.Name)
		} else {
			c.report("point-removed-undeprecated", BreaksHooks, []string{p.Name}, c.now.Pos, p.Pos,
				"the point %s is gone, and was not deprecated: hooks of it do not compile; "+
					"keep it with a paragraph \"Deprecated:\" for one release", p.Name)
		}
	}
	for _, p := range c.pairs {
		c.comparePoint(p)
	}
}

// comparePoint compares one point in both versions.
func (c *comparison) comparePoint(p pair) {
	old, now := p.old, p.now
	points := []string{now.Name}
	report := func(rule string, verdict Verdict, format string, args ...any) {
		c.report(rule, verdict, points, now.Pos, old.Pos, format, args...)
	}
	if !c.same(old.Payload, now.Payload) {
		c.explain(old.Payload.Types...)
		was, is := texts(old.Payload, now.Payload)
		c.report("payload-changed", BreaksHooks, points, now.Payload.Pos, old.Payload.Pos,
			"the payload of %s is %s and was %s: hooks of it do not compile%s", now.Name, is, was, c.aliasRemedy(old.Payload))
	}
	c.compareLaw(p, report)
	c.compareKey(p, report)
	c.compareDeprecation(points, now.Name, old.SurfaceDecl, now.SurfaceDecl)
	switch {
	case !c.old.Wire || !c.now.Wire:
	case !old.Local && now.Local:
		report("point-local", BreaksWire, "%s is kept from other processes: programs refuse to connect to a service that "+
			"has hooks there; remove those hooks first", now.Name)
	case old.Local && !now.Local:
		report("point-wired", BreaksWire, "%s is open to other processes: old programs refuse to connect to a service that "+
			"has hooks there, and records now have its payloads", now.Name)
	}
}

// compareKey compares the keys of a point.
func (c *comparison) compareKey(p pair, report reporter) {
	old, now := p.old.Key, p.now.Key
	first, _, _ := strings.Cut(now.Field, ".")
	switch {
	case old.IsZero() && now.IsZero():
	case old.IsZero() && (p.now.Replace || p.now.Kind == gen.Around || p.now.EditField == first):
		report("key-added", ChangesBehaviour, "%s has the key %s: hooks may be registered with For%s, and a hook that "+
			"changes %s of the payload fails now", p.now.Name, now.Name, now.Name, now.Field)
	case old.IsZero():
		report("key-added", Safe, "%s has the key %s: hooks may be registered with For%s", p.now.Name, now.Name, now.Name)
	case now.IsZero():
		report("key-removed", BreaksHooks, "%s no longer has the key %s: hooks that are registered with For%s do not "+
			"compile, or panic at registration", p.now.Name, old.Name, old.Name)
	case old.Name != now.Name || !c.same(old.Type, now.Type):
		report("key-changed", BreaksHooks, "the key of %s is %s of type %s and was %s of type %s: hooks that are registered "+
			"with For%s do not compile", p.now.Name, now.Name, now.Type.Text, old.Name, old.Type.Text, old.Name)
	case old.Field != now.Field:
		report("key-changed", ChangesBehaviour, "the key %s of %s is %s of the payload and was %s: hooks that are "+
			"registered with For%s are called in other fires", now.Name, p.now.Name, now.Field, old.Field, old.Name)
	}
}

// meanings describe the rights of hooks and the order in which they run, for each kind of law.
var meanings = map[gen.Kind]string{
	gen.Observe:  "observe, where hooks only watch",
	gen.Flow:     "a flow, where the first exit ends the fire",
	gen.Vote:     "a vote, where every hook runs and the strongest exit wins",
	gen.Collect:  "Collect, where hooks only contribute",
	gen.Check:    "Check, where the first error ends the fire",
	gen.CheckAll: "CheckAll, where every hook runs and the errors are joined",
	gen.Around:   "Around, where hooks wrap the act",
}

// compareLaw compares the laws of a point. If hooks run in an entirely other way, the elements of the lists are not
// compared, because they have nothing in common.
func (c *comparison) compareLaw(p pair, report reporter) {
	old, now := p.old, p.now
	was := *old
	was.Payload.Text = now.Payload.Text // so that only the law differs
	if c.same(old.Collect, now.Collect) {
		was.Collect.Text = now.Collect.Text
	}
	if c.same(old.Around, now.Around) {
		was.Around.Text = now.Around.Text
	}
	decide := func(k gen.Kind) bool { return k == gen.Flow || k == gen.Vote }
	if old.Kind != now.Kind {
		verdict, why := effect(apiOf(&was), apiOf(now), now.Name)
		if verdict == Safe {
			verdict = ChangesBehaviour
		}
		if decide(old.Kind) && decide(now.Kind) {
			// The elements of both lists are compared below.
			verdict, why = ChangesBehaviour, "the same hooks may decide something else"
			if old.Kind == gen.Vote {
				verdict, why = BreaksHooks, "observers lose "+now.Name+"Fired.Ballots"
			}
		}
		if why == "" {
			why = "the same hooks do something else"
		}
		report("law-changed", verdict, "%s is %s; it was %s: %s", now.Name, meanings[now.Kind], meanings[old.Kind], why)
		if !decide(old.Kind) || !decide(now.Kind) {
			c.explain(lawTypes(old)...)
			return
		}
	}
	c.compareRewrites(p, report)
	c.compareExits(p, report)
	c.compareCollect(p, report)
	if now.Kind == gen.Around && !c.same(old.Around, now.Around) {
		c.explain(old.Around.Types...)
		report("around-changed", BreaksHooks, "the act that hooks of %s wrap returns %s and returned %s: "+
			"hooks of it do not compile", now.Name, now.Around.Text, old.Around.Text)
	}
	for _, m := range model.Flags() {
		if has := *m.Flag(&now.Plain); has != *m.Flag(&old.Plain) {
			change := "lists %s now, so its law says %q"
			if !has {
				change = "no longer lists %s, so its law does not say %q"
			}
			report(m.Rule, ChangesBehaviour, "%s "+change+": tell the operators", now.Name, m.Usage(), m.Words)
		}
	}
	c.comparePolicy(p, &was, report)
}

// A reporter reports a finding about one point.
type reporter func(rule string, verdict Verdict, format string, args ...any)

// compareRewrites compares Replace and Edit.
func (c *comparison) compareRewrites(p pair, report reporter) {
	old, now := p.old, p.now
	pointer := Safe // whether Fire begins to take a pointer
	why := "the program must expect it"
	if !old.Rewrites() {
		pointer, why = BreaksLoops, "Fire takes *"+now.Payload.Text
	}
	switch {
	case !old.Replace && now.Replace:
		report("replace-granted", pointer, "hooks of %s may return another payload: %s", now.Name, why)
	case old.Replace && !now.Replace:
		report("replace-withdrawn", BreaksHooks, "hooks of %s may no longer return another payload: "+
			"those that call Replace%s do not compile", now.Name, now.Name)
	}
	switch {
	case !old.Edits() && now.Edits():
		report("edit-granted", pointer, "hooks of %s may change the field %s of the payload: %s", now.Name, now.EditField,
			why)
	case old.Edits() && !now.Edits():
		c.explain(old.Edit.Types...)
		report("edit-withdrawn", BreaksHooks, "hooks of %s may no longer change the field %s of the payload: "+
			"those that call Edit%s do not compile", now.Name, old.EditField, now.Name)
	case !c.same(old.Edit, now.Edit):
		c.explain(old.Edit.Types...)
		report("edit-changed", BreaksHooks, "Edit%s takes a %s and took a %s: hooks that call it do not compile", now.Name,
			now.Edit.Text, old.Edit.Text)
	case old.EditField != now.EditField:
		report("edit-field-changed", ChangesBehaviour, "Edit%s changes the field %s of the payload and changed %s: "+
			"give the edit another type, so that hooks notice", now.Name, now.EditField, old.EditField)
	}
}

// compareExits compares the exits of a point where hooks decide.
func (c *comparison) compareExits(p pair, report reporter) {
	old, now := p.old, p.now
	was := old.Exits
	for _, exit := range was {
		if !slices.Contains(now.Exits, exit) {
			c.explain(exit)
			t := c.old.Types[exit]
			report("exit-removed", BreaksHooks, "hooks of %s may no longer leave with %s: those that do do not compile%s",
				now.Name, exit, deprecateFirst(t != nil && t.Deprecated))
		}
	}
	for _, exit := range now.Exits {
		switch {
		case !slices.Contains(was, exit) && len(old.Exits) == 0:
			report("exit-added", BreaksLoops, "hooks of %s may leave with %s: Fire returns %s, which the program must handle",
				now.Name, exit, list(apiOf(now).result))
		case !slices.Contains(was, exit):
			report("exit-added", BreaksLoops, "hooks of %s may leave with %s: every call of Match%s must handle it, "+
				"and a type switch misses it silently", now.Name, exit, now.Name)
		}
	}
	kept := func(of, in []string) []string {
		return slices.DeleteFunc(slices.Clone(of), func(exit string) bool { return !slices.Contains(in, exit) })
	}
	before, after := kept(was, now.Exits), kept(now.Exits, was)
	if slices.Equal(before, after) {
		return
	}
	report("exit-order", BreaksLoops, "the exits of %s are listed as %s and were %s: "+
		"the parameters of Match%s have another order", now.Name, strings.Join(after, ", "), strings.Join(before, ", "),
		now.Name)
	if old.Kind == gen.Vote && now.Kind == gen.Vote {
		report("vote-order", ChangesBehaviour, "a vote of %s is won by the first of %s; it was the first of %s", now.Name,
			strings.Join(after, ", "), strings.Join(before, ", "))
	}
}

// compareCollect compares the contributions.
func (c *comparison) compareCollect(p pair, report reporter) {
	old, now := p.old, p.now
	switch {
	case !old.Collects() && now.Collects():
		report("collect-added", BreaksHooks, "hooks of %s also return []%s", now.Name, now.Collect.Text)
	case old.Collects() && !now.Collects():
		c.explain(old.Collect.Types...)
		report("collect-removed", BreaksHooks, "hooks of %s no longer return []%s", now.Name, old.Collect.Text)
	case !c.same(old.Collect, now.Collect):
		c.explain(old.Collect.Types...)
		report("collect-changed", BreaksHooks, "hooks of %s contribute %s and contributed %s: they do not compile", now.Name,
			now.Collect.Text, old.Collect.Text)
	}
}

// comparePolicy compares the policies. was is the old point with the payload of the new one.
func (c *comparison) comparePolicy(p pair, was *gen.SurfacePoint, report reporter) {
	old, now := p.old, p.now
	if old.Policy == now.Policy || old.Policy == gen.NoPolicy || now.Policy == gen.NoPolicy {
		return
	}
	verdict, why := ChangesBehaviour, ""
	if now.Kind == gen.Collect && old.Kind == gen.Collect {
		verdict, why = effect(apiOf(was), apiOf(now), now.Name)
		why = "; " + why
	}
	if now.Policy == gen.FailClosed {
		report("policy-tightened", verdict, "a failing hook of %s now ends the fire with an error: "+
			"announce it, because hooks that failed unnoticed now stop the act%s", now.Name, why)
		return
	}
	report("policy-loosened", verdict, "a failing hook of %s is now reported and skipped: "+
		"a guard that fails no longer stops the act%s", now.Name, why)
}
