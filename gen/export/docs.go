package export

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// A place is a declared type or a field of one, for example Message.Parts. Fields of struct literals in it have a path.
type place struct {
	pkg  *types.Package
	name string
}

func (p place) field(name string) place { return place{p.pkg, p.name + "." + name} }

// declaration returns the place of a declared type, also of a pointer to it.
func declaration(t types.Type) place {
	if pointer, ok := types.Unalias(t).(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok {
		return place{named.Obj().Pkg(), named.Obj().Name()}
	}
	return place{}
}

// docs are the comments on the types of the spec's package and on their fields, by the names of places.
type docs struct {
	pkg      *types.Package
	comments map[string]string
}

// of returns the comment on a place, or "". Types of other packages have none.
func (d *docs) of(p place) string {
	if p.pkg != d.pkg {
		return ""
	}
	return d.comments[p.name]
}

// addComments adds the comments on the types of a file and on their fields.
func addComments(comments map[string]string, file *ast.File) {
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE {
			continue
		}
		for _, spec := range group.Specs {
			t := spec.(*ast.TypeSpec)
			doc := t.Doc
			if doc == nil && !group.Lparen.IsValid() {
				doc = group.Doc
			}
			addComment(comments, t.Name.Name, doc, t.Comment)
			addFieldComments(comments, t.Name.Name, t.Type)
		}
	}
}

// addFieldComments adds the comments on the fields of every struct in a type.
func addFieldComments(comments map[string]string, name string, node ast.Node) {
	ast.Inspect(node, func(n ast.Node) bool {
		body, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		for _, f := range body.Fields.List {
			for _, ident := range f.Names {
				addComment(comments, name+"."+ident.Name, f.Doc, f.Comment)
				addFieldComments(comments, name+"."+ident.Name, f.Type)
			}
		}
		return false
	})
}

// addComment adds the first comment that is there.
func addComment(comments map[string]string, name string, groups ...*ast.CommentGroup) {
	for _, g := range groups {
		if text := strings.TrimSpace(g.Text()); text != "" {
			comments[name] = text
			return
		}
	}
}
