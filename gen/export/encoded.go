package export

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/types/typeutil"
)

// encodings finds the types of a package that encode themselves as another struct, by a method such as
//
//	func (c Call) MarshalJSON() ([]byte, error) {
//		e := encodedCall{ID: c.ID}
//		return json.Marshal(e)
//	}
//
// Every return of the method must be such a call for the same type, or an error. The JSON of Call is then that of
// encodedCall. Other methods MarshalJSON may write anything.
func encodings(p *packages.Package) map[*types.TypeName]*types.Named {
	found := map[*types.TypeName]*types.Named{}
	for _, file := range p.Syntax {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Body == nil || f.Name.Name != "MarshalJSON" {
				continue
			}
			method, ok := p.TypesInfo.Defs[f.Name].(*types.Func)
			if !ok {
				continue
			}
			named, ok := method.Signature().Recv().Type().(*types.Named)
			if !ok || named.TypeParams() != nil {
				continue // encoding/json does not always call a method of a pointer
			}
			if encoded := encodedType(p.TypesInfo, f.Body); encoded != nil {
				found[named.Obj()] = encoded
			}
		}
	}
	return found
}

// encodedType returns the struct type that a method MarshalJSON encodes, or nil if that is not certain.
func encodedType(info *types.Info, body *ast.BlockStmt) *types.Named {
	var encoded *types.Named
	certain := true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // its returns are not those of the method
		case *ast.ReturnStmt:
			if len(n.Results) == 2 && info.Types[n.Results[0]].IsNil() && !info.Types[n.Results[1]].IsNil() {
				return true
			}
			t := marshaledType(info, n)
			certain = certain && t != nil && (encoded == nil || types.Identical(encoded, t))
			encoded = t
		}
		return true
	})
	if !certain || encoded == nil || implements(types.NewPointer(encoded), marshaler) ||
		implements(types.NewPointer(encoded), textMarshaler) {
		return nil
	}
	return encoded
}

// marshaledType returns the declared struct type of x in a statement return json.Marshal(x), or nil for others.
func marshaledType(info *types.Info, statement *ast.ReturnStmt) *types.Named {
	if len(statement.Results) != 1 {
		return nil
	}
	call, ok := statement.Results[0].(*ast.CallExpr)
	if !ok {
		return nil
	}
	if f := typeutil.StaticCallee(info, call); f == nil || f.FullName() != "encoding/json.Marshal" {
		return nil
	}
	t := types.Unalias(info.TypeOf(call.Args[0]))
	if pointer, ok := t.(*types.Pointer); ok {
		t = types.Unalias(pointer.Elem())
	}
	named, _ := t.(*types.Named)
	if _, ok := t.Underlying().(*types.Struct); !ok {
		return nil
	}
	return named
}
