package runtime_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/tests/fixture"
)

// A Point embeds machinery of the runtime. Programs must reach none of it.
func TestPointsExportOnlyTheirMethods(t *testing.T) {
	for _, hooks := range []reflect.Type{reflect.TypeFor[agent.Hooks](), reflect.TypeFor[fixture.Hooks]()} {
		for i := range hooks.NumField() {
			point := hooks.Field(i).Type
			if !strings.HasSuffix(point.Name(), "Point") {
				continue // the Hooks of an extended package
			}
			t.Run(point.String(), func(t *testing.T) {
				var methods []string
				for i := range reflect.PointerTo(point).NumMethod() {
					methods = append(methods, reflect.PointerTo(point).Method(i).Name)
				}
				want := []string{"Add", "AddFunc", "Fire", "FireBy", "List", "Observe", "ObserveFunc"}
				if !slices.Contains(methods, "FireBy") { // hooks that only watch decide nothing
					want = slices.Delete(want, 3, 4)
				}
				if !slices.Equal(methods, want) {
					t.Errorf("methods %v, want %v", methods, want)
				}
				for _, f := range reflect.VisibleFields(point) {
					if f.IsExported() {
						t.Errorf("exported field %s", f.Name)
					}
				}
			})
		}
	}
}
