package gen

import (
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// The names of parameters, results and variables in generated code must not hide a type or an import of the spec. A
// name that comes from the spec gets another word or underscores for one point: matchParams, paramName. The emitter's
// own names get a suffix, in the formatted code of a law: renameLocals.

// members are the unexported fields and methods of generated types. They cannot hide a type, so renameLocals leaves
// these names alone.
var members = map[string]bool{
	"fire": true, "level": true, "runHooks": true, "isExit": true,
}

// freeSuffix returns a suffix of underscores that no taken name has.
func freeSuffix(taken map[string]bool) string {
	suffix := "_"
	for name := range taken {
		for strings.HasSuffix(name, suffix) {
			suffix += "_"
		}
	}
	return suffix
}

// renameLocals appends the suffix to local names that are also taken by the spec. For example, if the spec declares a
// type hook, the variable hook becomes hook_. Local names are identifiers without a qualifier that begin with a
// lower-case letter, except members, and the type parameters P and R.
func renameLocals(code string, taken map[string]bool, suffix string) string {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(code))
	s.Init(file, []byte(code), nil, 0)
	var out strings.Builder
	done, selector := 0, false
	for {
		pos, tok, name := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.IDENT && !selector && taken[name] && !members[name] &&
			(name[0] >= 'a' && name[0] <= 'z' || name == "P" || name == "R") {
			end := file.Offset(pos) + len(name)
			out.WriteString(code[done:end] + suffix)
			done = end
		}
		selector = tok == token.PERIOD
	}
	if done == 0 {
		return code
	}
	return out.String() + code[done:]
}

// matchParams returns the parameter names of a Match function, one for each exit.
func matchParams(exits []string, taken map[string]bool, suffix string) []string {
	used := map[string]bool{}
	for _, name := range []string{"exit", "none", "x"} {
		used[name] = true
		used[name+suffix] = taken[name] // see renameLocals
	}
	params := make([]string, len(exits))
	for i, name := range exits {
		param := lowerFirst(name)
		for used[param] || taken[param] || token.IsKeyword(param) || predeclared[param] || builtins[param] ||
			imported[param] {
			param += "_"
		}
		used[param], params[i] = true, param
	}
	return params
}

// paramName returns the name of the payload parameter in exported signatures. It is the name in the spec, unless that
// would collide with another name.
func (e *emitter) paramName(p *Point) string {
	if p.Param == "" || p.Param == "_" || slices.Contains(paramNames, p.Param) || imported[p.Param] || e.taken[p.Param] {
		name := "payload"
		for e.taken[name] {
			name += "_"
		}
		return name
	}
	return p.Param
}

// paramNames are the other parameters in exported signatures.
var paramNames = []string{"ctx", "run", "f", "h", "p", "act", "next", "when", "reason", "exit", "by", "bys",
	"collected", "err", "result", "returned"}

// imported are the qualifiers that every generated file has.
var imported = map[string]bool{"context": true, "io": true, "hookkit": true, "hookimpl": true}
