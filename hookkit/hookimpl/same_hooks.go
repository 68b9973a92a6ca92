package hookimpl

import (
	"cmp"
	"fmt"
	"reflect"
)

// hooksTypes are the generated Hooks types of the program: where their fields are, by type. The lock registering guards
// it.
var hooksTypes []map[reflect.Type]location

// A location is that of a point, or of the Hooks of an extended package, in Hooks.
type location struct {
	offset  uintptr
	through string // the package whose Hooks it is a part of; "" for none
}

// HooksType makes a generated Hooks type known, so that registrations of different Hooks can be distinguished. It runs
// when a program starts, and panics if the type contains the Hooks of an extended package twice.
func HooksType[T any]() struct{} {
	at := map[reflect.Type]location{}
	locate(at, reflect.TypeFor[T](), location{})
	registering.Lock()
	defer registering.Unlock()
	hooksTypes = append(hooksTypes, at)
	return struct{}{}
}

// locate adds the fields of the Hooks at a location. It panics if a Hooks type occurs twice. For example, two embedded
// packages extend the same package: a hook on one copy of its points would never be called by the other.
func locate(at map[reflect.Type]location, hooks reflect.Type, in location) {
	for f := range hooks.Fields() {
		here := location{in.offset + f.Offset, in.through}
		if f.Type.Name() == "Hooks" && f.Name != "_" {
			here.through = cmp.Or(in.through, f.Type.PkgPath())
			if other, twice := at[f.Type]; twice {
				panic(fmt.Sprintf("%s and %s both contain the points of %s, so a hook on one of them would never be called by "+
					"the other: embed one of the two in the spec, or let one extend the other, and run hookgen again",
					other.through, here.through, f.Type.PkgPath()))
			}
			locate(at, f.Type, here)
		}
		at[f.Type] = here
	}
}

// sameHooks reports whether the two generated Points are fields of one Hooks. The caller holds the lock.
//
// A point has no pointer to its Hooks, because the zero Hooks is ready to use and nothing runs before the first Add.
// But the offset of each point in Hooks is known, so that the addresses of two points show whether they are in one. All
// Hooks types are tried, because the Hooks of an extension contains the Hooks of its parents.
func sameHooks(p, q any) bool {
	if p == q {
		return true
	}
	pv, qv := reflect.ValueOf(p), reflect.ValueOf(q)
	for _, at := range hooksTypes {
		a, hasP := at[pv.Type().Elem()]
		b, hasQ := at[qv.Type().Elem()]
		if hasP && hasQ && pv.Pointer()-a.offset == qv.Pointer()-b.offset {
			return true
		}
	}
	return false
}
