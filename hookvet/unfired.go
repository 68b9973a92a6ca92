package hookvet

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/edge"
)

var unfired = check{
	name: "unfired",
	doc: `find declared points that a program never fires

A hook of a point that nothing fires is registered and never runs. The check knows what the packages that a program
imports fire, and reports in package main: at the package clause, the points that no package of the program fires.

It looks only at programs that have Hooks and fire some of their points. All points of Hooks count as fired if something
calls their method Points, because they can be fired through it, or passes them to a function of the generated package.
Fires in test files do not count. For a library, whose points others fire, use hooktest.EveryPointFired.`,
	facts: []analysis.Fact{new(firedFact)},
	run:   runUnfired,
}

// A firedFact lists the uses of points in a package and in all that it imports. Points and Hooks are named by their
// types. The lists are sorted, because equal facts must have equal encodings.
type firedFact struct {
	Fired []string // points, for example example.com/mail.OnSentPoint
	All   []string // Hooks of which every point may be fired
	Made  []string // Hooks that a variable or a field holds
}

// AFact makes it a fact.
func (*firedFact) AFact() {}

func (f *firedFact) String() string { return "fires " + strings.Join(f.Fired, ", ") }

// A firedSet collects a firedFact. Each set has names of types.
type firedSet struct {
	fired, all, made map[string]bool
}

func runUnfired(r *reporter) {
	if strings.HasSuffix(r.pass.Pkg.Path(), ".test") {
		return // the package main that the go command makes for the tests of a package
	}
	f := &firedSet{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, imported := range r.pass.Pkg.Imports() {
		var fact firedFact
		if r.pass.ImportPackageFact(imported, &fact) {
			addAll(f.fired, fact.Fired)
			addAll(f.all, fact.All)
			addAll(f.made, fact.Made)
		}
	}
	for _, at := range r.files {
		file := at.Node().(*ast.File)
		if r.isTest(file.FileStart) {
			continue
		}
		r.readHooks(file, f)
		for c := range at.Preorder((*ast.SelectorExpr)(nil)) {
			x := c.Node().(*ast.SelectorExpr)
			p := pointOf(r.typeOf(x))
			if p != nil && !onlyRegisters(c.ParentEdgeKind() == edge.SelectorExpr_X, c.Parent().Node()) {
				f.fired[qualifiedName(p.typ.Obj())] = true
			}
		}
	}
	if len(f.fired)+len(f.all)+len(f.made) == 0 {
		return
	}
	r.pass.ExportPackageFact(&firedFact{sorted(f.fired), sorted(f.all), sorted(f.made)})
	if r.pass.Pkg.Name() == "main" && len(r.files) > 0 {
		r.reportUnfired(f)
	}
}

func addAll(set map[string]bool, names []string) {
	for _, name := range names {
		set[name] = true
	}
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// onlyRegisters reports whether a point is used for nothing but a method that registers or lists.
func onlyRegisters(isSelected bool, parent ast.Node) bool {
	x, ok := parent.(*ast.SelectorExpr)
	return isSelected && ok && x.Sel.Name != "Fire" && x.Sel.Name != "FireBy"
}

// readHooks adds the Hooks that a file makes, and those that it passes on as a whole.
func (r *reporter) readHooks(file *ast.File, f *firedSet) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			r.readPassedHooks(n, f)
			if r.isBuiltin(n, "new") && len(n.Args) == 1 {
				r.makes(n.Args[0], f)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				r.makes(name, f)
			}
		case *ast.Field:
			if n.Type != nil {
				r.makes(n.Type, f)
			}
		case *ast.CompositeLit:
			r.makes(n, f)
		}
		return true
	})
}

// makes notes the Hooks that an expression has as its type, and those that they extend.
func (r *reporter) makes(e ast.Expr, f *firedSet) {
	t := r.typeOf(e)
	if obj := r.info.Defs[asIdent(e)]; obj != nil {
		t = obj.Type()
	}
	if _, isPointer := types.Unalias(t).(*types.Pointer); isPointer {
		return
	}
	if hooks := hooksOf(t); hooks != nil {
		for _, h := range append(parents(hooks), hooks) {
			f.made[qualifiedName(h.Obj())] = true
		}
	}
}

// readPassedHooks notes Hooks whose points something can fire without their names: through Points, or in the generated
// package.
func (r *reporter) readPassedHooks(call *ast.CallExpr, f *firedSet) {
	fn := r.callee(call)
	if fn == nil {
		return
	}
	all := func(t types.Type) {
		if hooks := hooksOf(t); hooks != nil {
			for _, h := range append(parents(hooks), hooks) {
				f.all[qualifiedName(h.Obj())] = true
			}
		}
	}
	if recv := fn.Signature().Recv(); recv != nil {
		if fn.Name() == "Points" {
			all(recv.Type())
		}
		return
	}
	for p := range fn.Signature().Params().Variables() {
		if hooks := hooksOf(p.Type()); hooks != nil && fn.Pkg() == hooks.Obj().Pkg() && fn.Pkg() != r.pass.Pkg {
			all(hooks)
		}
	}
}

func qualifiedName(obj *types.TypeName) string { return pathOf(obj.Pkg()) + "." + obj.Name() }

// reportUnfired reports the points of the program's Hooks that nothing fires.
func (r *reporter) reportUnfired(f *firedSet) {
	for _, hooks := range r.hooks {
		name := qualifiedName(hooks.Obj())
		if !f.made[name] || f.all[name] {
			continue
		}
		var missing []string
		points := pointsOf(hooks)
		for _, p := range points {
			if !f.fired[qualifiedName(p.typ.Obj())] {
				missing = append(missing, p.name)
			}
		}
		if len(missing) == 0 || len(missing) == len(points) && !r.firesFamily(hooks, f) {
			continue
		}
		file := r.files[0].Node().(*ast.File)
		r.report(file.Name, nil, "nothing in this program fires %s of %s: hooks there never run; fire or remove it",
			strings.Join(missing, ", "), hooks.Obj().Pkg().Path())
	}
}

// firesFamily reports whether the program fires a point of Hooks that these extend, or that extend these.
func (r *reporter) firesFamily(hooks *types.Named, f *firedSet) bool {
	for _, relative := range r.hooks {
		if !slices.Contains(parents(hooks), relative) && !slices.Contains(parents(relative), hooks) {
			continue
		}
		for _, p := range pointsOf(relative) {
			if f.fired[qualifiedName(p.typ.Obj())] {
				return true
			}
		}
	}
	return false
}
