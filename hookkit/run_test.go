package hookkit_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

func TestEveryRunHasItsOwnIdentity(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		r := hookkit.NewRun(1)
		if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(r.ID()) || seen[r.ID()] {
			t.Fatalf("ID %q", r.ID())
		}
		seen[r.ID()] = true
	}
}

func TestRunsKnowTheirParentAndRoot(t *testing.T) {
	root := hookkit.NewRun("root")
	child := root.Child("child")
	grandchild := child.Child("grandchild")
	given := hookkit.NewRunWithID("request-7", "given")
	below := given.ChildWithID("request-7-search", "below")
	var none *hookkit.Run[string]
	for name, c := range map[string]struct {
		r                     *hookkit.Run[string]
		env, id, parent, root string
	}{
		"root":       {root, "root", root.ID(), "", root.ID()},
		"child":      {child, "child", child.ID(), root.ID(), root.ID()},
		"grandchild": {grandchild, "grandchild", grandchild.ID(), child.ID(), root.ID()},
		"given":      {given, "given", "request-7", "", "request-7"},
		"below":      {below, "below", "request-7-search", "request-7", "request-7"},
		"zero":       {new(hookkit.Run[string]), "", "", "", ""},
		"nil":        {none, "", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.r.ID() != c.id || c.r.Parent() != c.parent || c.r.Root() != c.root || c.r != nil && c.r.Env != c.env {
				t.Errorf("ID %q, parent %q, root %q", c.r.ID(), c.r.Parent(), c.r.Root())
			}
		})
	}
	if child.ID() == root.ID() || grandchild.ID() == child.ID() {
		t.Error("two runs have one identity")
	}
}

func TestNilContextAndRun(t *testing.T) {
	checks := func(c ctx, r hookkit.AnyRun, call hookkit.AnyCall) (hookkit.AnyReply, error) {
		if c == nil || c.Err() != nil || r.ID() != "" {
			return hookkit.AnyReply{}, fmt.Errorf("context %v, run %v", c, r)
		}
		return passes(c, r, call)
	}
	fails := replies(hookkit.AnyReply{}, errBad)
	add := func(h *hooks, hook hookkit.AnyHook, opts ...hookkit.GateOption) {
		for _, p := range h.Points() {
			p.AddAny(hook, opts...)
		}
	}
	observed := func(t *testing.T, seen *int) watcher {
		return func(c ctx, r *run, _ hookkit.AnyFired) {
			if *seen++; c == nil || r != nil {
				t.Errorf("an observer received the context %v and the run %v", c, r)
			}
		}
	}
	all := append(slices.Clone(laws), law{"Watch", false, at(11), nil,
		func(h *hooks, c ctx, r *run) error { h.Watch.Fire(c, r, 0); return nil }})
	for name, prepare := range map[string]func(t *testing.T, h *hooks, seen *int) *hookkit.Registration{
		"nothing":        func(*testing.T, *hooks, *int) *hookkit.Registration { return nil },
		"a hook":         func(_ *testing.T, h *hooks, _ *int) *hookkit.Registration { add(h, checks); return nil },
		"a failing hook": func(_ *testing.T, h *hooks, _ *int) *hookkit.Registration { add(h, fails); return nil },
		"a timeout": func(_ *testing.T, h *hooks, _ *int) *hookkit.Registration {
			add(h, checks, hookkit.Timeout(time.Hour))
			return nil
		},
		"an observer": func(t *testing.T, h *hooks, seen *int) *hookkit.Registration {
			add(h, checks)
			return h.ObserveAny(observed(t, seen))
		},
		"an async observer": func(t *testing.T, h *hooks, seen *int) *hookkit.Registration {
			return h.ObserveAny(observed(t, seen), hookkit.Async(1))
		},
		"a tracer": func(_ *testing.T, h *hooks, seen *int) *hookkit.Registration {
			add(h, checks)
			return h.Trace(tracerFunc(func(c ctx, e hookkit.Event) {
				if *seen++; c == nil || e.Run != "" {
					panic("no context")
				}
			}))
		},
	} {
		for _, l := range all {
			t.Run(l.name+" with "+name, func(t *testing.T) {
				var h hooks
				failures := handled(&h)
				seen := 0
				reg := prepare(t, &h, &seen)
				var none context.Context
				err := l.fire(&h, none, nil)
				if want := l.failsClosed && name == "a failing hook"; (err != nil) != want {
					t.Errorf("the fire returned %v", err)
				}
				if n := len(failures.all()); (n > 0) != (name == "a failing hook" && !l.failsClosed) {
					t.Errorf("reported %v", failures.all())
				}
				if reg == nil {
					return
				}
				if err := reg.Drain(t.Context()); err != nil || seen == 0 {
					t.Errorf("Drain returned %v, %d were notified", err, seen)
				}
			})
		}
	}
}
