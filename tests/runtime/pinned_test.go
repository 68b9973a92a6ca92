package runtime_test

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// A unit of work fires three points while an operator replaces the bundle that is at all of them.
func TestUnitsOfWorkDuringReplacements(t *testing.T) {
	replacements := 20_000
	if testing.Short() {
		replacements = 2_000
	}
	type unit struct{ versions []string } // which the hooks have that ran, in order
	type key struct{}
	at := []*points.Point{points.Named("Watch"), points.Named("Verify"), points.Named("Gather")}
	bundle := func(version int) points.Bundle {
		return func(h *fixture.Hooks) {
			for _, p := range at {
				p.Add(h, func(c points.Call) points.Reply {
					u := c.Ctx.Value(key{}).(*unit)
					u.versions = append(u.versions, strconv.Itoa(100_000+version))
					return points.Reply{}
				})
			}
		}
	}
	var outer fixture.Hooks
	reg := outer.Use(bundle(0))
	program := outer.Layer("program")
	stop := make(chan struct{})
	work := func(pins bool) {
		for {
			select {
			case <-stop:
				return
			default:
			}
			h, u := program, new(unit)
			if pins {
				h = h.Pinned()
			}
			ctx, run := context.WithValue(t.Context(), key{}, u), newRun()
			for _, p := range at {
				p.Fire(ctx, h, run, fixture.Item{}, nil)
				runtime.Gosched()
			}
			if len(u.versions) != len(at) || !slices.IsSorted(u.versions) || pins && u.versions[0] != u.versions[2] {
				t.Errorf("a unit (pinned: %v) saw the versions %v", pins, u.versions)
				return
			}
		}
	}
	var units sync.WaitGroup
	for _, pins := range []bool{false, true} {
		units.Go(func() { work(pins) })
	}
	for version := range replacements {
		reg = outer.Use(bundle(version+1), hookkit.Replacing(reg))
	}
	close(stop)
	units.Wait()
}
