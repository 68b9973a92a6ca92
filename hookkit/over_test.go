package hookkit_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

func TestOverFiresBothAndFollowsTheirChanges(t *testing.T) {
	var parent, sub hooks
	var d diary
	both := parent.Over(&sub, "sub-agent")
	d.want(t, both)
	d.add(&sub, "sub", hookkit.Priority(hookkit.Safety))
	d.want(t, both, "sub")
	outer := d.add(&parent, "parent")
	d.want(t, both, "parent", "sub")
	d.want(t, &sub, "sub")
	outer.Remove()
	d.want(t, both, "sub")
}

func TestOverFiresSharedLayersOnce(t *testing.T) {
	var program, other hooks
	var d diary
	left, right := program.Layer("left"), program.Layer("right")
	d.add(&program, "program")
	d.add(left, "left")
	d.add(right, "right")
	d.add(&other, "other")
	d.want(t, left.Over(right, "both"), "program", "left", "right")
	d.want(t, left.Over(&program, "both"), "program", "left")
	d.want(t, left.Over(left, "both"), "program", "left")
	nested := left.Over(right, "both").Over(other.Over(left, "inner"), "outer")
	d.want(t, nested, "program", "left", "right", "other")
}

func TestLayersOnTheResultOfOver(t *testing.T) {
	var parent, sub hooks
	var d diary
	own := parent.Over(&sub, "sub").Layer("own")
	d.add(own, "own")
	outer := d.add(&parent, "parent")
	d.add(&sub, "sub")
	d.want(t, own, "parent", "sub", "own")
	text := panicText(func() { d.add(own, "torn", hookkit.Before(outer)) })
	if !strings.Contains(text, "registered on other Hooks") {
		t.Errorf("an anchor to hooks of the parent panicked with %q", text)
	}
	var layers []string
	for i, info := range own.First.List() {
		if info.Layer != i {
			t.Errorf("%s is in layer %d, want %d", info.Name, info.Layer, i)
		}
		layers = append(layers, info.LayerName)
	}
	if want := []string{"", "sub", "own"}; !slices.Equal(layers, want) {
		t.Errorf("the layers are %q, want %q", layers, want)
	}
	if text := explained(t, own); !strings.Contains(text, "layer 1 (sub)") || !strings.Contains(text, "layer 2 (own)") {
		t.Errorf("Explain wrote %s", text)
	}
}

func TestResultOfOverHasNoHooksOfItsOwn(t *testing.T) {
	for name, register := range map[string]func(*hooks){
		"Add":            func(h *hooks) { h.First.Add(continues) },
		"ObserveFunc":    func(h *hooks) { h.First.ObserveFunc(ignore) },
		"ObserveAny":     func(h *hooks) { h.ObserveAny(ignoreAny) },
		"Use":            func(h *hooks) { h.Use(bind(func(h *hooks) { h.First.Add(continues) })) },
		"Trace":          func(h *hooks) { h.Trace(tracerFunc(func(ctx, hookkit.Event) {})) },
		"HandleFailures": func(h *hooks) { h.HandleFailures(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			var parent, sub hooks
			text := panicText(func() { register(parent.Over(&sub, "sub")) })
			if !strings.Contains(text, name+" at hookkit/over_test.go:") || !strings.Contains(text, "a Layer on the result") {
				t.Errorf("panicked with %q", text)
			}
		})
	}
}

func TestOverNotifiesObserversAndHandlersOfBoth(t *testing.T) {
	var parent, sub hooks
	both := parent.Over(&sub, "sub")
	var notified, reported []string
	observe := func(h *hooks, name string) {
		h.First.ObserveFunc(func(ctx, *run, firstFired) { notified = append(notified, name) })
	}
	handle := func(h *hooks, name string) {
		h.HandleFailures(func(context.Context, *hookkit.Failure) { reported = append(reported, name) })
	}
	observe(&parent, "parent")
	observe(&sub, "sub")
	parent.First.ObserveFunc(func(ctx, *run, firstFired) { panic("observer") })
	handle(&parent, "parent")
	fireFirst(t, both, 1)
	handle(&sub, "sub")
	fireFirst(t, both, 1)
	if want := []string{"parent", "sub", "parent", "sub"}; !slices.Equal(notified, want) {
		t.Errorf("notified were %v, want %v", notified, want)
	}
	if want := []string{"parent", "sub"}; !slices.Equal(reported, want) {
		t.Errorf("the failure handlers were %v, want %v", reported, want)
	}
}

func TestOverKeepsNoRemovedHook(t *testing.T) {
	var parent, sub hooks
	both := parent.Over(&sub, "sub")
	layer := both.Layer("own")
	for _, from := range []*hooks{&parent, &sub, layer} {
		reg, heavy := addHeavy(from)
		fireFirst(t, both, 1)
		fireFirst(t, layer, 1)
		reg.Remove()
		runtime.GC()
		if heavy.Value() != nil {
			t.Error("the hook is still in memory")
		}
	}
	runtime.KeepAlive(layer)
}
