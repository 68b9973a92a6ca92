package hookimpl_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"pgregory.net/rapid"
)

// seen returns a hook that records its name.
func seen(ran *[]string, name string) beforeFunc {
	return func(context.Context, *run, call) (beforeOutcome, error) {
		*ran = append(*ran, name)
		return nil, nil
	}
}

// A fire with key k runs exactly the hooks without keys and those registered for k, in the order in which all are
// listed. So do its observers.
func TestAFireRunsTheHooksOfItsKey(t *testing.T) {
	tools := []string{"bash", "read", "write"}
	rapid.Check(t, func(t *rapid.T) {
		outer := new(hooks)
		layers := []*hooks{outer, outer.Layer("inner")}
		var ran, notified []string
		var regs []*hookkit.Registration
		for i := range rapid.IntRange(0, 12).Draw(t, "registrations") {
			name := fmt.Sprint(i)
			layer := rapid.IntRange(0, 1).Draw(t, "layer")
			h := layers[layer]
			type option interface {
				hookkit.GateOption
				hookkit.ObserverOption
				hookkit.UseOption
			}
			options := []option{hookkit.Named(name), hookkit.Priority(rapid.IntRange(0, 2).Draw(t, "priority"))}
			var own []string
			if rapid.Bool().Draw(t, "for some keys") {
				own = rapid.SliceOfN(rapid.SampledFrom(tools), 1, 3).Draw(t, "keys")
				options = append(options, forTool(own...))
			}
			if len(regs) > 0 && rapid.Bool().Draw(t, "anchored") {
				options = append(options, hookkit.After(rapid.SampledFrom(regs).Draw(t, "anchor")))
			}
			func() {
				defer func() { _ = recover() }() // a contradiction, which changes nothing
				switch rapid.IntRange(0, 3).Draw(t, "way") {
				case 0:
					regs = append(regs, h.Before.Observe(observer(func(beforeFired[call]) { notified = append(notified, name) }),
						gate[hookkit.ObserverOption](options)...))
				case 1:
					regs = append(regs, h.Use(func(h *hooks) {
						h.Before.Add(seen(&ran, name), forTool("bash", "read"))
					}, gate[hookkit.UseOption](options)...))
				case 2:
					if len(regs) > 0 {
						regs = append(regs, h.Use(func(h *hooks) { h.Before.Add(seen(&ran, name)) },
							append(gate[hookkit.UseOption](options), hookkit.Replacing(rapid.SampledFrom(regs).Draw(t, "old")))...))
					}
				default:
					regs = append(regs, h.Before.Add(seen(&ran, name), gate[hookkit.GateOption](options)...))
				}
			}()
			if rapid.IntRange(0, 5).Draw(t, "removes") == 0 && len(regs) > 0 {
				rapid.SampledFrom(regs).Draw(t, "removed").Remove()
			}
			for _, h := range append(layers, layers[1].Pinned()) {
				for _, tool := range append(tools, "unknown") {
					ran, notified = nil, nil
					if err := h.Before.Fire(t.Context(), nil, &call{Name: tool}); err != nil {
						t.Fatal(err)
					}
					p := h.Points()[0]
					if want := names(p.Hooks(), tool); !slices.Equal(ran, want) {
						t.Fatalf("a fire for %s ran %v, want %v", tool, ran, want)
					}
					if want := names(p.Observers(), tool); !slices.Equal(notified, want) {
						t.Fatalf("a fire for %s notified %v, want %v", tool, notified, want)
					}
				}
			}
		}
	})
}

// gate converts options to another interface.
func gate[To, From any](options []From) (to []To) {
	for _, o := range options {
		to = append(to, any(o).(To))
	}
	return to
}

// names returns the names of those listed that are for the tool.
func names(infos []hookkit.Info, tool string) (some []string) {
	for _, i := range infos {
		if i.Keys == nil || slices.Contains(i.Keys, any(tool)) {
			some = append(some, i.Name)
		}
	}
	return some
}

type observer func(beforeFired[call])

func (o observer) ObserveBefore(_ context.Context, _ *run, fired beforeFired[call]) { o(fired) }

