package breaking_test

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// usesOf returns declarations that use everything that generated code exports: those of hooks, and those of programs
// that fire the points.
func usesOf(pkg *types.Package) (hooks, programs string) {
	u := &uses{pkg: pkg, met: map[string]bool{}}
	for _, name := range pkg.Scope().Names() {
		// Only specs that extend this one use the points interface.
		if obj := pkg.Scope().Lookup(name); obj.Exported() && name != "Points" {
			u.object(obj)
		}
	}
	// Constants of other packages whose types can be reached.
	for _, other := range pkg.Imports() {
		for _, name := range other.Scope().Names() {
			obj, ok := other.Scope().Lookup(name).(*types.Const)
			if !ok || other.Path() != "user/addr" {
				continue
			}
			if text, named := u.text(obj.Type()); named && u.met[text] {
				u.write("", ") { var v %s = %s.%s; _ = v }", text, other.Name(), name)
			}
		}
	}
	// A switch must not have two cases for one type.
	var cases strings.Builder
	met := []types.Type{types.Typ[types.Int], types.Typ[types.String], types.Typ[types.Int64], types.Typ[types.Uint8]}
	for _, name := range pkg.Scope().Names() {
		obj, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || !obj.Exported() || name == "Points" {
			continue
		}
		if named, isNamed := obj.Type().(*types.Named); isNamed && named.TypeParams() != nil ||
			slices.ContainsFunc(met, func(t types.Type) bool { return types.Identical(t, obj.Type()) }) {
			continue
		}
		met = append(met, obj.Type())
		fmt.Fprintf(&cases, "\tcase mail.%s:\n", name)
	}
	fmt.Fprintf(&u.hooks, "func cases(v any) {\n\tswitch v.(type) {\n\tcase int, string, int64, uint8:\n%s\t}\n}\n",
		cases.String())
	return u.hooks.String(), u.programs.String()
}

// A uses writes declarations that use a package.
type uses struct {
	pkg             *types.Package
	hooks, programs strings.Builder
	number          int
	met             map[string]bool // types
}

// write writes a declaration. The calls that fire points, or handle what that returns, are part of programs.
func (u *uses) write(name, format string, args ...any) {
	b := &u.hooks
	if strings.HasPrefix(name, "Fire") && !strings.HasSuffix(name, "Fired") || strings.HasPrefix(name, "Match") ||
		name == "NewRun" || name == "Run" {
		b = &u.programs
	}
	u.number++
	fmt.Fprintf(b, "func use%d(%s\n", u.number, fmt.Sprintf(format, args...))
}

// text returns a type as another package writes it. It reports false if that cannot name it.
func (u *uses) text(t types.Type) (string, bool) {
	ok := true
	var visit func(t types.Type)
	seen := map[types.Type]bool{}
	visit = func(t types.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Alias:
			ok = ok && (t.Obj().Exported() || t.Obj().Pkg() == nil)
		case *types.Named:
			ok = ok && (t.Obj().Exported() || t.Obj().Pkg() == nil)
			for i := range t.TypeArgs().Len() {
				visit(t.TypeArgs().At(i))
			}
		case *types.TypeParam:
			ok = false
		case *types.Pointer:
			visit(t.Elem())
		case *types.Slice:
			visit(t.Elem())
		case *types.Array:
			visit(t.Elem())
		case *types.Map:
			visit(t.Key())
			visit(t.Elem())
		case *types.Struct:
			for i := range t.NumFields() {
				ok = ok && t.Field(i).Exported()
				visit(t.Field(i).Type())
			}
		case *types.Signature:
			for _, list := range []*types.Tuple{t.Params(), t.Results()} {
				for i := range list.Len() {
					visit(list.At(i).Type())
				}
			}
		}
	}
	visit(t)
	return types.TypeString(t, func(p *types.Package) string { return p.Name() }), ok
}

