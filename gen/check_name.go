package gen

import (
	"go/ast"
	"go/token"
	"slices"
	"unicode"
	"unicode/utf8"
)

// The names that every generated package has, whatever its points.
var (
	generatedTypes   = []string{"Run", "NewRun", "Hooks", "Hook", "AnyObserver"}
	generatedMethods = []string{"Use", "Layer", "Trace", "Points", "Explain", "ObserveAny"}
)

// generatedImports are the names under which generated code imports what it needs. Go has the names of
// imports and those of declarations clash, in whichever file of a package they are.
var generatedImports = []string{"context", "io", "hookkit", "spec"}

// bindMethod is the method by which every hook binds itself; a point of that name would need a second one.
const bindMethod = "Bind"

// generatedNames are the names that belong to a point, whatever its law: a change of the law must not make a
// name clash that did not before.
func generatedNames(point string) []string {
	return []string{
		point, point + "Func", point + "Outcome", point + "Exit", point + "Observer", point + "Fired",
		point + "Point", point + "When", point + "Next", "Replace" + point, "Edit" + point, "Observe" + point,
	}
}

// unexportedNames are the names that generated code keeps to itself for a point.
func unexportedNames(point string) []string {
	first, size := utf8.DecodeRuneInString(point)
	point = string(unicode.ToLower(first)) + point[size:]
	return []string{point + "Law", point + "When", point + "Act", point + "Replace", point + "Edit"}
}

// reserved reports whether no point can have the name.
func reserved(name string) bool {
	return name == bindMethod || slices.Contains(generatedMethods, name) || slices.Contains(generatedTypes, name)
}

func checkReservedName(r *reading, report report) {
	for _, m := range r.members {
		switch {
		case slices.Contains(generatedMethods, m.Name):
			report(m.Pos, "%s is a method of the generated Hooks, so no point can have that name: rename it, to On%s for instance", m.Name, m.Name)
		case m.Name == bindMethod:
			report(m.Pos, "Bind is the method by which a hook binds itself, so no point can have that name: rename it, to OnBind for instance")
		case slices.Contains(generatedTypes, m.Name):
			report(m.Pos, "%s is a name of every generated package, so no point can have it: rename it, to On%s for instance", m.Name, m.Name)
		}
	}
}

func checkNameClash(r *reading, report report) {
	owners := map[string]*member{} // of every generated name that belongs to a point
	for _, m := range r.members {
		if m.first != nil || m.Name == "_" || reserved(m.Name) {
			continue
		}
		for _, name := range append(generatedNames(m.Name), unexportedNames(m.Name)...) {
			if slices.Contains(generatedTypes, name) || slices.Contains(generatedMethods, name) {
				report(m.Pos, "point %s would make hookgen generate %s, which every generated package has already: rename it", m.Name, name)
				break
			}
			if other := owners[name]; other != nil && other != m {
				report(m.Pos, "points %s and %s both make hookgen generate %s: rename one", other.Name, m.Name, name)
				break
			}
			owners[name] = m
		}
	}
	for _, name := range r.Declared {
		d := r.scope[name]
		if !ast.IsExported(name) || d.kind != token.TYPE && d.kind != token.CONST {
			continue
		}
		if message := clash(d, owners); message != "" {
			report(d.pos, "%s", message)
		}
	}
	r.checkParameterName(report)
	r.checkParentNames(report)
}

// typeParameter is the type parameter of generated interfaces, which stands for the payload.
const typeParameter = "P"

// checkParameterName judges the types that stand beside that parameter: what is collected and what an act returns.
func (r *reading) checkParameterName(report report) {
	d := r.scope[typeParameter]
	if d == nil {
		return
	}
	for _, m := range r.members {
		for _, t := range []Type{m.Collect, m.Around} {
			if !t.given() {
				continue
			}
			said := false
			typeNames(t.Expr, func(name *ast.Ident) { said = said || name.Name == typeParameter })
			if said {
				report(d.pos, "%s is the type parameter of generated hooks, so %s could not return the type: rename it", typeParameter, m.Name)
				return
			}
		}
	}
}

// clash says what a declaration's name collides with, "" if with nothing.
func clash(d *declaration, owners map[string]*member) string {
	what := map[token.Token]string{token.TYPE: "type", token.CONST: "constant", token.VAR: "variable", token.FUNC: "function"}[d.kind]
	if slices.Contains(generatedTypes, d.name) {
		return what + " " + d.name + " has a name that hookgen generates in every package: rename it"
	}
	owner := owners[d.name]
	switch {
	case owner == nil:
		return ""
	case owner.Name == d.name:
		return what + " " + d.name + " has the name of a point, for which hookgen generates an interface: rename one of the two"
	}
	return what + " " + d.name + " has a name that hookgen generates for point " + owner.Name + ": rename it"
}

// checkParentNames compares the fields of the generated Hooks that hold the parents with its other names.
func (r *reading) checkParentNames(report report) {
	fields := map[string]string{}
	for _, e := range r.embeds {
		if e.kind != parentEmbed {
			continue
		}
		qualifier := e.sel.X.(*ast.Ident).Name
		field := capitalized(qualifier)
		other := fields[field]
		switch m := r.byName[field]; {
		case slices.Contains(generatedMethods, field):
			report(e.expr.Pos(), "the generated Hooks would hold the points of %s as %s, which is one of its methods: import the package under another name", qualifier, field)
		case m != nil:
			report(m.Pos, "point %s has the name under which the generated Hooks holds the points of %s: rename it", m.Name, qualifier)
		case other != "" && other != qualifier:
			report(e.expr.Pos(), "the generated Hooks would hold the points of %s and %s both as %s: import one under another name", other, qualifier, field)
		}
		fields[field] = qualifier
	}
}

// capitalized returns a name with its first letter in upper case.
func capitalized(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}