func TestKeysAreListed(t *testing.T) {
	var h hooks
	var ran []string
	reg := h.Before.Add(seen(&ran, "a"), forTool("bash", "sh"), hookkit.Named("a"))
	h.Before.ObserveFunc(func(context.Context, *run, beforeFired[call]) {}, forTool("read", "sh"))
	h.Before.Add(seen(&ran, "b"))
	info := h.Before.List()[0]
	if !reflect.DeepEqual(info.Keys, []any{"bash", "sh"}) ||
		!strings.Contains(info.Why, `for Tool "bash" "sh", from `+reg.Site()) {
		t.Errorf("listed is %+v", info)
	}
	p := h.Points()[0]
	if got := fmt.Sprint(p.Keys()); p.Key != "Tool" || got != "[bash sh read]" {
		t.Errorf("the keys in use are %s of %q", got, p.Key)
	}
	if plain := h.Points()[2]; plain.Key != "" || plain.Keys() != nil || (hookkit.AnyPoint{}).Keys() != nil {
		t.Error("a point without key has one")
	}
	long := h.Before.Add(seen(&ran, "c"), forTool(strings.Repeat("x", 1<<20), "1", "2", "3", "4", "5", "6"))
	if why := h.Before.List()[2].Why; len(why) > 300 || !strings.Contains(why, `"3" "4" 2 more`) {
		t.Errorf("a key of 1 MB is listed in %d bytes: %.400s", len(why), why)
	}
	long.Remove()
}

func TestOptionsOfUseAndAddIntersect(t *testing.T) {
	var h hooks
	var ran []string
	h.Use(func(h *hooks) {
		h.Before.Add(seen(&ran, "both"), forTool("bash", "read"), hookkit.Named("both"))
		h.Wrap.Add(wrapFunc(func(ctx context.Context, _ *run, c call, n wrapNext) (hookkit.Answer[string], error) {
			return n.Call(ctx, c)
		}))
	}, forTool("bash", "write"))
	if got := h.Before.List()[0].Keys; !reflect.DeepEqual(got, []any{"bash"}) {
		t.Errorf("the keys of the Add are %v", got)
	}
	if got := h.Wrap.List()[0].Keys; !reflect.DeepEqual(got, []any{"bash", "write"}) {
		t.Errorf("the keys of the Add without keys are %v", got)
	}
	both := h.Before.Add(seen(&ran, "x"), forTool("a", "b"), forTool("b", "c"))
	if fmt.Sprint(h.Before.List()[1].Keys) != "[b]" {
		t.Errorf("two options of %s do not intersect", both.Site())
	}
}

func TestKeysThatCannotBePanic(t *testing.T) {
	for name, c := range map[string]struct {
		register func(h *hooks, ran *[]string)
		says     []string
	}{
		"none given": {
			func(*hooks, *[]string) { forTool() },
			[]string{"ForTool at hookkit/hookimpl/key_test.go:", "no key is given"},
		},
		"nothing in common": {
			func(h *hooks, ran *[]string) {
				h.Use(func(h *hooks) { h.Before.Add(seen(ran, "a"), forTool("bash"), hookkit.Named("a")) }, forTool("read"))
			},
			[]string{"Use at ", "Before: a (", "no key in common"},
		},
		"a point without the key": {
			func(h *hooks, _ *[]string) {
				h.Plain.Add(plainFunc(func(context.Context, *run, call) error { return nil }), forTool("bash"), hookkit.Named("a"))
			},
			[]string{"Plain.Add at hookkit/hookimpl/key_test.go:", "Plain: a (", "ForTool", "the point has no key"},
		},
		"a bundle with a point without the key": {
			func(h *hooks, ran *[]string) {
				h.Use(func(h *hooks) {
					h.Before.Add(seen(ran, "a"))
					h.Plain.Add(plainFunc(func(context.Context, *run, call) error { return nil }))
				}, forTool("bash"))
			},
			[]string{"Use at ", "Plain: ", "ForTool", "the point has no key"},
		},
		"an observer of all points": {
			func(h *hooks, _ *[]string) { h.ObserveAny(func(hookkit.AnyFired) {}, forTool("bash")) },
			[]string{"ObserveAny at ", "Plain: ", "ForTool"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			var ran []string
			var text string
			func() {
				defer func() { text = fmt.Sprint(recover()) }()
				c.register(&h, &ran)
			}()
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("panicked with %q, want %q", text, want)
				}
			}
			for _, p := range h.Points() {
				if len(p.Hooks())+len(p.Observers()) > 0 {
					t.Errorf("something is registered at %s", p.Name)
				}
			}
		})
	}
}

