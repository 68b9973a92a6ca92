package hookkit_test

import (
	"context"
	"runtime"
	"testing"
	"weak"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
)

// A heavyHook is large enough to have memory of its own.
type heavyHook struct{ data [1 << 10]byte }

func (k *heavyHook) First(context.Context, *run, int) (testpoints.FirstOutcome, error) {
	k.data[0]++
	return nil, nil
}

func (k *heavyHook) Bind(h *hooks) { h.First.Add(k) }

// addHeavy registers a hook and returns a pointer that does not keep it.
func addHeavy(h *hooks, opts ...hookkit.UseOption) (*hookkit.Registration, weak.Pointer[heavyHook]) {
	k := new(heavyHook)
	return h.Use(k, opts...), weak.Make(k)
}

// No point fires after the removal.
func TestRemovedHooksAreCollected(t *testing.T) {
	for name, drop := range map[string]func(h *hooks, reg *hookkit.Registration){
		"removed": func(_ *hooks, reg *hookkit.Registration) { reg.Remove() },
		"replaced": func(h *hooks, reg *hookkit.Registration) {
			h.Use(bind(func(h *hooks) { h.First.Add(continues) }), hookkit.Replacing(reg))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var outer hooks
			layers := []*hooks{&outer}
			for range 3 {
				layers = append(layers, layers[len(layers)-1].Layer("inner"))
			}
			layers = append(layers, outer.Layer("sibling"))
			for i, layer := range layers {
				reg, heavy := addHeavy(layer)
				for _, h := range layers {
					fireFirst(t, h, 1)
				}
				drop(layer, reg)
				runtime.GC()
				if heavy.Value() != nil {
					t.Errorf("layer %d: the hook is still in memory", i)
				}
				runtime.KeepAlive(reg)
			}
			runtime.KeepAlive(layers)
		})
	}
}

// A program reads its configuration again, the order contradicts itself, and the program goes on without a change.
func TestRefusedHooksAreCollected(t *testing.T) {
	var h hooks
	first := h.First.Add(continues)
	last := h.First.Add(continues, hookkit.After(first))
	for range 10 { // with room for one more hook, and without
		k := new(heavyHook)
		heavy := weak.Make(k)
		if panicText(func() { h.Use(k, hookkit.After(last), hookkit.Before(first)) }) == "" {
			t.Error("the order is accepted")
		}
		runtime.GC()
		if heavy.Value() != nil {
			t.Errorf("behind %d hooks, the refused one is still in memory", len(h.First.List()))
		}
		h.First.Add(continues)
	}
}

// A program makes a layer for each of its requests, and nothing changes on the Hooks around them.
func TestForgottenLayersAreCollected(t *testing.T) {
	var outer hooks
	outer.First.Add(continues)
	var left []weak.Pointer[heavyHook]
	for range 100 {
		layer := outer.Layer("request")
		_, heavy := addHeavy(layer)
		fireFirst(t, layer, 1)
		left = append(left, heavy)
	}
	runtime.GC()
	n := 0
	for _, heavy := range left {
		if heavy.Value() != nil {
			n++
		}
	}
	if n > 1 { // the last one may still be in a register
		t.Errorf("the hooks of %d layers are still in memory", n)
	}
	runtime.KeepAlive(&outer)
}

// A hook that keeps the Hooks of its Bind.
type keepingHook struct {
	heavyHook
	hooks *hooks
}

func (k *keepingHook) Bind(h *hooks) {
	k.hooks = h
	h.First.Add(k)
}

func TestKeptHooksOfABindDoNotDelayReleased(t *testing.T) {
	var h hooks
	k := new(keepingHook)
	reg := h.Use(k)
	reg.Remove()
	if !released(reg) {
		t.Error("it is not released")
	}
	runtime.KeepAlive(k)
}

// A reload changes one point of many, and the next request pins.
func TestReloadsNeedNoMoreMemoryWithPinnedHooks(t *testing.T) {
	var h hooks
	reg, _ := addHeavy(&h)
	reloads := func() uint64 {
		for range 5000 {
			reg, _ = addHeavy(&h, hookkit.Replacing(reg))
			h.Pinned()
		}
		runtime.GC()
		runtime.GC() // the cleanups of the first one have run
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := reloads()
	if after := reloads(); after > before+400_000 {
		t.Errorf("5,000 reloads left %d bytes", after-before)
	}
	runtime.KeepAlive(&h)
}