// object uses an exported object of the package.
func (u *uses) object(obj types.Object) {
	name := obj.Name()
	switch obj := obj.(type) {
	case *types.Const:
		typ := types.Default(obj.Type())
		if text, ok := u.text(typ); ok {
			u.write(name, ") { var v %s = mail.%s; _ = v }", text, name)
		}
	case *types.Func:
		if obj.Signature().TypeParams() == nil {
			u.call(name, "", "mail."+name, obj.Signature())
		} else if strings.HasPrefix(name, "Match") {
			u.match(name, obj.Signature())
		}
	case *types.TypeName:
		switch t := obj.Type().(type) {
		case *types.Alias:
			if text, ok := u.text(types.Unalias(t)); ok {
				u.write(name, "v mail.%s) { var w %s = v; _ = w }", name, text)
			}
			u.typ(t)
		case *types.Named:
			if t.TypeParams() == nil {
				u.typ(t)
				return
			}
			if strings.HasPrefix(name, "On") {
				return // the generated types of a point are used with its payload
			}
			for _, argument := range []types.Type{types.Typ[types.String], types.NewSlice(types.Typ[types.String])} {
				if instance, err := types.Instantiate(nil, t, []types.Type{argument}, true); err == nil {
					u.typ(instance)
				}
			}
		}
	}
}

// call calls a function with variables of the types of its parameters. receiver declares the receiver.
func (u *uses) call(name, receiver, function string, signature *types.Signature) {
	parameters, arguments := receiver, []string{}
	for i := range signature.Params().Len() {
		p := signature.Params().At(i).Type()
		argument := fmt.Sprintf("p%d", i)
		if signature.Variadic() && i == signature.Params().Len()-1 {
			argument += "..."
		}
		text, ok := u.text(p)
		if !ok {
			return
		}
		u.typ(p)
		parameters += fmt.Sprintf(", p%d %s", i, text)
		arguments = append(arguments, argument)
	}
	var results []string
	declared := ""
	for i := range signature.Results().Len() {
		text, ok := u.text(signature.Results().At(i).Type())
		if !ok {
			return
		}
		u.typ(signature.Results().At(i).Type())
		results = append(results, fmt.Sprintf("r%d", i))
		declared += fmt.Sprintf("var r%d %s; _ = r%d; ", i, text, i)
	}
	assigned := strings.Join(results, ", ")
	if assigned != "" {
		assigned += " = "
	}
	u.write(name, "%s) { %s%s%s(%s) }", strings.TrimPrefix(parameters, ", "), declared, assigned, function,
		strings.Join(arguments, ", "))
}

// match calls a function that matches exits, for the result int.
func (u *uses) match(name string, signature *types.Signature) {
	var arguments []string
	for i := range signature.Params().Len() {
		p := signature.Params().At(i).Type()
		f, isFunc := p.(*types.Signature)
		if !isFunc {
			arguments = append(arguments, "nil")
			continue
		}
		var parameters []string
		for j := range f.Params().Len() {
			text, _ := u.text(f.Params().At(j).Type())
			parameters = append(parameters, text)
		}
		arguments = append(arguments, "func("+strings.Join(parameters, ", ")+") (r int) { return }")
	}
	u.write(name, ") { var r int = mail.%s(%s); _ = r }", name, strings.Join(arguments, ", "))
}

// typ uses a type: its fields, its methods, literals and comparisons.
func (u *uses) typ(t types.Type) {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	text, ok := u.text(t)
	named, isNamed := types.Unalias(t).(*types.Named)
	if !ok || u.met[text] {
		return
	}
	u.met[text] = true
	if !isNamed {
		u.parts(types.Unalias(t))
		return
	}
	for part := range named.TypeArgs().Types() {
		u.typ(part)
	}
	if p := named.Obj().Pkg(); p == nil || p.Path() != "user/mail" && p.Path() != "user/addr" {
		return
	}
	if types.Comparable(t) && !types.IsInterface(t) {
		u.write("", "v, w %s) bool { return v == w }", text)
	}
	switch under := t.Underlying().(type) {
	case *types.Interface:
		u.implement(text, under)
	case *types.Signature:
		if signature, ok := u.text(under); ok {
			u.write("", "f %s) { var g %s = f; _ = g }", signature, text)
		}
	case *types.Basic, *types.Slice, *types.Map, *types.Array, *types.Pointer:
		if literal, ok := u.text(under); ok {
			u.number++
			fmt.Fprintf(&u.hooks, "func use%d[T ~%s](T) {}\nvar _ = use%d[%s]\n", u.number, literal, u.number, text)
		}
	case *types.Struct:
		u.write("", ") { _ = %s{} }", text)
		for i := range under.NumFields() {
			if f := under.Field(i); f.Exported() {
				if field, ok := u.text(f.Type()); ok {
					u.write("", "v %s) { _ = %s{%s: v} }", field, text, f.Name())
				}
			}
		}
	}
	for _, name := range memberNames(t) {
		u.member(t, text, name)
	}
}