func TestHooksCannotChangeTheKey(t *testing.T) {
	t.Run("with a replacement", func(t *testing.T) {
		var h hooks
		var failures []*hookkit.Failure
		h.Points()[0].HandleFailures(func(_ context.Context, f *hookkit.Failure) { failures = append(failures, f) })
		h.Before.AddFunc(func(context.Context, *run, call) (beforeOutcome, error) {
			return replaceBefore(call{"sh", "1"}, ""), nil
		})
		h.Before.AddFunc(func(context.Context, *run, call) (beforeOutcome, error) { panic("so that the rest runs alone") })
		h.Before.AddFunc(func(_ context.Context, _ *run, c call) (beforeOutcome, error) {
			return replaceBefore(call{c.Name, "2"}, ""), nil
		}, forTool("bash"))
		c := call{Name: "bash"}
		if err := h.Before.Fire(t.Context(), nil, &c); err != nil || c != (call{"bash", "2"}) {
			t.Errorf("the fire left %+v, %v", c, err)
		}
		if len(failures) != 2 || !errors.Is(failures[0], hookkit.ErrIllegal) ||
			!strings.Contains(failures[0].Error(), `the key Tool is "sh" now and was "bash"`) {
			t.Errorf("reported were %v", failures)
		}
	})
	t.Run("with next", func(t *testing.T) {
		var h hooks
		h.Wrap.AddFunc(func(ctx context.Context, _ *run, c call, next wrapNext) (hookkit.Answer[string], error) {
			return next.Call(ctx, c)
		})
		h.Wrap.AddFunc(func(ctx context.Context, _ *run, c call, next wrapNext) (hookkit.Answer[string], error) {
			return next.Call(ctx, call{"sh", c.Args})
		}, hookkit.Named("changes"))
		acted := false
		_, err := h.Wrap.runHooks(t.Context(), nil, call{Name: "bash"},
			func(context.Context, call) (string, error) { acted = true; return "", nil }, nil, nil, nil)
		var f *hookkit.Failure
		if !errors.As(err, &f) || f.Hook != "changes" || !errors.Is(err, hookkit.ErrIllegal) || acted {
			t.Errorf("the fire returned %v; the act ran: %v", err, acted)
		}
	})
}

func TestAnyPointFiresForAKey(t *testing.T) {
	var h hooks
	var ran []string
	var keys []any
	h.Before.Add(seen(&ran, "bash"), forTool("bash"))
	h.Points()[0].ObserveAny(func(_ context.Context, _ hookkit.AnyRun, fired hookkit.AnyFired) {
		keys = append(keys, fired.Key)
	})
	p := h.Points()[0]
	fired, err := p.Fire(t.Context(), nil, call{Name: "bash"})
	if err != nil || fired.Key != "bash" {
		t.Errorf("fired %+v, %v", fired, err)
	}
	if fired, err = p.FireKey(t.Context(), nil, "bash", call{Name: "[redacted]"}); err != nil || fired.Key != "bash" {
		t.Errorf("fired %+v, %v", fired, err)
	}
	if err := h.Before.Fire(t.Context(), nil, &call{Name: "sh"}); err != nil {
		t.Error(err)
	}
	if !slices.Equal(ran, []string{"bash", "bash"}) || !slices.Equal(keys, []any{"bash", "bash", "sh"}) {
		t.Errorf("ran %v, observed the keys %v", ran, keys)
	}
	_, err = p.FireKey(t.Context(), nil, 7, call{})
	if err == nil || !strings.Contains(err.Error(), "the key is a int; pass a string") {
		t.Errorf("a key of another type: %v", err)
	}
	_, err = h.Points()[2].FireKey(t.Context(), nil, "x", call{})
	if err == nil || !strings.Contains(err.Error(), "Plain has no key") {
		t.Errorf("a point without key: %v", err)
	}
}

func TestFiresWithKeysAllocateNothing(t *testing.T) {
	var h hooks
	for i := range 100 {
		h.Before.AddFunc(func(context.Context, *run, call) (beforeOutcome, error) { return nil, nil },
			forTool(fmt.Sprint("tool", i%10)))
	}
	for _, tool := range []string{"tool1", "unknown"} {
		c := call{Name: tool}
		if n := testing.AllocsPerRun(100, func() { _ = h.Before.Fire(context.Background(), nil, &c) }); n != 0 {
			t.Errorf("a fire for %s makes %v allocations", tool, n)
		}
	}
}

// BenchmarkKey compares a fire with a key among hooks of many keys to a fire of the hooks that apply and a lookup.
func BenchmarkKey(b *testing.B) {
	add := func(h *hooks, opts ...hookkit.GateOption) {
		h.Before.AddFunc(func(context.Context, *run, call) (beforeOutcome, error) { return nil, nil }, opts...)
	}
	var alone, many hooks
	known := map[string]int{}
	for i := range 10_000 {
		name := fmt.Sprint("tool", i)
		known[name] = i
		add(&many, forTool(name+" "))
	}
	for range 8 {
		add(&alone)
		add(&many, forTool("tool7"))
	}
	c := call{Name: "tool7"}
	b.Run("alone and a lookup", func(b *testing.B) {
		for b.Loop() {
			if known[c.Name] == 7 {
				_ = alone.Before.Fire(b.Context(), nil, &c)
			}
		}
	})
	b.Run("among 10,000 keys", func(b *testing.B) {
		for b.Loop() {
			_ = many.Before.Fire(b.Context(), nil, &c)
		}
	})
}
