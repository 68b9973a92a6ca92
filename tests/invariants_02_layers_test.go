package tests

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"pgregory.net/rapid"
)

// A layering is a random tree of layers with hooks and observers at one point.
type layering struct {
	p      *firepoint
	layers []*refLayer
	regs   []*layerReg
	told   []string
	count  int
}

// A refLayer is a layer and what the reference model has there, in order of registration.
type refLayer struct {
	hooks     *fixture.Hooks
	parent    *refLayer // nil for the outermost
	own       []refHook
	observers []refHook
}

// A layerReg is one registration.
type layerReg struct {
	*hookkit.Registration
	layer   *refLayer
	removed bool
}

// within reports whether outer is one of the layers around l.
func (l *refLayer) within(outer *refLayer) bool {
	return l.parent != nil && (l.parent == outer || l.parent.within(outer))
}

// chain is the layer after those around it, the outermost first.
func (l *refLayer) chain() []*refLayer {
	if l.parent == nil {
		return []*refLayer{l}
	}
	return append(l.parent.chain(), l)
}

func (g *layering) drawLayer(t *rapid.T) *refLayer {
	return rapid.SampledFrom(g.layers).Draw(t, "layer")
}

func (g *layering) layer(t *rapid.T) {
	parent := g.drawLayer(t)
	g.layers = append(g.layers, &refLayer{hooks: parent.hooks.Layer(), parent: parent})
}

// add adds a hook or an observer, perhaps with an anchor on any registration.
func (g *layering) add(t *rapid.T) {
	at, observes := g.drawLayer(t), rapid.IntRange(0, 3).Draw(t, "observer") == 0
	g.count++
	h := refHook{name: fmt.Sprintf("h%d", g.count), priority: priorities.Draw(t, "priority"), regs: []int{len(g.regs)}}
	opts := []any{hookkit.Priority(h.priority), hookkit.Named(h.name)}
	turns := false // the anchor would turn two layers round
	if len(g.regs) > 0 && rapid.IntRange(0, 2).Draw(t, "anchored") == 0 {
		i := rapid.IntRange(0, len(g.regs)-1).Draw(t, "anchor")
		anchor := g.regs[i]
		if rapid.Bool().Draw(t, "after") {
			opts, h.anchors = append(opts, hookkit.After(anchor.Registration)), []refAnchor{{reg: i, after: true}}
			turns = !anchor.removed && anchor.layer.within(at)
		} else {
			opts, h.anchors = append(opts, hookkit.Before(anchor.Registration)), []refAnchor{{reg: i}}
			turns = !anchor.removed && at.within(anchor.layer)
		}
	}
	reg := &layerReg{layer: at}
	text := panicOf(func() {
		if observes {
			reg.Registration = g.p.observe(at.hooks, &watcher{func(told) { g.told = append(g.told, h.name) }}, opts...)
			return
		}
		reg.Registration = g.p.add(at.hooks, g.p.hook(func(c hookCall) hookReply {
			g.told = append(g.told, h.name)
			return g.p.goesOn(c)
		}), opts...)
	})
	switch {
	case turns && (!strings.Contains(text, "layer: outer layers fire first") || strings.Count(text, ".go:") < 3):
		t.Fatalf("an anchor that turns layers round panicked with %q", text)
	case !turns && text != "":
		t.Fatalf("panicked: %s", text)
	case turns:
		return
	case observes:
		at.observers = append(at.observers, h)
	default:
		at.own = append(at.own, h)
	}
	g.regs = append(g.regs, reg)
}

func (g *layering) remove(t *rapid.T) {
	if len(g.regs) == 0 {
		t.Skip("nothing to remove")
	}
	i := rapid.IntRange(0, len(g.regs)-1).Draw(t, "removed")
	reg := g.regs[i]
	if reg.Remove() == reg.removed {
		t.Fatalf("Remove reported %v", reg.removed)
	}
	reg.removed = true
	is := func(h refHook) bool { return h.regs[0] == i }
	reg.layer.own = slices.DeleteFunc(reg.layer.own, is)
	reg.layer.observers = slices.DeleteFunc(reg.layer.observers, is)
}

// check fires every layer. That of one changes what another fires never.
func (g *layering) check(t *rapid.T) {
	for i, l := range g.layers {
		var hooks, observers []string
		for _, outer := range l.chain() {
			own, _ := refOrder(outer.own)
			hooks = append(hooks, refNames(own)...)
			told, _ := refOrder(outer.observers)
			observers = append(observers, refNames(told)...)
		}
		if g.p.reversed {
			slices.Reverse(hooks)
		}
		want := append(slices.Clone(hooks), observers...)
		g.told = nil
		g.p.fire(context.Background(), l.hooks, newRun(), fixture.Item{}, yields)
		if !slices.Equal(g.told, want) {
			t.Fatalf("layer %d of %s ran %v, want %v", i, g.p, g.told, want)
		}
		listed := g.p.list(l.hooks)
		if !slices.Equal(names(listed), hooks) {
			t.Fatalf("layer %d of %s lists %v, want %v", i, g.p, names(listed), hooks)
		}
		for j, info := range listed {
			if k := slices.IndexFunc(l.chain(), func(at *refLayer) bool {
				return slices.ContainsFunc(at.own, func(h refHook) bool { return h.name == info.Name })
			}); info.Layer != k {
				t.Fatalf("hook %d says it is in layer %d, not %d", j, info.Layer, k)
			}
		}
	}
}

// goesOn is what a hook does that has nothing to say.
func (p *firepoint) goesOn(c hookCall) hookReply {
	if p.kind != aroundKind {
		return hookReply{}
	}
	answer, err := c.next(c.ctx, c.item)
	return hookReply{answer: answer, err: err}
}

// TestInvariant02_Layers: every hook of an outer layer precedes every hook of an inner one (follows, under
// Reverse), whatever the priorities; a layer never changes its parent.
func TestInvariant02_Layers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &layering{p: rapid.SampledFrom(firepoints).Draw(t, "point"), layers: []*refLayer{{hooks: new(fixture.Hooks)}}}
		t.Repeat(map[string]func(*rapid.T){
			"add": g.add, "layer": g.layer, "remove": g.remove, "": g.check,
		})
	})
}
