package hookvet

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

var unfired = check{
	name:  "unfired",
	facts: []analysis.Fact{new(firedFact)},
	run:   runUnfired,
}

// A firedFact lists the uses of points in a package and in all that it imports. The list is sorted, because equal facts
// must have equal encodings.
type firedFact struct {
	Uses []string
}

// AFact makes it a fact.
func (*firedFact) AFact() {}

func (f *firedFact) String() string { return strings.Join(f.Uses, " ") }

// firedUses are the entries of a firedFact: one of these words, and the name of a type.
type firedUses map[string]bool

const (
	fires    = "fires "  // a point, for example example.com/mail.OnSentPoint
	firesAll = "passes " // Hooks of which every point may be fired
	makes    = "makes "  // Hooks that a variable or a field holds
)

func (f firedUses) add(use string, typ *types.Named) { f[use+qualifiedName(typ)] = true }

func (f firedUses) has(use string, typ *types.Named) bool { return f[use+qualifiedName(typ)] }

// addFamily adds a use of Hooks, and of those that they extend, if a type is Hooks.
func (f firedUses) addFamily(use string, t types.Type) {
	if hooks := hooksOf(t); hooks != nil {
		for _, h := range family(hooks) {
			f.add(use, h)
		}
	}
}

// addMade adds the Hooks that an expression or a variable has as its type, and those that they extend.
func (f firedUses) addMade(t types.Type) {
	if _, isPointer := types.Unalias(t).(*types.Pointer); !isPointer {
		f.addFamily(makes, t)
	}
}

func qualifiedName(typ *types.Named) string { return pathOf(typ.Obj().Pkg()) + "." + typ.Obj().Name() }

func runUnfired(r *reporter) {
	if strings.HasSuffix(r.pass.Pkg.Path(), ".test") {
		return // the package main that the go command makes for the tests of a package
	}
	f := firedUses{}
	for _, imported := range r.pass.Pkg.Imports() {
		var fact firedFact
		if r.pass.ImportPackageFact(imported, &fact) {
			for _, use := range fact.Uses {
				f[use] = true
			}
		}
	}
	for _, at := range r.files {
		file := at.Node().(*ast.File)
		if r.isTest(file.FileStart) {
			continue
		}
		r.readHooks(file, f)
		for c, x := range nodes[*ast.SelectorExpr](at) {
			p := pointOf(r.typeOf(x))
			parent, ok := c.Parent().Node().(*ast.SelectorExpr)
			if p != nil && !(ok && parent.X == x && parent.Sel.Name != "Fire" && parent.Sel.Name != "FireBy") {
				f.add(fires, p.typ) // not only for a method that registers or lists
			}
		}
	}
	if len(f) == 0 {
		return
	}
	r.pass.ExportPackageFact(&firedFact{slices.Sorted(maps.Keys(f))})
	if r.pass.Pkg.Name() == "main" && len(r.files) > 0 {
		r.reportUnfired(f)
	}
}

// readHooks adds the Hooks that a file makes, and those that it passes on as a whole.
func (r *reporter) readHooks(file *ast.File, f firedUses) {
	for n := range ast.Preorder(file) {
		switch n := n.(type) {
		case *ast.CallExpr:
			r.readPassedHooks(n, f)
			if r.isBuiltin(n, "new") && len(n.Args) == 1 {
				f.addMade(r.typeOf(n.Args[0]))
			}
		case *ast.Ident:
			if v, ok := r.info.Defs[n].(*types.Var); ok {
				f.addMade(v.Type())
			}
		case *ast.CompositeLit:
			f.addMade(r.typeOf(n))
		}
	}
}

// readPassedHooks adds Hooks whose points something can fire without their names: through Points, or in the generated
// package.
func (r *reporter) readPassedHooks(call *ast.CallExpr, f firedUses) {
	fn := r.callee(call)
	if fn == nil {
		return
	}
	if recv := fn.Signature().Recv(); recv != nil {
		if fn.Name() == "Points" {
			f.addFamily(firesAll, recv.Type())
		}
		return
	}
	for p := range fn.Signature().Params().Variables() {
		if hooks := hooksOf(p.Type()); hooks != nil && fn.Pkg() == hooks.Obj().Pkg() && fn.Pkg() != r.pass.Pkg {
			f.addFamily(firesAll, hooks)
		}
	}
}

// reportUnfired reports the points of the program's Hooks that nothing fires.
func (r *reporter) reportUnfired(f firedUses) {
	for _, hooks := range r.hooks {
		if !f.has(makes, hooks) || f.has(firesAll, hooks) {
			continue
		}
		var missing []string
		points := pointsOf(hooks)
		for _, p := range points {
			if !f.has(fires, p.typ) {
				missing = append(missing, p.name)
			}
		}
		if len(missing) == 0 || len(missing) == len(points) && !r.firesFamily(hooks, f) {
			continue
		}
		file := r.files[0].Node().(*ast.File)
		r.report(file.Name, "nothing in this program fires %s of %s: hooks there never run; fire or remove it",
			strings.Join(missing, ", "), hooks.Obj().Pkg().Path())
	}
}

// firesFamily reports whether the program fires a point of Hooks that these extend, or that extend these.
func (r *reporter) firesFamily(hooks *types.Named, f firedUses) bool {
	return slices.ContainsFunc(r.hooks, func(relative *types.Named) bool {
		return (slices.Contains(family(hooks), relative) || slices.Contains(family(relative), hooks)) &&
			slices.ContainsFunc(pointsOf(relative), func(p *point) bool { return f.has(fires, p.typ) })
	})
}
