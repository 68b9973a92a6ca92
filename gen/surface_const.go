package gen

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// evaluate finds the values and the types of the constants of a package, and the lengths of its arrays. It reads only
// constants and types, and imports nothing, so a value that a variable or another package determines is unknown.
func evaluate(fset *token.FileSet, files []*file) *types.Info {
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{FakeImportC: true, Importer: noImporter{}, Error: func(error) {}}
	var trees []*ast.File
	for _, f := range files {
		tree := *f.tree
		tree.Decls = nil
		for _, d := range f.tree.Decls {
			if group, ok := d.(*ast.GenDecl); ok && group.Tok != token.VAR {
				tree.Decls = append(tree.Decls, withoutParentheses(group))
			}
		}
		trees = append(trees, &tree)
	}
	// The error says only that some types are unknown.
	_, _ = config.Check("p", fset, trees, info)
	return info
}

// withoutParentheses removes the parentheses around declared types, because go/types never returns for the constant
// len(A{}) after type A (A).
func withoutParentheses(group *ast.GenDecl) *ast.GenDecl {
	result := *group
	result.Specs = slices.Clone(group.Specs)
	for i, s := range group.Specs {
		if t, ok := s.(*ast.TypeSpec); ok {
			bare := *t
			bare.Type = ast.Unparen(t.Type)
			result.Specs[i] = &bare
		}
	}
	return &result
}

// A noImporter imports nothing.
type noImporter struct{}

func (noImporter) Import(string) (*types.Package, error) {
	return nil, errors.New("imports are not read")
}

// length returns the length of an array if it is a constant whose value is known, or "".
func (p *surfacePackage) length(expr ast.Expr) string {
	if v := p.constants.Types[expr].Value; v != nil && v.Kind() != constant.Unknown {
		return v.ExactString()
	}
	return ""
}

// readConstants reads the exported constants of the spec's package.
func (r *surfaceReader) readConstants() []SurfaceConst {
	var all []SurfaceConst
	for _, f := range r.own.files {
		for _, decl := range f.tree.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			var typ ast.Expr
			var values []ast.Expr
			for number, spec := range group.Specs {
				spec, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				if len(spec.Values) > 0 {
					typ, values = spec.Type, spec.Values
				}
				for i, name := range spec.Names {
					if name.IsExported() && i < len(values) {
						all = append(all, r.readConstant(f, name, typ, values[i], number))
					}
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b SurfaceConst) int { return cmp.Compare(a.Name, b.Name) })
	var unique []SurfaceConst
	for _, c := range all {
		last := len(unique) - 1
		if last < 0 || unique[last].Name != c.Name {
			unique = append(unique, c)
			continue
		}
		// Files for several systems can declare one constant with several values.
		unique[last].Value = ""
		unique[last].Written += " or " + c.Written
	}
	return unique
}

// readConstant reads one constant. number is its place in its group.
func (r *surfaceReader) readConstant(f *file, name *ast.Ident, typ, value ast.Expr, number int) SurfaceConst {
	c := SurfaceConst{Name: name.Name, Pos: r.position(name.Pos()), Written: f.line(value)}
	ast.Inspect(value, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "iota" {
			c.Written = fmt.Sprintf("%s (iota is %d)", f.line(value), number)
		}
		return true
	})
	if typ != nil {
		c.Type = r.written(scopeOf{in: r.own, file: f}, typ).Meaning
	}
	if known, ok := r.own.constants.Defs[name].(*types.Const); ok {
		if v := known.Val(); v != nil && v.Kind() != constant.Unknown {
			c.Value = v.ExactString()
		}
		if known.Type() != types.Typ[types.Invalid] {
			c.Type = types.TypeString(types.Unalias(known.Type()), func(*types.Package) string { return "" })
		}
	}
	return c
}
