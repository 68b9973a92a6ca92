package hookvet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// A changer is a set of functions or methods of the standard library that change their first argument, or their
// receiver, in place.
type changer struct {
	of       string   // the package, or the type as "net/http.Header"
	names    []string // also beginnings of names: "Write*"
	except   []string
	readings bool // names are those that do not change it
}

func (c changer) has(name string) bool {
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(n string) bool {
			begin, open := strings.CutSuffix(n, "*")
			return n == name || open && strings.HasPrefix(name, begin)
		})
	}
	return in(c.names) != c.readings && !in(c.except)
}

// standardChangers are the functions and types of the standard library that hooks are likely to use on a payload.
var standardChangers = []changer{
	{of: "sort", names: []string{"Slice", "SliceStable", "Sort", "Stable", "Strings", "Ints", "Float64s"}},
	{
		of:     "slices",
		names:  []string{"Sort*", "Reverse", "Delete", "DeleteFunc", "Compact", "CompactFunc", "Replace"},
		except: []string{"Sorted*"},
	},
	{of: "maps", names: []string{"Copy", "DeleteFunc", "Insert"}},
	{of: "net/http.Header", names: []string{"Add", "Del", "Set"}},
	{of: "net/textproto.MIMEHeader", names: []string{"Add", "Del", "Set"}},
	{of: "net/url.Values", names: []string{"Add", "Del", "Set"}},
	{of: "net/http.Request", names: []string{
		"AddCookie", "FormFile", "FormValue", "ParseForm", "ParseMultipartForm", "PostFormValue", "SetBasicAuth",
		"SetPathValue",
	}},
	{of: "bytes.Buffer", readings: true, names: []string{"Available", "AvailableBuffer", "Bytes", "Cap", "Len", "Peek",
		"String"}},
	{of: "strings.Builder", names: []string{"Grow", "Reset", "Write*"}},
	{of: "container/list.List", readings: true, names: []string{"Back", "Front", "Len"}},
	{of: "math/big.Int", names: bigChanges},
	{of: "math/big.Rat", names: bigChanges},
	{of: "math/big.Float", names: bigChanges},
	{of: "sync.Map", readings: true, names: []string{"Load", "Range"}},
}

// bigChanges are methods of the types of math/big that write to their receiver. Its other methods only read it.
var bigChanges = []string{
	"Abs", "Add", "And", "AndNot", "Binomial", "Copy", "Div", "DivMod", "Exp", "FillBytes", "GCD", "GobDecode", "Inv",
	"Lsh", "Mod", "ModInverse", "ModSqrt", "Mul", "MulRange", "Neg", "Not", "Or", "Parse", "Quo", "QuoRem", "Rand",
	"Rem", "Rsh", "Scan", "Set*", "Sqrt", "Sub", "UnmarshalJSON", "UnmarshalText", "Xor",
}

// changesInPlace reports whether the standard library says of a function or a method that it changes what it is called
// with.
func changesInPlace(fn *types.Func) bool {
	of := fn.Pkg().Path()
	if recv := fn.Signature().Recv(); recv != nil {
		named, ok := types.Unalias(deref(recv.Type())).(*types.Named)
		if !ok {
			return false
		}
		of += "." + named.Obj().Name()
	}
	return slices.ContainsFunc(standardChangers, func(c changer) bool { return c.of == of && c.has(fn.Name()) })
}

// changedInPlace returns the argument that a predeclared function, or a function or method of the standard library,
// changes in place, and the name of the function unless it is predeclared. The argument is nil for any other function.
func (r *reporter) changedInPlace(call *ast.CallExpr, fn *types.Func) (e ast.Expr, by string) {
	switch {
	case r.isBuiltin(call, "delete", "clear", "copy") && len(call.Args) > 0:
		return ast.Unparen(call.Args[0]), ""
	case r.isBuiltin(call, "append") && len(call.Args) > 0:
		// append(s[:i], ...) overwrites what follows.
		if s, ok := ast.Unparen(call.Args[0]).(*ast.SliceExpr); ok && s.High != nil && !s.Slice3 {
			return s.X, ""
		}
		return nil, ""
	case fn == nil || fn.Pkg() == nil || !changesInPlace(fn):
		return nil, ""
	case fn.Signature().Recv() != nil:
		x, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok || r.info.Selections[x] == nil || r.info.Selections[x].Kind() != types.MethodVal {
			return nil, ""
		}
		return x.X, fn.Name()
	case len(call.Args) == 0:
		return nil, ""
	}
	return call.Args[0], r.qualified(call.Pos(), fn.Pkg(), fn.Name())
}
