package gen

import (
	_ "embed" // for point.go.tmpl
	"fmt"
	"go/format"
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
	if text, ok := e.laws[l.shape()]; ok {
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
	e.laws[l.shape()] = text
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
