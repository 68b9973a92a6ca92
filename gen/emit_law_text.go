package gen

import (
	_ "embed" // for point.go.tmpl
	"fmt"
	"go/format"
	"go/scanner"
	"go/token"
	"strings"
	"sync"
	"text/template"

	"github.com/dave/jennifer/jen"
)

//go:embed point.go.tmpl
var pointTemplate string

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("point").Parse(pointTemplate))
})

// A lawText is the formatted code for a law, with placeholders: the API of a point, and its machinery.
type lawText struct{ api, machinery string }

// lawText returns the code for a law. It renders the code on first use.
func (e *emitter) lawText(l law) (lawText, error) {
	if text, ok := e.laws[l]; ok {
		return text, nil
	}
	var text lawText
	var err error
	if text.api, err = e.formatted(string(e.render(func(f *jen.File) { emitAPI(f, l) }))); err != nil {
		return text, err
	}
	var machinery strings.Builder
	names := []string{"description", "fire"}
	if l.Around() {
		names[1] = "around"
	}
	for _, name := range names {
		if err := templates().ExecuteTemplate(&machinery, name, l); err != nil {
			return text, err
		}
	}
	text.machinery, err = e.formatted(machinery.String())
	e.laws[l] = text
	return text, err
}

// formatted formats code, and renames local names that collide with types or imports of the spec.
func (e *emitter) formatted(code string) (string, error) {
	text, err := format.Source([]byte(code))
	if err != nil {
		return "", fmt.Errorf("the generated code does not parse: %w", err)
	}
	return strings.TrimSpace(renameLocals(string(text), e.taken, e.suffix)), nil
}

// members are the unexported fields and methods of generated types. They cannot hide a type, so renameLocals leaves
// these names alone.
var members = map[string]bool{
	"state": true, "registry": true, "fire": true, "level": true, "runHooks": true, "isExit": true,
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
