package export

import (
	"go/token"
	"go/types"
)

// The interfaces that encoding/json looks for.
var (
	marshaler     = method("MarshalJSON", bytesType, errorType)
	textMarshaler = method("MarshalText", bytesType, errorType)
	isZeroer      = method("IsZero", types.Typ[types.Bool])
)

var (
	bytesType = types.NewSlice(types.Typ[types.Byte])
	errorType = types.Universe.Lookup("error").Type()
)

// method returns an interface with one method without parameters.
func method(name string, results ...types.Type) *types.Interface {
	var vars []*types.Var
	for _, r := range results {
		vars = append(vars, types.NewParam(token.NoPos, nil, "", r))
	}
	signature := types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(vars...), false)
	f := types.NewFunc(token.NoPos, nil, name, signature)
	return types.NewInterfaceType([]*types.Func{f}, nil).Complete()
}

func implements(t types.Type, i *types.Interface) bool { return types.Implements(t, i) }

// qualifiedName returns the import path and name of a declared type, or "".
func qualifiedName(t types.Type) string {
	if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Pkg() != nil {
		return named.Obj().Pkg().Path() + "." + named.Obj().Name()
	}
	return ""
}
