package gen

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// readExports sets the declarations that the generated package re-exports with -o, and the list of all declared names.
func (r *specInfo) readExports() {
	r.Declared = slices.Sorted(maps.Keys(r.scope))
	exits := map[string]bool{}
	for _, x := range r.Spec.Exits {
		exits[x.Name] = true
	}
	for _, name := range r.Declared {
		d := r.scope[name]
		if !ast.IsExported(name) || exits[name] || d.kind != token.TYPE && d.kind != token.CONST {
			continue
		}
		if d.spec != nil && len(d.file.errors) > 0 && unparsed(d.spec.TypeParams) {
			continue
		}
		export := Export{Name: name, Doc: d.doc.Text(), Pos: d.pos, Const: d.kind == token.CONST, Group: d.group,
			GroupDoc: d.groupDoc.Text()}
		if d.spec != nil && d.spec != r.Interface { // the points have types of their own
			export.Parts = parts(d.spec)
		}
		if d.spec != nil && d.spec.TypeParams != nil {
			if d.file != r.file {
				r.importQualifiers(d)
			}
			for _, p := range flatten(d.spec.TypeParams) {
				export.Params = append(export.Params, Field{Name: p.name.Name, Type: typeOf(p.typ)})
			}
		}
		r.Exports = append(r.Exports, export)
	}
}

// parts returns a sentence with the exported fields of a struct type, or the methods of an interface type.
func parts(spec *ast.TypeSpec) string {
	var list *ast.FieldList
	kind := "fields"
	switch x := ast.Unparen(spec.Type).(type) {
	case *ast.StructType:
		list = x.Fields
	case *ast.InterfaceType:
		list, kind = x.Methods, "methods"
	default:
		return ""
	}
	var all []string
	for _, member := range list.List {
		text := types.ExprString(member.Type)
		if _, method := member.Type.(*ast.FuncType); method && kind == "methods" {
			text = strings.TrimPrefix(text, "func")
		} else if len(member.Names) > 0 {
			text = " " + text
		}
		if strings.ContainsAny(text, "`\"'\n") {
			return "" // a constant expression, whose text could end the comment
		}
		var names []string
		for _, name := range member.Names {
			if name.IsExported() {
				names = append(names, name.Name)
			}
		}
		if len(names) > 0 || len(member.Names) == 0 {
			all = append(all, strings.Join(names, ", ")+text)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "Its " + kind + ": " + strings.Join(all, "; ") + "."
}

// unparsed reports whether the parser could not read a part of the type parameters.
func unparsed(list *ast.FieldList) bool {
	if list == nil {
		return false
	}
	bad := slices.ContainsFunc(list.List, func(p *ast.Field) bool { return len(p.Names) == 0 })
	ast.Inspect(list, func(n ast.Node) bool {
		_, is := n.(*ast.BadExpr)
		bad = bad || is
		return !bad
	})
	return bad
}

// importQualifiers adds the imports that the constraints of a generic type need to the model. For example, type Set[T
// law.Member] in another file needs the law that this file imports. If the spec imports another package as law, the
// constraint gets another qualifier.
func (r *specInfo) importQualifiers(d *declaration) {
	lines := importsByName(importLines(d.file.tree))
	qualified(d.spec.TypeParams, func(x *ast.Ident, sel *ast.SelectorExpr) {
		found := lines[x.Name]
		if len(found) != 1 {
			r.unresolved = append(r.unresolved, unresolvedQualifier{d.file, sel, x.Name})
			return
		}
		x.Name = r.importName(x.Name, found[0])
	})
}

// importName returns the name under which the model imports the package of line. It adds the import if necessary.
func (r *specInfo) importName(name string, line *importLine) string {
	if r.importedAs == nil {
		r.importedAs, r.importNamesTaken = map[string]string{}, map[string]bool{r.SpecPkg.Name: true}
		for _, have := range r.Imports {
			r.importedAs[have.Path], r.importNamesTaken[have.Name] = have.Name, true
		}
	}
	if have := r.importedAs[line.path]; have != "" {
		return have
	}
	free := freeName(name, func(n string) bool { return r.importNamesTaken[n] || r.unimportable(n) != "" })
	r.importedAs[line.path], r.importNamesTaken[free] = free, true
	r.Imports = append(r.Imports, Import{Name: free, Path: line.path, Pos: line.pos})
	return free
}

// freeName returns name, or name with the first number from 2 that makes it unused.
func freeName(name string, taken func(string) bool) string {
	if !taken(name) {
		return name
	}
	base := strings.TrimRight(name, "0123456789")
	for n := 2; ; n++ {
		if free := base + strconv.Itoa(n); !taken(free) {
			return free
		}
	}
}

// An unresolvedQualifier is a qualifier in another file that no import or several imports can mean.
type unresolvedQualifier struct {
	file *file
	sel  *ast.SelectorExpr
	name string
}
