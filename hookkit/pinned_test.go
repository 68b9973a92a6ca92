package hookkit_test

import (
	"context"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
)

func TestPinnedHooksKeepTheRegistrationsOfTheirBeginning(t *testing.T) {
	var outer hooks
	var d diary
	inner := outer.Layer("inner")
	d.add(&outer, "outer")
	own := d.add(inner, "own", hookkit.Priority(hookkit.Safety))
	pinned := inner.Pinned()
	listed := pinned.First.List()
	own.Remove()
	d.add(&outer, "later")
	d.want(t, inner, "outer", "later")
	d.want(t, pinned, "outer", "own")
	if got := pinned.First.List(); !reflect.DeepEqual(got, listed) || got[1].Layer != 1 || got[1].LayerName != "inner" {
		t.Errorf("listed are %+v, at first %+v", got, listed)
	}
	if len(pinned.Registered("own")) != 1 || len(inner.Registered("own")) != 0 {
		t.Error("Registered disagrees with the fires")
	}
	d.want(t, inner.Pinned(), "outer", "later")
}

func TestPinnedIsTheSameWhileNothingChanges(t *testing.T) {
	var outer hooks
	var d diary
	inner := outer.Layer("inner")
	d.add(inner, "own")
	pinned := inner.Pinned()
	same := func(when string, want bool) {
		t.Helper()
		if got := inner.Pinned(); (got == pinned) != want {
			t.Errorf("%s: the same Hooks: %v, want %v", when, !want, want)
		}
		pinned = inner.Pinned()
	}
	same("again", true)
	outer.Layer("sibling").First.Add(continues)
	inner.Layer("request").First.Add(continues)
	pinned.Layer("request").First.Add(continues)
	same("after changes of a sibling and of layers inside", true)
	if pinned.Pinned() != pinned {
		t.Error("Pinned of pinned Hooks returned others")
	}
	if n := testing.AllocsPerRun(100, func() { inner.Pinned() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	reg := outer.Second.Add(secondContinues)
	same("after a change of the outer layer", false)
	reg.Remove()
	same("after a removal", false)
	inner.HandleFailures(func(context.Context, *hookkit.Failure) {})
	same("after another failure handler", false)
	inner.Trace(tracerFunc(func(ctx, hookkit.Event) {}))
	same("after a tracer", false)
}

func TestPinnedHooksRefuseChanges(t *testing.T) {
	for name, register := range map[string]func(*hooks){
		"Add":            func(h *hooks) { h.First.Add(continues) },
		"ObserveFunc":    func(h *hooks) { h.First.ObserveFunc(ignore) },
		"ObserveAny":     func(h *hooks) { h.ObserveAny(ignoreAny) },
		"Use":            func(h *hooks) { h.Use(bind(func(h *hooks) { h.First.Add(continues) })) },
		"Trace":          func(h *hooks) { h.Trace(tracerFunc(func(ctx, hookkit.Event) {})) },
		"HandleFailures": func(h *hooks) { h.HandleFailures(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			text := panicText(func() { register(h.Pinned()) })
			if !strings.Contains(text, name+" at hookkit/pinned_test.go:") || !strings.Contains(text, "the result of Pinned") {
				t.Errorf("panicked with %q", text)
			}
		})
	}
	t.Run("in a Bind", func(t *testing.T) {
		text := panicText(func() { new(hooks).Use(bind(func(h *hooks) { h.Pinned() })) })
		if !strings.Contains(text, "Pinned at hookkit/pinned_test.go:") {
			t.Errorf("panicked with %q", text)
		}
	})
}

func TestLayersAndOverOnPinnedHooks(t *testing.T) {
	var program, sub hooks
	var d diary
	guard := d.add(&program, "guard")
	d.add(&sub, "sub")
	pinned := program.Pinned()
	request := pinned.Layer("request")
	d.add(request, "request", hookkit.After(guard))
	if text := panicText(func() { d.add(request, "x", hookkit.Before(guard)) }); !strings.Contains(text, "outer layer") {
		t.Errorf("Before a pinned hook panicked with %q", text)
	}
	guard.Remove()
	d.want(t, request, "guard", "request")
	d.want(t, request.Pinned(), "guard", "request")
	d.want(t, pinned.Over(&sub, "sub"), "guard", "sub")
	d.want(t, pinned.Over(program.Layer("live"), "live"), "guard")
	both := program.Over(&sub, "sub")
	frozen := both.Pinned()
	d.add(&sub, "later")
	d.add(&program, "also later")
	d.want(t, both, "also later", "sub", "later")
	d.want(t, frozen, "sub")
	if info := frozen.First.List()[0]; info.LayerName != "sub" || info.Layer != 1 {
		t.Errorf("listed is %+v", info)
	}
}

// Layers on the same pinned Hooks share the layers below and nothing else, however many those are.
func TestLayersOnPinnedHooksAreIndependent(t *testing.T) {
	deep := new(hooks)
	for depth := 1; depth < 40; depth++ {
		pinned := deep.Pinned()
		a, b := pinned.Layer("a"), pinned.Layer("b")
		var layers []int
		a.Trace(tracerFunc(func(_ ctx, e hookkit.Event) {
			if e.Kind == hookkit.EventHook {
				layers = append(layers, e.Layer)
			}
		}))
		a.First.AddFunc(continues)
		b.First.AddFunc(continues)
		fireFirst(t, a, 1)
		fireFirst(t, b, 1)
		fireFirst(t, a, 1)
		if want := []int{depth, depth}; !reflect.DeepEqual(layers, want) {
			t.Errorf("on %d layers, the hook is in the layers %v, want %v", depth, layers, want)
		}
		deep = deep.Layer("deeper")
	}
}

func TestPinnedHooksNotifyTheObserversOfTheirBeginning(t *testing.T) {
	var h hooks
	seen := 0
	reg := h.ObserveAny(watcher(func(ctx, *run, hookkit.AnyFired) { seen++ }))
	pinned := h.Pinned()
	reg.Remove()
	fireFirst(t, pinned, 2)
	fireFirst(t, &h, 2)
	if seen != 2 {
		t.Errorf("the observer saw %d fires, want 2", seen)
	}
}

// released reports whether the channel is closed after some collections.
func released(reg *hookkit.Registration) bool {
	for range 5 {
		runtime.GC()
		select {
		case <-reg.Released():
			return true
		case <-time.After(10 * time.Millisecond): // the cleanups run in a goroutine of the runtime
		}
	}
	return false
}

func TestReleasedWaitsForFiresAndPinnedHooks(t *testing.T) {
	want := func(t *testing.T, when string, reg *hookkit.Registration, want bool) {
		t.Helper()
		if got := released(reg); got != want {
			t.Errorf("%s: released is %v, want %v", when, got, want)
		}
	}
	gone := map[string]func(h *hooks, reg *hookkit.Registration){
		"removed":  func(_ *hooks, reg *hookkit.Registration) { reg.Remove() },
		"replaced": func(h *hooks, reg *hookkit.Registration) { addHeavy(h, hookkit.Replacing(reg)) },
	}
	for name, drop := range gone {
		t.Run(name, func(t *testing.T) {
			var h hooks
			reg, _ := addHeavy(&h)
			fireFirst(t, &h, 1)
			want(t, "registered", reg, false)
			pinned := h.Pinned()
			drop(&h, reg)
			want(t, "pinned", reg, false)
			fireFirst(t, pinned, 1)
			want(t, "nothing holds it", reg, true)
			runtime.KeepAlive(&h)
		})
	}
	t.Run("during a fire", func(t *testing.T) {
		var h hooks
		var reg *hookkit.Registration
		inFire := true
		reg = h.First.AddFunc(func(ctx, *run, int) (testpoints.FirstOutcome, error) {
			reg.Remove()
			inFire = !released(reg)
			return nil, nil
		})
		fireFirst(t, &h, 1)
		if !inFire {
			t.Error("it is released while its hook runs")
		}
		want(t, "after the fire", reg, true)
	})
	t.Run("of an answer that is kept", func(t *testing.T) {
		var h hooks
		answer := func(context.Context, *run, int, testpoints.WrapNext) (hookkit.Answer[string], error) {
			return hookkit.Answered("a"), nil
		}
		var kept hookkit.Answer[string]
		h.Wrap.AddFunc(func(ctx context.Context, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
			a, err := next.Call(ctx, n)
			kept = a
			return a, err
		})
		reg := h.Wrap.AddFunc(answer)
		if got, err := h.Wrap.Fire(t.Context(), nil, 1, nil); got != "a" || err != nil {
			t.Fatal(got, err)
		}
		reg.Remove()
		want(t, "a cache keeps the answer", reg, true)
		runtime.KeepAlive(&kept)
	})
	t.Run("of the parts of a bundle", func(t *testing.T) {
		var h hooks
		var one, other *hookkit.Registration
		whole := h.Use(bind(func(h *hooks) {
			one, other = h.First.Add(continues), h.Second.Add(secondContinues)
		}))
		one.Remove()
		want(t, "a part is removed", one, true)
		want(t, "another part is left", whole, false)
		want(t, "another part is left", other, false)
		whole.Remove()
		want(t, "the rest is removed", whole, true)
		want(t, "the rest is removed", other, true)
	})
	t.Run("of nothing", func(t *testing.T) {
		want(t, "nil", nil, true)
		want(t, "zero", new(hookkit.Registration), true)
	})
}
