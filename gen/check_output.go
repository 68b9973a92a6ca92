package gen

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// samePackageRules are asked where the output goes into the spec's own package, besides the others.
var samePackageRules = []rule{
	{"name-clash", "names leave room for those that are generated", checkFunctionClash},
	{"shadowed-name", "the package declares no name that Go declares itself", checkShadowedFunction},
	{"name-clash", "names leave room for those that are generated", checkLocalClash},
}

// ownPackageRules are asked where the output is a package of its own, besides the others.
var ownPackageRules = []rule{
	{"main-package", "a spec that another package imports is not package main", checkMainPackage},
	{"output-exported", "what a generated package of its own names is exported", checkOutputExported},
	{"exit-held", "no type holds an exit", checkExitHeldElsewhere},
	{"qualifier", "the import behind every qualifier can be told", checkQualifierElsewhere},
}

// CheckOutput judges a spec by where its output goes: some names trouble only a package that holds both the
// spec and the output, and others only a package of its own. A nil result means that to suits the spec.
func CheckOutput(s *Spec, to Output) Diagnostics {
	switch {
	case s.reading == nil:
		return nil
	case to.SpecPath == "":
		return ask(s.reading, samePackageRules).sorted()
	}
	return ask(s.reading, ownPackageRules).sorted()
}

func checkFunctionClash(r *reading, report report) {
	owners := map[string]*member{}
	for _, m := range r.members {
		for _, name := range append(generatedNames(m.Name), unexportedNames(m.Name)...) {
			owners[name] = m
		}
	}
	for _, name := range r.Declared {
		d := r.scope[name]
		if ast.IsExported(name) && (d.kind == token.TYPE || d.kind == token.CONST) {
			continue // asked in either case
		}
		if slices.Contains(generatedImports, name) {
			report(d.pos, "generated code in this package imports another one as %s: rename it, or generate into a package of its own with -o", name)
		}
		if strings.HasPrefix(name, staleCode) || strings.HasPrefix(name, stale) {
			report(d.pos, "%s is the name of the guard in generated code: rename it", name)
		}
		if message := clash(d, owners); message != "" {
			report(d.pos, "%s", message)
		}
	}
}

// checkLocalClash judges the types of the package that points mention: generated code could not name one that it
// has a variable of the same name beside.
func checkLocalClash(r *reading, report report) {
	seen := map[string]bool{}
	for _, t := range r.pointTypes() {
		typeNames(t.expr, func(name *ast.Ident) {
			d := r.scope[name.Name]
			if d == nil || seen[name.Name] || !slices.Contains(locals, name.Name) && !slices.Contains(inner, name.Name) {
				return
			}
			seen[name.Name] = true
			report(d.pos, "%s has the name of a variable in generated code, which could then not name %s: rename it", d.name, t.inside)
		})
	}
}

// shadowedFunctions are the built-in functions without which no Go code is written.
var shadowedFunctions = words("append cap copy delete len make new panic recover")

func checkShadowedFunction(r *reading, report report) {
	for _, name := range r.Declared {
		if d := r.scope[name]; shadowedFunctions[name] {
			report(d.pos, "%s is a name that Go declares itself, and generated code in this package means that one by it: rename it", name)
		}
	}
}

func checkMainPackage(r *reading, report report) {
	if r.Package == "main" {
		report(r.file.tree.Name.Pos(), "package main cannot be imported by the generated package: give the spec a package of its own, or generate into this one, without -o")
	}
}

func checkOutputExported(r *reading, report report) {
	judge := func(inside string, expr ast.Node, parameters map[string]bool) {
		typeNames(expr, func(name *ast.Ident) {
			if r.scope[name.Name] != nil && !name.IsExported() && !parameters[name.Name] {
				report(name.Pos(), "%s in %s is not exported, so the generated package cannot name it: %s, or generate into this package, without -o", name.Name, inside, exportedForm(name.Name))
			}
		})
		ast.Inspect(expr, func(n ast.Node) bool {
			for _, name := range memberNames(n) {
				if !name.IsExported() {
					report(name.Pos(), "%s in %s is not exported, so the generated package cannot write that type: declare it here under an exported name", name.Name, inside)
				}
			}
			return true
		})
	}
	r.eachOutputType(judge)
}

// memberNames are the names of the fields or methods of a type written out in place.
func memberNames(n ast.Node) []*ast.Ident {
	var list *ast.FieldList
	switch n := n.(type) {
	case *ast.StructType:
		list = n.Fields
	case *ast.InterfaceType:
		list = n.Methods
	default:
		return nil
	}
	var names []*ast.Ident
	for _, f := range list.List {
		names = append(names, f.Names...)
	}
	return names
}

// A mention is a type that the spec mentions, and where.
type mention struct {
	inside string
	expr   ast.Expr
}

// pointTypes are the environment, the payloads, and what markers are applied to.
func (r *reading) pointTypes() []mention {
	var all []mention
	if r.Env.given() {
		all = append(all, mention{"spec.Env", r.Env.Expr})
	}
	for _, m := range r.members {
		if m.Payload.given() {
			all = append(all, mention{"the payload of " + m.Name, m.Payload.Expr})
		}
		for _, e := range m.law {
			if arg := e.argument(); arg.given() {
				all = append(all, mention{r.text(e.marking.sel) + " of " + m.Name, arg.Expr})
			}
		}
	}
	return all
}

// eachOutputType calls visit for every type that a generated package of its own writes out.
func (r *reading) eachOutputType(visit func(inside string, expr ast.Node, parameters map[string]bool)) {
	for _, t := range r.pointTypes() {
		visit(t.inside, t.expr, nil)
	}
	for _, x := range r.Spec.Exits {
		for _, f := range x.Fields {
			visit("exit "+x.Name, f.Type.Expr, nil)
		}
	}
	for _, x := range r.Exports {
		parameters := map[string]bool{}
		for _, p := range x.Params {
			parameters[p.Name] = true
		}
		for _, p := range x.Params {
			visit("the parameters of "+x.Name, p.Type.Expr, parameters)
		}
	}
}

// checkQualifierElsewhere judges the constraints of generic types of the other files, which the generated
// package writes out again.
func checkQualifierElsewhere(r *reading, report report) {
	for _, s := range r.strangers {
		report(s.sel.Pos(), "cannot tell which import %s is: name the import, as in %s %q", s.name, s.name, "path/of/"+s.name)
	}
}

// checkExitHeldElsewhere judges the exported types of the other files, which the generated package shows as
// they are, while it declares the exits anew.
func checkExitHeldElsewhere(r *reading, report report) {
	exits := r.exits()
	for _, name := range r.Declared {
		d := r.scope[name]
		if d.file == r.file || d.spec == nil || !ast.IsExported(name) {
			continue
		}
		typeNames(d.spec.Type, func(ident *ast.Ident) {
			if x := exits[ident.Name]; x != nil {
				report(ident.Pos(), "exit %s stands in type %s of %s: an exit stands in result lists only; declare a type of its own for the data that both need", x.name, name, path.Base(d.file.name))
			}
		})
	}
}
