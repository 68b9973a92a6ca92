package hookvet

import (
	"go/types"
	"strings"
)

const (
	kitPath  = "github.com/hookgen/hookgen/hookkit"
	implPath = kitPath + "/hookimpl"
)

// A point is a fire point of generated code, read from the types that hookgen wrote for it.
type point struct {
	name    string
	pkg     *types.Package // the generated package
	typ     *types.Named   // the generated Point, for example BeforeSendPoint
	payload types.Type
	hook    *types.Signature // of a hook's method
	outcome *types.Named     // of its hooks; nil where they decide nothing
	exit    *types.Named     // what a fire returns; nil without exits
	exits   []*types.Named   // in the order of the spec
	changes bool             // hooks may replace or edit the payload
	around  bool
	key     types.Type // of its key; nil without one
}

// pointOf returns the point of a generated Point, of the registry that it embeds, or of a pointer to one of them; else
// nil. The second type argument of the registry is the interface of the hooks.
func pointOf(t types.Type) *point {
	registry := registryOf(deref(t))
	if registry == nil || registry.TypeArgs().Len() < 2 {
		return nil
	}
	hook, ok := types.Unalias(registry.TypeArgs().At(1)).(*types.Named)
	if !ok || hook.TypeArgs().Len() != 1 {
		return nil
	}
	body, ok := hook.Underlying().(*types.Interface)
	if !ok || body.NumMethods() != 1 {
		return nil
	}
	method := body.Method(0)
	named := namedIn(hook.Obj().Pkg(), method.Name()+"Point")
	if named == nil {
		return nil
	}
	p := &point{
		name: method.Name(), pkg: named.Obj().Pkg(), typ: named,
		payload: hook.TypeArgs().At(0), hook: method.Signature(),
	}
	p.around = p.hook.Params().Len() == 4
	if fire := methodOf(named, "Fire"); fire != nil && fire.Signature().Params().Len() > 2 {
		given := fire.Signature().Params().At(2).Type()
		to, isPointer := types.Unalias(given).(*types.Pointer)
		p.changes = isPointer && types.Identical(to.Elem(), p.payload)
	}
	if loop := methodOf(named, "runHooks"); loop != nil {
		for param := range loop.Signature().Params().Variables() {
			if snap, ok := param.Type().(*types.Alias); ok && snap.Obj().Name() == "SnapshotFor" {
				p.key = snap.TypeArgs().At(0)
			}
		}
	}
	p.outcome, p.exit = namedIn(p.pkg, p.name+"Outcome"), namedIn(p.pkg, p.name+"Exit")
	p.exits = exitsOf(p.pkg.Scope().Lookup("Match" + p.name))
	return p
}

// exitsOf returns the exits that a generated Match function handles: it has a parameter with a function for each. It
// returns nil for any other object.
func exitsOf(match types.Object) []*types.Named {
	fn, ok := match.(*types.Func)
	if !ok {
		return nil
	}
	var exits []*types.Named
	for param := range fn.Signature().Params().Variables() {
		handle, ok := param.Type().Underlying().(*types.Signature)
		if !ok || handle.Params().Len() != 1 {
			continue // the exit, and the function for none
		}
		if exit := namedOf(handle.Params().At(0).Type()); exit != nil {
			exits = append(exits, exit)
		}
	}
	return exits
}

// String returns the point as people write it, for example mail.BeforeSend.
func (p *point) String() string { return p.pkg.Name() + "." + p.name }

// fits reports whether a method of that signature is a hook of the point. The payload may be a type parameter, because
// a hook type can be generic in it.
func (p *point) fits(sig *types.Signature) bool {
	if sig.Params().Len() != p.hook.Params().Len() || !types.Identical(sig.Results(), p.hook.Results()) {
		return false
	}
	for i := range sig.Params().Len() {
		is := sig.Params().At(i).Type()
		if _, generic := is.(*types.TypeParam); generic && i == 2 {
			continue
		}
		if !types.Identical(is, p.hook.Params().At(i).Type()) {
			return false
		}
	}
	return true
}

// is reports whether two points are the same.
func (p *point) is(other *point) bool { return p.typ.Obj() == other.typ.Obj() }

// canReplace reports whether a hook may return another payload. A hook that only edits a field may not.
func (p *point) canReplace() bool { return p.pkg.Scope().Lookup("Replace"+p.name) != nil }

// hooksOf returns the Hooks of a generated package if a type, or the type that it points to, is one; else nil.
func hooksOf(t types.Type) *types.Named { return hooksWithin(deref(t), maxHooksDepth) }

// maxHooksDepth bounds how deep Hooks extend each other. Only code that does not compile nests them for ever.
const maxHooksDepth = 100

// hooksWithin is hooksOf for types that are at most so deep.
func hooksWithin(t types.Type, depth int) *types.Named {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Name() != "Hooks" || depth == 0 {
		return nil
	}
	body, ok := named.Underlying().(*types.Struct)
	if !ok || body.NumFields() == 0 {
		return nil
	}
	for field := range body.Fields() {
		if t := field.Type(); registryOf(t) == nil && !isNamed(t, implPath, "Pin") && hooksWithin(t, depth-1) == nil {
			return nil
		}
	}
	return named
}

// registryOf returns the registry of the runtime that a generated Point embeds as its only field. It also takes that
// registry itself, which is the receiver of the methods that are promoted. Only hookgen writes a type that embeds one.
func registryOf(t types.Type) *types.Named {
	if body, ok := t.Underlying().(*types.Struct); ok && body.NumFields() == 1 && body.Field(0).Embedded() {
		t = body.Field(0).Type()
	}
	if !isNamed(t, implPath, "PointRegistry") {
		return nil
	}
	return types.Unalias(t).(*types.Named)
}

// pointsOf returns the points of Hooks, without those of the packages that they extend.
func pointsOf(hooks *types.Named) []*point {
	var points []*point
	for field := range hooks.Underlying().(*types.Struct).Fields() {
		if p := pointOf(field.Type()); p != nil {
			points = append(points, p)
		}
	}
	return points
}

// isRun reports whether a type is a pointer to a run.
func isRun(t types.Type) bool {
	to, ok := types.Unalias(t).(*types.Pointer)
	return ok && isNamed(to.Elem(), kitPath, "Run")
}

func isNamed(t types.Type, path, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == name && named.Obj().Pkg() != nil && pathOf(named.Obj().Pkg()) == path
}

// pathOf returns the import path of a package. The go command calls a package that it built for a test
// "mail [mail.test]".
func pathOf(pkg *types.Package) string {
	path, _, _ := strings.Cut(pkg.Path(), " ")
	return path
}

// methodOf returns the method of a type or of a pointer to it, or nil.
func methodOf(named *types.Named, name string) *types.Func {
	found, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), true, named.Obj().Pkg(), name)
	method, _ := found.(*types.Func)
	return method
}

// deref returns the type that a pointer points to; any other type is returned as it is.
func deref(t types.Type) types.Type {
	if to, ok := types.Unalias(t).(*types.Pointer); ok {
		return to.Elem()
	}
	return t
}

// family returns Hooks and all that they extend, through any number of packages.
func family(hooks *types.Named) []*types.Named {
	all := []*types.Named{hooks}
	for field := range hooks.Underlying().(*types.Struct).Fields() {
		if parent := hooksOf(field.Type()); parent != nil {
			all = append(all, family(parent)...)
		}
	}
	return all
}
