package hookkit

import "testing"

// bare is the law of a point whose hooks do nothing.
type bare struct{}

func (bare) Point() Point                  { return Point{Name: "Bare"} }
func (bare) Wrap(h func(), _ *Call) func() { return h }

// What a layer has settled on still stands until one of the layers changes: only then must a fire look again.
func TestStillIsTrueUntilALayerChanges(t *testing.T) {
	type registry = Registry[func(), func(), HookOption, bare]
	var outer, middle, inner registry
	middle.layerOn(&outer)
	inner.layerOn(&middle)
	layers := map[string]*registry{"outer": &outer, "middle": &middle, "inner": &inner}
	for _, first := range []string{"", "outer", "middle", "inner"} {
		if first != "" {
			layers[first].Add(func() {})
		}
		for name, changed := range layers {
			settled := inner.settled()
			if !inner.still(settled) {
				t.Errorf("nothing changed, and the plan does not stand")
			}
			reg := changed.Add(func() {})
			if inner.still(settled) {
				t.Errorf("a hook was added to the %s layer, and the plan still stands", name)
			}
			settled = inner.settled()
			reg.Remove()
			if inner.still(settled) {
				t.Errorf("a hook was removed from the %s layer, and the plan still stands", name)
			}
		}
	}
}