// parts uses the types in a type without a name.
func (u *uses) parts(t types.Type) {
	switch t := t.(type) {
	case *types.Slice:
		u.typ(t.Elem())
	case *types.Array:
		u.typ(t.Elem())
	case *types.Map:
		u.typ(t.Key())
		u.typ(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			u.typ(f.Type())
		}
	case *types.Signature:
		for v := range t.Params().Variables() {
			u.typ(v.Type())
		}
		for v := range t.Results().Variables() {
			u.typ(v.Type())
		}
	}
}

// member uses a field or a method.
func (u *uses) member(t types.Type, text, name string) {
	for _, pointer := range []bool{false, true} {
		on, typ := text, t
		if pointer {
			on, typ = "*"+text, types.NewPointer(t)
		}
		obj, _, _ := types.LookupFieldOrMethod(typ, false, u.pkg, name)
		switch obj := obj.(type) {
		case *types.Var:
			u.typ(obj.Type())
			if field, ok := u.text(obj.Type()); ok {
				u.write("", "v %s) { var f %s = v.%s; v.%s = f }", on, field, name, name)
			}
		case *types.Func:
			// The result of a function has no address, so only the methods of values can be called on it.
			u.call(name, "v func() "+on, "v()."+name, obj.Signature())
			if _, isInterface := t.Underlying().(*types.Interface); isInterface {
				return
			}
		}
	}
}

// implement declares a type that has the methods of an interface. A sealed interface has all exits that implement it.
func (u *uses) implement(text string, under *types.Interface) {
	var methods strings.Builder
	u.number++
	impl := fmt.Sprintf("impl%d", u.number)
	for i := range under.NumMethods() {
		m := under.Method(i)
		signature, ok := u.text(m.Type())
		if !m.Exported() || !ok {
			u.sealed(text, under)
			return
		}
		for _, list := range []*types.Tuple{m.Signature().Params(), m.Signature().Results()} {
			for j := range list.Len() {
				u.typ(list.At(j).Type())
			}
		}
		fmt.Fprintf(&methods, "func (%s) %s%s { panic(0) }\n", impl, m.Name(), strings.TrimPrefix(signature, "func"))
	}
	if under.NumMethods() == 0 {
		return
	}
	fmt.Fprintf(&u.hooks, "type %s struct{}\n%svar _ %s = %s{}\n", impl, methods.String(), text, impl)
}

// sealed assigns the types of the package that implement a sealed interface.
func (u *uses) sealed(text string, under *types.Interface) {
	for _, name := range u.pkg.Scope().Names() {
		obj := u.pkg.Scope().Lookup(name)
		if _, isType := obj.(*types.TypeName); isType && obj.Exported() && types.Implements(obj.Type(), under) {
			u.write("", "v mail.%s) { var w %s = v; _ = w }", name, text)
		}
	}
}

// memberNames returns the names of the exported fields and methods that can be selected from a type.
func memberNames(t types.Type) []string {
	names := map[string]bool{}
	seen := map[types.Type]bool{}
	var visit func(t types.Type)
	visit = func(t types.Type) {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		if seen[t] {
			return
		}
		seen[t] = true
		if named, ok := types.Unalias(t).(*types.Named); ok {
			for m := range named.Methods() {
				names[m.Name()] = m.Exported()
			}
		}
		switch under := t.Underlying().(type) {
		case *types.Struct:
			for f := range under.Fields() {
				names[f.Name()] = f.Exported()
				if f.Embedded() {
					visit(f.Type())
				}
			}
		case *types.Interface:
			for m := range under.Methods() {
				names[m.Name()] = m.Exported()
			}
		}
	}
	visit(t)
	var all []string
	for name, exported := range names {
		if exported {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}
