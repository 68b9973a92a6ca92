package gen

import "go/ast"

// locks are the types of the standard library that go vet refuses to copy, by import path.
var locks = map[string]map[string]bool{
	"sync":        words("Cond Map Mutex Once Pool RWMutex WaitGroup"),
	"sync/atomic": words("Bool Int32 Int64 Pointer Uint32 Uint64 Uintptr"),
}

// checkLock looks for locks that generated code would copy. Go vet would report each of them about ten times there. It
// follows types that the package declares.
func checkLock(r *specInfo, report report) {
	finder := &lockFinder{specInfo: r, imports: fileImports{}, known: map[*declaration]string{}}
	for _, t := range r.usedTypes() {
		if lock := finder.lockIn(t.expr, r.file); lock != "" {
			report(t.expr.Pos(), "%s holds %s, which generated code would copy: hold a pointer", t.inside, lock)
		}
	}
}

// A lockFinder searches types for locks, each declared type once.
type lockFinder struct {
	*specInfo
	imports fileImports
	known   map[*declaration]string // what lockIn returned for declared types
}

// lockIn returns the name of a lock that is part of a type in a file, or "".
func (l *lockFinder) lockIn(expr ast.Expr, f *file) string {
	switch t := expr.(type) {
	case *ast.ParenExpr:
		return l.lockIn(t.X, f)
	case *ast.IndexExpr:
		return l.lockIn(t.X, f)
	case *ast.IndexListExpr:
		return l.lockIn(t.X, f)
	case *ast.ArrayType:
		if t.Len != nil {
			return l.lockIn(t.Elt, f)
		}
	case *ast.StructType:
		for _, field := range t.Fields.List {
			if lock := l.lockIn(field.Type, f); lock != "" {
				return lock
			}
		}
	case *ast.SelectorExpr:
		return l.lock(t, f)
	case *ast.Ident:
		d := l.scope[t.Name]
		if d == nil || d.spec == nil {
			return ""
		}
		lock, met := l.known[d]
		if !met {
			l.known[d] = "" // in case the type contains itself, which the compiler reports
			lock = l.lockIn(d.spec.Type, d.file)
			l.known[d] = lock
		}
		return lock
	}
	return ""
}

// lock returns the name of a type of another package if it is a lock, or "".
func (l *lockFinder) lock(sel *ast.SelectorExpr, f *file) string {
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	if lines := l.imports.of(f, x.Name); len(lines) == 1 && locks[lines[0].path][sel.Sel.Name] {
		return x.Name + "." + sel.Sel.Name
	}
	return ""
}
