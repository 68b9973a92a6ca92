package gen

import (
	"cmp"
	"go/ast"
	"go/token"
	"path"
	"slices"

	"github.com/hookgen/hookgen/gen/model"
)

// samePackageRules also apply if the output is generated into the spec's own package.
var samePackageRules = []rule{
	{"name-clash", "names leave room for those that are generated", checkFunctionClash},
	{"shadowed-name", "the package declares no name that Go declares itself", checkShadowedFunction},
	{"import-name", "imports leave room for the names that are generated", checkImportClash},
}

// ownPackageRules also apply if the output is a package of its own (-o).
var ownPackageRules = []rule{
	{"main-package", "a spec that another package imports is not package main", checkMainPackage},
	{"output-exported", "a generated package of its own names exported types only", checkOutputExported},
	{"exit-held", "no type holds an exit", checkExitHeldElsewhere},
	{ruleUndefined, "the types of a point are declared in its package", checkUndefinedElsewhere},
	{"qualifier", "every qualifier names one import", checkQualifierElsewhere},
}

// ruleNotRead is the rule of a Spec that a program built without [Read]. A spec file cannot break it, so [Rules] does
// not list it.
const ruleNotRead = "not-read"

// CheckOutput checks a spec against its destination, because some names clash only if the output goes into the spec's
// own package, and others only if it does not. A nil result means that [Emit] may be called with to.
//
// CheckOutput also refuses a Spec that does not come from [Read], because it has no files to check.
func CheckOutput(s *Spec, to Output) Diagnostics {
	switch {
	case s.info == nil:
		return Diagnostics{{
			Pos: token.Position{Filename: cmp.Or(s.File, s.Dir, s.Package, "spec")}, Rule: ruleNotRead,
			Message: "this Spec was not read from files, so it cannot be checked: make it with gen.Read",
		}}
	case to.SpecPath == "":
		return runRules(s.info, samePackageRules).sorted()
	}
	return runRules(s.info, ownPackageRules).sorted()
}

func checkFunctionClash(r *specInfo, report report) {
	checkName := func(d *declaration) {
		if slices.Contains(generatedNames.imports, d.name) {
			report(d.pos, "generated code in this package imports another one as %s: "+
				"rename it, or generate into a package of its own with -o", d.name)
		}
		if hasPrivatePrefix(d.name) {
			report(d.pos, "%s begins like the names that generated code keeps to itself: rename it", d.name)
		}
		if message := r.clash(d); message != "" {
			report(d.pos, "%s", message)
		}
	}
	for _, name := range r.Declared {
		if d := r.scope[name]; !ast.IsExported(name) || d.kind != token.TYPE && d.kind != token.CONST {
			checkName(d) // the others are judged wherever the output goes
		}
	}
}

// checkImportClash checks the imports of the other files. The compiler refuses a package in which one file imports a
// name that another file declares.
func checkImportClash(r *specInfo, report report) {
	for _, f := range r.others {
		for _, l := range importLines(f.tree) {
			if whom := r.generatedFor(l.name); whom != "" {
				report(l.pos, "%q is imported as %s, a name that hookgen generates %s, and Go refuses both in one package: "+
					"import it under another name, or generate into a package of its own with -o", l.path, l.name, whom)
			}
		}
	}
}

// shadowedFunctions are the built-in functions that generated code calls.
var shadowedFunctions = words("append cap copy delete len make new panic recover")

func checkShadowedFunction(r *specInfo, report report) {
	for _, d := range r.scope {
		if shadowedFunctions[d.name] {
			report(d.pos, "%s is a name that Go declares itself, and generated code in this package needs Go's: rename it",
				d.name)
		}
	}
}

func checkMainPackage(r *specInfo, report report) {
	if r.Package == "main" {
		report(r.file.tree.Name.Pos(), "package main cannot be imported by the generated package: "+
			"give the spec a package of its own, or generate into this one, without -o")
	}
}

// checkUndefinedElsewhere checks types that a point can use only in the spec's own package. For example, hookgen
// generates some of them there.
func checkUndefinedElsewhere(r *specInfo, report report) {
	r.mentioned(func(name *ast.Ident, length bool) {
		if r.scope[name.Name] != nil || predeclared[name.Name] || builtins[name.Name] || name.Name == "_" {
			return
		}
		if r.generates(name.Name) {
			report(name.Pos(), "%s is what hookgen generates, and with -o into another package: "+
				"generate into this package, without -o", name.Name)
			return
		}
		report(name.Pos(), "%s may be declared in a file that does not parse: "+
			"correct the file first, or generate into this package, without -o", name.Name)
	})
}

func checkOutputExported(r *specInfo, report report) {
	checkType := func(inside string, expr ast.Node, parameters map[string]bool) {
		model.EachName(expr, func(name *ast.Ident) {
			if r.scope[name.Name] != nil && !name.IsExported() && !parameters[name.Name] {
				report(name.Pos(), "%s in %s is not exported, so the generated package cannot name it: %s, "+
					"or generate into this package, without -o", name.Name, inside, exportedForm(name.Name))
			}
		})
		ast.Inspect(expr, func(n ast.Node) bool {
			for _, name := range memberNames(n) {
				if !name.IsExported() {
					report(name.Pos(), "%s in %s is not exported, so the generated package cannot write that type: "+
						"declare it here under an exported name", name.Name, inside)
				}
			}
			return true
		})
	}
	r.eachOutputType(checkType)
}

// memberNames returns the names of the fields or methods of a struct or interface literal.
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

// checkQualifierElsewhere checks the constraints of generic types in other files, because the generated package repeats
// them.
func checkQualifierElsewhere(r *specInfo, report report) {
	for _, s := range r.unresolved {
		report(s.sel.Pos(), "cannot tell which import %s is: name the import, as in %s %q", s.name, s.name, "path/of/"+s.name)
	}
}

// checkExitHeldElsewhere checks the exported types of the other files. The generated package re-exports them as aliases
// but declares its own exits, so such a type would contain the wrong exit.
func checkExitHeldElsewhere(r *specInfo, report report) {
	exits := r.exits()
	for _, name := range r.Declared {
		d := r.scope[name]
		if d.file == r.file || d.spec == nil || !ast.IsExported(name) {
			continue
		}
		model.EachName(d.spec.Type, func(ident *ast.Ident) {
			if x := exits[ident.Name]; x != nil {
				report(ident.Pos(), "exit %s is used in type %s of %s: an exit appears in result lists only; "+
					"declare a type of its own for the data that both need", x.name, name, path.Base(d.file.name))
			}
		})
	}
}
