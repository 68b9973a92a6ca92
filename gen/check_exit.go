package gen

import (
	"fmt"
	"go/ast"

	"github.com/hookgen/hookgen/gen/model"
	"github.com/hookgen/hookgen/internal/spelling"
)

// exitElements calls visit for the elements of a kind. A name that several lists contain is visited once, at its first
// use.
func (r *specInfo) exitElements(kind elementKind, visit func(m *member, e *element)) {
	seen := map[string]bool{}
	for m, e := range r.elements() {
		if e.kind == kind && (e.name == "" || !seen[e.name]) {
			seen[e.name] = true
			visit(m, e)
		}
	}
}

func checkExitPackage(r *specInfo, report report) {
	reported := false
	for _, e := range r.elements() {
		switch {
		case e.kind == foreignElement:
			report(e.expr.Pos(), "%s belongs to another package, and an exit to the one that declares the point: "+
				"declare a struct type in this file", e.name)
		case e.kind == wrongImportElement && !reported:
			reported = true
			report(e.expr.Pos(), "spec is %q here, which is not the spec language: import %q", r.qualifiers["spec"].path,
				LanguagePath)
		}
	}
}

func checkExitDeclared(r *specInfo, report report) {
	for _, e := range r.elements() {
		if e.kind == undeclaredElement {
			report(e.expr.Pos(), "%s is not declared in this file: %s", e.name, r.meantExit(e.name))
		}
	}
	r.exitElements(otherFileElement, func(m *member, e *element) {
		report(e.expr.Pos(), "%s is declared in %s: an exit is declared in the file of the spec; move it here",
			e.name, e.decl.file.name)
	})
}

// meantExit suggests an exit or a marker for an undeclared name.
func (r *specInfo) meantExit(name string) string {
	const otherwise = "declare it here as a struct type: type %s struct { Reason string }"
	if r.suggestions >= maxSuggestions {
		return fmt.Sprintf(otherwise, name)
	}
	payloads := map[string]bool{}
	for _, m := range r.members {
		if !m.Payload.IsZero() {
			if base := baseName(m.Payload.Expr); base != nil {
				payloads[base.Name] = true
			}
		}
	}
	var exits []string
	for _, declared := range r.Declared {
		d := r.scope[declared]
		if d.file == r.file && d.structure() != nil && ast.IsExported(declared) && !payloads[declared] {
			exits = append(exits, declared)
		}
	}
	for _, marker := range markerNames {
		exits = append(exits, r.languageName()+"."+marker)
	}
	if c := r.suggest(name, exits); c != "" {
		return "did you mean " + c + "?"
	}
	if c := spelling.Suggest(name, markerNames); c != "" {
		return "did you mean " + r.languageName() + "." + c + "?"
	}
	return fmt.Sprintf(otherwise, name)
}

func checkExitStruct(r *specInfo, report report) {
	r.exitElements(notStructElement, func(m *member, e *element) {
		if m := r.markerUse(e.decl.spec.Type); m != nil {
			return // reported where the alias is declared
		}
		why := "is not declared as a struct"
		if e.decl.spec.Assign.IsValid() {
			why = "is an alias"
		}
		report(e.expr.Pos(), "%s %s: an exit is a struct type of its own; write type %s struct { ... }", e.name, why, e.name)
	})
	for m, e := range r.elements() {
		if e.kind == unnamedElement {
			report(e.expr.Pos(), "%s is nothing that a hook can leave %s with: "+
				"declare a struct type in this file and list its name", r.text(e.expr), m.Name)
		}
	}
}

func checkExitExported(r *specInfo, report report) {
	r.exitElements(exitElement, func(m *member, e *element) {
		if !ast.IsExported(e.name) {
			report(e.expr.Pos(), "exit %s is not exported, so hooks of other packages could not use it: %s",
				e.name, exportedForm(e.name))
		}
	})
}

// checkExitName reports exits named like one of the other decisions in By.Decision. A record that says "Replace" would
// have two meanings, and a process that speaks the wire would take the exit for a replacement.
func checkExitName(r *specInfo, report report) {
	r.exitElements(exitElement, func(m *member, e *element) {
		switch e.name {
		case "Replace", "Edit", "Answered", "Error", "Collect":
			report(e.expr.Pos(), "exit %s is named like another decision of hooks in records and messages: choose another "+
				"name, for example %sWith", e.name, e.name)
		}
	})
}

func checkExitGeneric(r *specInfo, report report) {
	r.exitElements(genericElement, func(m *member, e *element) {
		report(e.expr.Pos(), "exit %s is generic: write its types out, in one struct type for each exit", e.name)
	})
}

func checkExitPointer(r *specInfo, report report) {
	r.exitElements(pointerElement, func(m *member, e *element) {
		report(e.expr.Pos(), "%s is a pointer: an exit is listed by value; write %s", r.text(e.expr), e.name)
	})
}

