package hookimpl

import (
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

// bare returns the registry of a point whose hooks are functions.
func bare(s *State) *Registry { return s.ownRegistry(bareDescription{}) }

type bareDescription struct{}

func (bareDescription) Describe() *Point { return &barePoint }

// ownRegistry makes a Registry a RegistryHolder, as a generated Point is.
func (r *Registry) ownRegistry() *Registry { return r }

var barePoint = Point{Name: "Bare", Fire: func(*State) {}, Calls: &Calls{method: func(func(), any, any, any) {}}}

// A fire reuses the snapshot of the last one until a layer changes.
func TestSnapshotIsCurrentUntilALayerChanges(t *testing.T) {
	var outer, middle, inner State
	info := func(s *State) []hookkit.AnyPoint { return AnyPoints("", bare(s)) }
	Layer("middle", info(&middle), info(&outer))
	Layer("inner", info(&inner), info(&middle))
	layers := map[string]*State{"outer": &outer, "middle": &middle, "inner": &inner}
	resolve := func(t *testing.T, hooks int) {
		t.Helper()
		snapshot := inner.Resolve(t.Context(), nil, nil, nil)
		n := len(snapshot.Hooks.([]func()))
		if inner.Current(nil) != snapshot || n != hooks || snapshot.Recording() {
			t.Errorf("the snapshot is not current, or has %d hooks, want %d", n, hooks)
		}
	}
	stale := func(t *testing.T, change string) {
		t.Helper()
		if inner.Current(nil) != nil {
			t.Errorf("%s, and the snapshot is still current", change)
		}
	}
	for name, changed := range layers {
		t.Run(name, func(t *testing.T) {
			resolve(t, 0)
			reg := bare(changed).add(isHook, func() {}, []hookkit.HookOption{})
			stale(t, "a hook was added")
			resolve(t, 1)
			reg.Remove()
			stale(t, "a hook was removed")
			resolve(t, 0)
			HandleFailures(info(changed), nil)
			stale(t, "the failure handler was set")
			resolve(t, 0)
			tracer := Trace(info(changed), new(hookkit.TraceRecorder))
			stale(t, "a tracer was attached")
			if s := inner.Resolve(t.Context(), nil, nil, nil); !s.Recording() || inner.Current(nil) != nil {
				t.Error("a traced fire shares its snapshot")
			}
			tracer.Remove()
			resolve(t, 0)
		})
	}
}

func TestOnlyLayersAreActiveWithoutHooks(t *testing.T) {
	var outer, inner State
	active := func(want bool) {
		t.Helper()
		if outer.Active() != want || !inner.Active() {
			t.Errorf("active: %v, the layer: %v, want %v and true", outer.Active(), inner.Active(), want)
		}
	}
	Layer("inner", AnyPoints("", bare(&inner)), AnyPoints("", bare(&outer)))
	active(false)
	reg := bare(&outer).add(isHook, func() {}, []hookkit.HookOption{})
	active(true)
	reg.Remove()
	active(false)
}
