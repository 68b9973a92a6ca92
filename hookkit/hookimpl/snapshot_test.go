package hookimpl

import (
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// A fire reuses the snapshot of the last one until a layer changes.
func TestSnapshotIsCurrentUntilALayerChanges(t *testing.T) {
	point := &Point{Name: "Bare"}
	var outer, middle, inner Registry[func()]
	info := func(r *Registry[func()]) []hookkit.PointInfo { return []hookkit.PointInfo{r.Info(nil, point)} }
	Layer("middle", info(&middle), info(&outer))
	Layer("inner", info(&inner), info(&middle))
	add := func(r *Registry[func()]) *hookkit.Registration {
		return r.Add(nil, point, "Add", func() {}, opaque.Settings{})
	}
	layers := map[string]*Registry[func()]{"outer": &outer, "middle": &middle, "inner": &inner}
	resolve := func(t *testing.T, hooks int) {
		t.Helper()
		snapshot := inner.Resolve(t.Context(), nil)
		if inner.Current() != snapshot || len(snapshot.Hooks) != hooks || snapshot.Recording() {
			t.Errorf("the snapshot is not current, or has %d hooks, want %d", len(snapshot.Hooks), hooks)
		}
	}
	stale := func(t *testing.T, change string) {
		t.Helper()
		if inner.Current() != nil {
			t.Errorf("%s, and the snapshot is still current", change)
		}
	}
	for name, changed := range layers {
		t.Run(name, func(t *testing.T) {
			resolve(t, 0)
			reg := add(changed)
			stale(t, "a hook was added")
			resolve(t, 1)
			reg.Remove()
			stale(t, "a hook was removed")
			resolve(t, 0)
			HandleFailures(info(changed), nil)
			stale(t, "the failure handler was set")
			resolve(t, 0)
			tracer := Trace(info(changed), new(hookkit.Recorder))
			stale(t, "a tracer was attached")
			if s := inner.Resolve(t.Context(), nil); !s.Recording() || inner.Current() != nil {
				t.Error("a traced fire shares its snapshot")
			}
			tracer.Remove()
			resolve(t, 0)
		})
	}
}

func TestOnlyLayersAreActiveWithoutHooks(t *testing.T) {
	point := &Point{Name: "Bare"}
	var outer, inner Registry[func()]
	active := func(want bool) {
		t.Helper()
		if outer.Active() != want || !inner.Active() {
			t.Errorf("active: %v, the layer: %v, want %v and true", outer.Active(), inner.Active(), want)
		}
	}
	Layer("inner", []hookkit.PointInfo{inner.Info(nil, point)}, []hookkit.PointInfo{outer.Info(nil, point)})
	active(false)
	reg := outer.Add(nil, point, "Add", func() {}, opaque.Settings{})
	active(true)
	reg.Remove()
	active(false)
}
