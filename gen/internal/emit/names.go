package emit

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
	"github.com/hookgen/hookgen/gen/model"
)

// locals are the names of parameters, results, variables and type parameters in generated functions. If a type of a
// point has one, the functions use an alias of the type.
var locals = func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(`P R act answer at better both by bys call collected ctx current env err exit f
		failure fired h handle hooks i inFire inner inv k key layer leading more n name next none now o opts other out outer
		own p payload point points rank reason recorded reply result returned run s snap staged state stop t values w x`) {
		set[name] = true
	}
	return set
}()

// fixedImports are the qualifiers that every generated file may have.
var fixedImports = map[string]string{"context": "context", "io": "io", kit: "hookkit", impl: "hookimpl"}

// newEmitter chooses the qualifiers of the imports.
func newEmitter(s *model.Spec, to model.Output) *emitter {
	e := &emitter{spec: s, to: to, paths: map[string]string{s.SpecPkg.Name: s.SpecPkg.Path},
		names: map[string]string{}, taken: map[string]bool{}}
	used := map[string]bool{"err": true} // jennifer imports nothing under this name
	for path, name := range fixedImports {
		e.names[path], used[name] = name, true
	}
	name := func(path, qualifier string) {
		if e.names[path] != "" {
			return
		}
		base := qualifier
		// jennifer would rename a reserved word
		for n := 2; used[qualifier] || jen.IsReservedWord(qualifier) || qualifier != base && e.taken[qualifier]; n++ {
			qualifier = fmt.Sprint(base, n)
		}
		used[qualifier], e.names[path] = true, qualifier
		e.taken[qualifier] = true
	}
	for _, name := range s.Declared {
		e.taken[name] = true
	}
	name(s.SpecPkg.Path, "spec")
	if e.separate() {
		for _, x := range s.Exports {
			for _, p := range x.Params {
				used[p.Name] = true // in type Box[mail any] = mail.Box[mail], the parameter would hide the import
			}
		}
		name(to.SpecPath, s.Package)
	}
	for _, i := range s.Imports {
		e.paths[i.Name] = i.Path
		name(i.Path, i.Name)
	}
	return e
}

// importNames tells jennifer the names of imports by their paths.
func importNames(f *jen.File, names map[string]string) {
	for p, name := range names {
		if path.Base(p) == name {
			f.ImportName(p, name)
		} else {
			f.ImportAlias(p, name)
		}
	}
}

// hidden reports whether a local name of generated functions would hide a name in the type.
func (e *emitter) hidden(t model.Type) bool {
	found := false
	model.EachName(t.Expr, func(name *ast.Ident) { found = found || locals[name.Name] })
	ast.Inspect(t.Expr, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			q, _ := sel.X.(*ast.Ident)
			found = found || q != nil && locals[e.names[e.paths[q.Name]]]
		}
		return !found
	})
	return found
}

// matchParams returns the parameter names of a Match function, one for each exit.
func (e *emitter) matchParams(exits []string) []string {
	used := map[string]bool{"exit": true, "none": true, "x": true}
	params := make([]string, len(exits))
	for i, name := range exits {
		param := LowerFirst(name)
		for used[param] || e.taken[param] || imported(param) ||
			token.IsKeyword(param) || types.Universe.Lookup(param) != nil {
			param += "_"
		}
		used[param], params[i] = true, param
	}
	return params
}

// imported reports whether a name is one of fixedImports.
func imported(name string) bool {
	return slices.Contains(slices.Collect(maps.Values(fixedImports)), name)
}

// paramName returns the name of the payload parameter in exported signatures. It is the name in the spec, unless that
// would collide with another name.
func (e *emitter) paramName(p *model.Point) string {
	if p.Param == "" || p.Param == "_" || slices.Contains(paramNames, p.Param) || imported(p.Param) || e.taken[p.Param] {
		name := "payload"
		for e.taken[name] {
			name += "_"
		}
		return name
	}
	return p.Param
}

// paramNames are the other parameters in exported signatures.
var paramNames = []string{"ctx", "run", "f", "h", "p", "act", "next", "reason", "exit", "by", "bys", "collected", "err",
	"result", "returned"}

// ParentField returns the field of Hooks that holds the points of an extended package, for example Agent for package
// agent.
func ParentField(qualifier string) string {
	r, n := utf8.DecodeRuneInString(qualifier)
	return string(unicode.ToUpper(r)) + qualifier[n:]
}

// LowerFirst returns a name with a lower-case first letter.
func LowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}
