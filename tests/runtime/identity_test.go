package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
	"pgregory.net/rapid"
)

// TestIdentity: the same hook used twice is two registrations, and Explain shows both. One Remove undoes exactly
// one Use or Add.
func TestIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(points.All).Draw(t, "point")
		var h fixture.Hooks
		ran, notes := 0, 0
		hook := func(c points.Call) points.Reply { ran++; return points.Continue(c) }
		observer := func(f points.Fired) { notes += count(f.Point == p) }
		both := points.Bundle(func(h *fixture.Hooks) {
			p.Add(h, hook)
			p.Observe(h, observer)
		})
		one := points.Bundle(func(h *fixture.Hooks) { p.Add(h, hook) })
		type registration struct {
			*hookkit.Registration
			hooks, observers int
		}
		var live, gone []registration
		t.Repeat(map[string]func(*rapid.T){
			"add":        func(*rapid.T) { live = append(live, registration{p.Add(&h, hook), 1, 0}) },
			"observe":    func(*rapid.T) { live = append(live, registration{p.Observe(&h, observer), 0, 1}) },
			"observeAny": func(*rapid.T) { live = append(live, registration{h.ObserveAny(points.AnyObserver(observer)), 0, 1}) },
			"use":        func(*rapid.T) { live = append(live, registration{h.Use(both), 1, 1}) },
			"use one":    func(*rapid.T) { live = append(live, registration{h.Use(one), 1, 0}) },
			"use twice": func(*rapid.T) {
				live = append(live, registration{h.Use(points.Bundle(func(h *fixture.Hooks) {
					h.Use(both)
					h.Use(both)
				})), 2, 2})
			},
			"remove": func(t *rapid.T) {
				if len(live) == 0 {
					t.Skip("nothing to remove")
				}
				i := rapid.IntRange(0, len(live)-1).Draw(t, "removed")
				if !live[i].Remove() {
					t.Fatal("there was nothing to remove")
				}
				gone = append(gone, live[i])
				live = append(live[:i], live[i+1:]...)
			},
			"remove again": func(t *rapid.T) {
				for _, r := range gone {
					if r.Remove() {
						t.Fatal("something was removed twice")
					}
				}
			},
			"": func(t *rapid.T) {
				hooks, observers := 0, 0
				for _, r := range live {
					hooks, observers = hooks+r.hooks, observers+r.observers
				}
				ran, notes = 0, 0
				p.Fire(context.Background(), &h, newRun(), fixture.Item{}, points.Yields)
				if ran != hooks || notes != observers {
					t.Fatalf("%s: %d hooks ran and %d observers were notified, want %d and %d", p, ran, notes, hooks, observers)
				}
				shownHooks, shownObservers := explained(t, &h, p)
				if shownHooks != hooks || shownObservers != observers {
					t.Fatalf("%s: Explain shows %d hooks and %d observers, want %d and %d", p, shownHooks, shownObservers,
						hooks, observers)
				}
			},
		})
	})
}

// explained counts the entries of a point in Explain.
func explained(t *rapid.T, h *fixture.Hooks, p *points.Point) (hooks, observers int) {
	var b strings.Builder
	if err := h.Explain(&b); err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut("\n"+b.String(), "\n"+p.Name+"(")
	if !found {
		t.Fatalf("Explain does not show %s:\n%s", p, b.String())
	}
	for _, line := range strings.Split(section, "\n")[1:] {
		switch {
		case !strings.HasPrefix(line, " "):
			return hooks, observers
		case strings.HasPrefix(line, "   o  "):
			observers++
		case strings.HasPrefix(line, fmt.Sprintf("  %2d. ", hooks+1)):
			hooks++
		case !strings.HasSuffix(line, "nothing"):
			t.Fatalf("Explain shows %q", line)
		}
	}
	return hooks, observers
}
