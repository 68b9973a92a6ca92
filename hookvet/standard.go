package hookvet

import (
	_ "embed" // for standard.txt
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// standardText has the functions and methods of the standard library that change their first argument, or their
// receiver, in place, as far as hooks are likely to use them on a payload. A line has the package or the type, and the
// names. A star matches any end of a name, and the names after "but" are exceptions.
//
//go:embed standard.txt
var standardText string

var standardChangers = func() map[string][2][]string {
	changers := map[string][2][]string{}
	for line := range strings.Lines(standardText) {
		of, names, _ := strings.Cut(line, ": ")
		names, but, _ := strings.Cut(names, " but ")
		changers[of] = [2][]string{strings.Fields(names), strings.Fields(but)}
	}
	return changers
}()

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
	names := standardChangers[of]
	return !slices.Contains(names[1], fn.Name()) && slices.ContainsFunc(names[0], func(name string) bool {
		begin, open := strings.CutSuffix(name, "*")
		return name == fn.Name() || open && strings.HasPrefix(fn.Name(), begin)
	})
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
	return call.Args[0], r.qualified(fn.Pkg(), fn.Name())
}