// exits returns the declarations of all exits by name.
func (r *specInfo) exits() map[string]*declaration {
	all := map[string]*declaration{}
	for _, x := range r.Spec.Exits {
		all[x.Name] = r.scope[x.Name]
	}
	return all
}

func checkExitMethods(r *specInfo, report report) {
	exits := r.exits()
	for _, method := range r.methods {
		if x := exits[r.resolved(method.owner)]; x != nil {
			report(method.pos, "exit %s has a method %s: an exit is data that the program reads; make it a function",
				x.name, method.name)
		}
	}
}

// resolved returns the name of the type that an alias of the package denotes.
func (r *specInfo) resolved(name string) string {
	const longest = 100 // aliases in a circle name no type, and nobody writes so many
	for range longest {
		d := r.scope[name]
		if d == nil || d.spec == nil || !d.spec.Assign.IsValid() || d.generic() {
			break
		}
		target, ok := ast.Unparen(d.spec.Type).(*ast.Ident)
		if !ok {
			break
		}
		name = target.Name
	}
	return name
}

func checkExitFields(r *specInfo, report report) {
	seen := map[*declaration]bool{} // structs that are embedded are judged once
	var checkStruct func(exit, holder string, d *declaration)
	checkStruct = func(exit, holder string, d *declaration) {
		if d.structure() == nil || seen[d] {
			return
		}
		seen[d] = true
		for _, f := range d.structure().Fields.List {
			for _, name := range f.Names {
				if !name.IsExported() {
					report(name.Pos(), "field %s of %s is not exported, so hooks could not set it: %s", name.Name, holder,
						exportedForm(name.Name))
				}
			}
			if name, ok := f.Type.(*ast.Ident); ok && len(f.Names) == 0 {
				checkStruct(exit, name.Name+", which "+exit+" embeds,", r.scope[r.resolved(name.Name)])
			}
		}
	}
	for _, x := range r.Spec.Exits {
		checkStruct("exit "+x.Name, "exit "+x.Name, r.scope[x.Name])
	}
}

func checkExitEmbeds(r *specInfo, report report) {
	exits := r.exits()
	checker := &embedChecker{specInfo: r, exits: exits, methods: map[string]*declaration{}, known: map[string]string{}}
	for _, method := range r.methods {
		if owner := r.resolved(method.owner); checker.methods[owner] == nil {
			checker.methods[owner] = method
		}
	}
	for _, d := range exits {
		for _, f := range d.structure().Fields.List {
			if len(f.Names) > 0 {
				continue
			}
			if why := checker.refusal(f.Type); why != "" {
				report(f.Type.Pos(), "exit %s embeds %s, %s: "+
					"give the field a name, or embed a struct of this package that has no methods", d.name, r.text(f.Type), why)
			}
		}
	}
}

// An embedChecker decides which types an exit may embed: structs of the package without methods. An exit with methods
// would be more than data.
type embedChecker struct {
	*specInfo
	exits   map[string]*declaration
	methods map[string]*declaration // the first method of each type of the package
	known   map[string]string       // the results of refusal for structs
}

// refusal explains why an exit cannot embed a type. It returns "" if the exit can embed the type, or if another rule
// reports it.
func (p *embedChecker) refusal(expr ast.Expr) string {
	switch expr.(type) {
	case *ast.StarExpr:
		return "which is a pointer, and may be nil"
	case *ast.SelectorExpr:
		return "which is declared in another package and may have methods there"
	case *ast.IndexExpr, *ast.IndexListExpr:
		return "which is generic"
	}
	name, ok := expr.(*ast.Ident)
	if !ok {
		return "which is not the name of a struct"
	}
	target := p.resolved(name.Name)
	d := p.scope[target]
	switch {
	case p.exits[target] != nil || p.undefined(target, false) != "":
		return ""
	case predeclared[target]:
		return "which is not a struct"
	case !name.IsExported():
		return "which is not exported, so that hooks could not set it"
	case d == nil:
		return "which is not a struct that this package declares"
	case d.generic():
		return "which is generic"
	case p.methods[target] != nil:
		return "which has the method " + p.methods[target].name
	case d.structure() == nil:
		return "which is not written as a struct"
	}
	if why, known := p.known[target]; known {
		return why
	}
	p.known[target] = "" // in case it embeds itself, which the compiler reports
	for _, f := range d.structure().Fields.List {
		if len(f.Names) > 0 {
			continue
		}
		if why := p.refusal(f.Type); why != "" {
			const longest = 200 // bytes of a chain of structs
			if len(why) < longest {
				why = "which embeds " + embeddedName(f.Type) + ", " + why
			}
			p.known[target] = why
			break
		}
	}
	return p.known[target]
}

func checkExitHeld(r *specInfo, report report) {
	exits := r.exits()
	r.eachType(func(inside string, node ast.Node) {
		model.EachName(node, func(name *ast.Ident) {
			if d := exits[name.Name]; d != nil {
				report(name.Pos(), "exit %s is used in %s: an exit appears in result lists only; "+
					"declare a type of its own for the data that both need", d.name, inside)
			}
		})
	})
}
