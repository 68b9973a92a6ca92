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
	"strings"

	"github.com/hookgen/hookgen/gen/model"
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

// readConstants reads the exported constants of the spec's package, and those of other packages whose types were
// reached.
func (r *surfaceReader) readConstants() []SurfaceConst {
	all := r.constantsIn(r.own)
	for _, p := range r.packages {
		if p != nil {
			all = append(all, r.constantsIn(p)...)
		}
	}
	slices.SortStableFunc(all, func(a, b SurfaceConst) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// constantsIn reads the exported constants of a package, in source order.
func (r *surfaceReader) constantsIn(p *surfacePackage) []SurfaceConst {
	var all []SurfaceConst
	for _, f := range p.files {
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
				doc := firstOf(spec.Doc, spec.Comment)
				if !group.Lparen.IsValid() {
					doc = firstOf(group.Doc, spec.Comment)
				}
				for i, name := range spec.Names {
					if !name.IsExported() || i >= len(values) {
						continue
					}
					c := r.readConstant(scopeOf{in: p, file: f}, name, typ, values[i], number)
					c.SurfaceDecl = r.decl(c.Name, doc.Text(), name.Pos())
					c.Deprecated = c.Deprecated || model.Deprecation(group.Doc.Text()) != ""
					if p == r.own || c.Of != "" {
						all = append(all, c)
					}
				}
			}
		}
	}
	return all
}

// readConstant reads one constant. number is its place in its group.
func (r *surfaceReader) readConstant(at scopeOf, name *ast.Ident, typ, value ast.Expr, number int) SurfaceConst {
	c := SurfaceConst{Written: at.file.line(value)}
	c.Name = at.in.prefix + name.Name
	ast.Inspect(value, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "iota" {
			c.Written = fmt.Sprintf("%s (iota is %d)", at.file.line(value), number)
		}
		return true
	})
	if typ != nil {
		w := r.spelled(at, typ)
		if at.in == r.own {
			w = r.written(at, typ) // hooks can use the type of the constant, too
		}
		c.Type, c.Of = w.Meaning, w.Name
	}
	if known, ok := at.in.constants.Defs[name].(*types.Const); ok {
		if v := known.Val(); v != nil && v.Kind() != constant.Unknown {
			c.Value = v.ExactString()
		}
		if known.Type() != types.Typ[types.Invalid] {
			in := func(*types.Package) string { return strings.TrimSuffix(at.in.prefix, ".") }
			c.Type, c.Of = types.TypeString(types.Unalias(known.Type()), in), types.TypeString(known.Type(), in)
		}
	}
	if r.types[c.Of] == nil {
		c.Of = ""
	}
	return c
}
