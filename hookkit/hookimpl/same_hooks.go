package hookimpl

import (
	"fmt"
	"reflect"
	"sync"
)

// hooksTypes are the generated Hooks types of the program.
var hooksTypes struct {
	sync.RWMutex
	list []reflect.Type
}

// HooksType makes a generated Hooks type known, so that registrations of different Hooks can be distinguished. It runs
// when a program starts, and panics if the type contains the Hooks of an extended package twice.
func HooksType[T any]() struct{} {
	t := reflect.TypeFor[T]()
	if err := sharedHooks(t, map[reflect.Type]string{}, ""); err != "" {
		panic(err)
	}
	hooksTypes.Lock()
	defer hooksTypes.Unlock()
	hooksTypes.list = append(hooksTypes.list, t)
	return struct{}{}
}

// sharedHooks returns a message if a Hooks type occurs twice below hooks. For example, two embedded packages extend the
// same package: a hook on one copy of its points would never be called by the other. at is the field of the outermost
// Hooks that is searched.
func sharedHooks(hooks reflect.Type, found map[reflect.Type]string, at string) string {
	for f := range hooks.Fields() {
		if !isHooks(f) {
			continue
		}
		path := at
		if path == "" {
			path = f.Type.PkgPath()
		}
		if other, twice := found[f.Type]; twice {
			return fmt.Sprintf("%s and %s both contain the points of %s, so a hook on one of them would never be called by "+
				"the other: embed one of the two in the spec, or let one extend the other, and run hookgen again",
				other, path, f.Type.PkgPath())
		}
		found[f.Type] = path
		if err := sharedHooks(f.Type, found, path); err != "" {
			return err
		}
	}
	return ""
}

// isHooks reports whether a field of a Hooks type is the Hooks of an extended package.
func isHooks(f reflect.StructField) bool {
	return f.Name != "_" && f.Type.Name() == "Hooks" && f.Type.Kind() == reflect.Struct
}

// sameHooks reports whether the two generated Points are fields of one Hooks.
//
// A point has no pointer to its Hooks, because the zero Hooks is ready to use and nothing runs before the first Add.
// But the offset of each point in Hooks is known, so that the addresses of two points show whether they are in one. All
// Hooks types are tried, because the Hooks of an extension contains the Hooks of its parents.
func sameHooks(p, q any) bool {
	if p == q {
		return true
	}
	pv, qv := reflect.ValueOf(p), reflect.ValueOf(q)
	hooksTypes.RLock()
	defer hooksTypes.RUnlock()
	for _, t := range hooksTypes.list {
		at, ok := offsetIn(t, pv.Type().Elem())
		if !ok {
			continue
		}
		if other, ok := offsetIn(t, qv.Type().Elem()); ok && pv.Pointer()-at == qv.Pointer()-other {
			return true
		}
	}
	return false
}

// offsetIn returns the offset of the point in the Hooks type, or in the Hooks of a parent that it contains.
func offsetIn(hooks, point reflect.Type) (at uintptr, found bool) {
	for f := range hooks.Fields() {
		if f.Type == point {
			return f.Offset, true
		}
		if isHooks(f) {
			if inner, ok := offsetIn(f.Type, point); ok {
				return f.Offset + inner, true
			}
		}
	}
	return 0, false
}
