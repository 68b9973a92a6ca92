package soak

import (
	"context"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// morePoints are the points whose payload is something other than an Item.
var morePoints = []firepoint{
	{"OnPointer", func(h *fixture.Hooks, p *part) {
		decided := decide(p, "OnPointer", func(item fixture.Item, reason string) fixture.OnPointerOutcome {
			return fixture.ReplaceOnPointer(&item, reason)
		}, nil)
		h.OnPointer.Add(fixture.OnPointerFunc(func(ctx context.Context, run *fixture.Run, item *fixture.Item) (fixture.OnPointerOutcome, error) {
			return decided(ctx, run, *item)
		}), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		item := f.item
		at := &item
		exit, err := h.OnPointer.Fire(f, f.run, &at)
		f.item = *at
		f.came(exit, nil, err)
	}},
	{"OnGeneric", func(h *fixture.Hooks, p *part) {
		decided := decide(p, "OnGeneric", func(item fixture.Item, reason string) fixture.OnGenericOutcome {
			return fixture.ReplaceOnGeneric(fixture.Envelope[fixture.Item]{Body: item}, reason)
		}, nil)
		h.OnGeneric.Add(fixture.OnGenericFunc(func(ctx context.Context, run *fixture.Run, e fixture.Envelope[fixture.Item]) (fixture.OnGenericOutcome, error) {
			return decided(ctx, run, e.Body)
		}), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		e := fixture.Envelope[fixture.Item]{Body: f.item}
		exit, err := h.OnGeneric.Fire(f, f.run, &e)
		f.item = e.Body
		f.came(exit, nil, err)
	}},
	{"OnImported", func(h *fixture.Hooks, p *part) {
		looked := look(p, "OnImported")
		h.OnImported.Add(fixture.OnImportedFunc(func(ctx context.Context, run *fixture.Run, left time.Duration, inner fixture.OnImportedNext) (hookkit.Answer[time.Time], error) {
			if err := looked(ctx, run, fixture.Item{ID: int(left)}); err != nil {
				return hookkit.Answer[time.Time]{}, err
			}
			return inner.Call(ctx, left)
		}), p.options()...)
	}, func(h *fixture.Hooks, f *fire) {
		at, err := h.OnImported.Fire(f, f.run, time.Duration(f.item.ID), f.tell)
		if err == nil {
			f.result.N = int(at.UnixNano())
		}
		f.came(nil, nil, err)
	}},
	{"OnAnything", func(h *fixture.Hooks, p *part) {
		decided := decide(p, "OnAnything", func(item fixture.Item, reason string) fixture.OnAnythingOutcome {
			return fixture.ReplaceOnAnything(item, reason)
		}, nil)
		h.OnAnything.Add(fixture.OnAnythingFunc(func(ctx context.Context, run *fixture.Run, item any) (fixture.OnAnythingOutcome, error) {
			return decided(ctx, run, item.(fixture.Item))
		}), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		var item any = f.item
		f.err = h.OnAnything.Fire(f, f.run, &item)
		f.item = item.(fixture.Item)
	}},
	{"OnNothing", func(h *fixture.Hooks, p *part) {
		looked := look(p, "OnNothing")
		h.OnNothing.Add(fixture.OnNothingFunc(func(ctx context.Context, run *fixture.Run, _ struct{}) error {
			return looked(ctx, run, fireOf(ctx).item)
		}), p.options()...)
	}, func(h *fixture.Hooks, f *fire) {
		f.err = h.OnNothing.Fire(f, f.run, struct{}{})
	}},
	{"OnSlice", func(h *fixture.Hooks, p *part) {
		decided := decide[fixture.OnSliceOutcome](p, "OnSlice", nil, nil)
		h.OnSlice.Add(fixture.OnSliceFunc(func(ctx context.Context, run *fixture.Run, items []fixture.Item) (fixture.OnSliceOutcome, []map[string]int, error) {
			out, err := decided(ctx, run, items[0])
			var gift []map[string]int
			for _, name := range gifts[p.side] {
				gift = append(gift, map[string]int{name: p.layer})
			}
			return out, gift, err
		}), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, got, err := h.OnSlice.Fire(f, f.run, []fixture.Item{f.item})
		var names []string
		for _, gift := range got {
			for name := range gift {
				names = append(names, name)
			}
		}
		f.came(exit, names, err)
	}},
	{"OnError", func(h *fixture.Hooks, p *part) {
		decided := decide[fixture.OnErrorOutcome](p, "OnError", nil, nil)
		h.OnError.Add(fixture.OnErrorFunc(func(ctx context.Context, run *fixture.Run, _ error) (fixture.OnErrorOutcome, error) {
			return decided(ctx, run, fireOf(ctx).item)
		}), p.gate()...)
	}, func(h *fixture.Hooks, f *fire) {
		exit, err := h.OnError.Fire(f, f.run, errFail)
		f.came(exit, nil, err)
	}},
}
