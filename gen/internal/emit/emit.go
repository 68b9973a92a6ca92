// Package emit generates the Go source of a spec: [Hooks] the registries of its points, and [Wire] the functions for
// hooks of other processes.
//
// The code is in three templates, which read like their output: hooks.go.tmpl has the parts that do not belong to one
// point, point.go.tmpl the API of a point, and machinery.go.tmpl the loop over its hooks. Go code chooses names, and
// breaks lists that names could make long. Each point is rendered and formatted on its own.
package emit

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/hookgen/hookgen/gen/model"
)

// The import paths of the runtime: the package for users, and the package for generated code.
const (
	kit  = "github.com/hookgen/hookgen/hookkit"
	impl = kit + "/hookimpl"
)

//go:embed *.tmpl
var templateFiles embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"lines": docText, "head": docHead, "deprecation": deprecation, "literal": literal,
		"flat":            func(text string) string { return strings.Join(strings.Fields(text), " ") },
		"join":            func(names []string) string { return strings.Join(names, ", ") },
		"field":           func(p model.Parent) string { return ParentField(p.Import.Name) },
		"runtimeConstant": func() string { return RuntimeConstant },
	}).ParseFS(templateFiles, "*.tmpl"))
})

// Hooks returns the source of the file with the registries. The source is gofmt-clean, and equal on every machine.
//
// The file begins with the API: Hooks, the types of each point, exits, and the names of the spec. The machinery of the
// points is behind it, and the guard, which refuses a stale file, is last.
func Hooks(s *model.Spec, to model.Output, header string) ([]byte, error) {
	e := newEmitter(s, to, header)
	e.PackageComment = e.packageComment()
	points := make([]*pointEmitter, len(s.Points))
	for i, p := range s.Points {
		points[i] = e.point(p)
	}
	own := []string{"hooks", "exits", "exports", "shared", "guard"}
	if !e.Separate() {
		own = slices.DeleteFunc(own, func(name string) bool { return name == "exports" })
	}
	var failures []error
	text := map[string]string{}
	for _, name := range append(own, "head") { // the head is last, when all imports are known
		var err error
		text[name], err = render(name, e)
		failures = append(failures, err)
	}
	apis, machineries := make([]string, len(points)), make([]string, len(points))
	errs := make([]error, 2*len(points))
	var rendering sync.WaitGroup
	for i, p := range points {
		rendering.Go(func() {
			apis[i], errs[2*i] = render("api", p)
			machineries[i], errs[2*i+1] = render("machinery", p)
		})
	}
	rendering.Wait()
	if err := errors.Join(append(failures, errs...)...); err != nil {
		return nil, err
	}
	parts := slices.Concat([]string{text["head"], text["hooks"]}, apis,
		[]string{text["exits"], text["exports"], text["shared"]}, machineries, []string{text["guard"]})
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return []byte(strings.Join(parts, "\n\n") + "\n"), nil
}

// Wire returns the source of the file with the functions that connect hooks of other processes. It is as small for many
// points as for few, because the functions reach the points by the method Points of Hooks.
func Wire(s *model.Spec, to model.Output, header string) ([]byte, error) {
	e := newEmitter(s, to, header)
	e.names, e.used = map[string]string{"context": "context"}, map[string]bool{"context": true}
	text, err := render("wire", e)
	if err != nil {
		return nil, err
	}
	head, err := render("head", e)
	return []byte(head + "\n\n" + text + "\n"), err
}

// WireName returns the qualifier of a package below the runtime, and imports it.
func (e *emitter) WireName(below string) string {
	name := path.Base(below)
	for e.taken[name] {
		name += "_"
	}
	e.names[kit+"/"+below] = name
	return e.Use(kit + "/" + below)
}

// render executes a template, fills its comments and formats the result.
func render(name string, data any) (string, error) {
	var text strings.Builder
	if err := templates().ExecuteTemplate(&text, name, data); err != nil {
		return "", err
	}
	return formatted([]byte(filled(text.String())))
}

// An emitter generates the code for one spec. Its exported fields and methods are those of the templates.
type emitter struct {
	Spec           *model.Spec
	To             model.Output
	Header         string // the first lines of the file
	PackageComment string
	paths          map[string]string // the spec's qualifiers to import paths
	names          map[string]string // import paths to the generated file's qualifiers
	used           map[string]bool   // the import paths that the generated file needs
	taken          map[string]bool   // names of the spec's package, and qualifiers
}

// Separate reports whether the output is a package of its own, not the spec's package.
func (e *emitter) Separate() bool { return e.To.SpecPath != "" }

// Use imports a package and returns its qualifier.
func (e *emitter) Use(path string) string {
	e.used[path] = true
	return e.names[path]
}

// ImportLines returns the imports that are used.
func (e *emitter) ImportLines() string {
	var lines strings.Builder
	for _, p := range slices.Sorted(maps.Keys(e.used)) {
		if name := e.names[p]; name != path.Base(p) {
			lines.WriteString(name + " ")
		}
		fmt.Fprintf(&lines, "%q\n", p)
	}
	return lines.String()
}

// packageComment documents a generated package of its own.
func (e *emitter) packageComment() string {
	if !e.Separate() {
		return ""
	}
	text := fmt.Sprintf("// Package %s holds the typed registries of the fire points that package %s declares.\n",
		e.To.Package, e.Spec.Package)
	if doc := docText(e.Spec.Doc); doc != "" {
		text += "//\n// Of that package:\n//\n" + doc
	}
	return text
}

// Parent returns the qualifier of the first package that the spec extends, or "".
func (e *emitter) Parent() string {
	if len(e.Spec.Parents) == 0 {
		return ""
	}
	return e.Use(e.Spec.Parents[0].Import.Path)
}

// Env returns the environment of runs.
func (e *emitter) Env() string {
	if e.Spec.Env.IsZero() {
		return "struct{}"
	}
	return e.Type(e.Spec.Env)
}

// A keyOption is the option of one key, with its points.
type keyOption struct {
	model.Key[model.Type]
	Points []string
}

// Keys returns the key options in the order of the spec.
func (e *emitter) Keys() []*keyOption {
	var all []*keyOption
	byName := map[string]*keyOption{}
	for _, p := range e.Spec.Points {
		if p.Key.IsZero() {
			continue
		}
		option := byName[p.Key.Name]
		if option == nil {
			option = &keyOption{Key: p.Key}
			byName[p.Key.Name] = option
			all = append(all, option)
		}
		option.Points = append(option.Points, p.Name)
	}
	return all
}

// Legal returns the points of each exit.
func (e *emitter) Legal() map[string][]string {
	legal := map[string][]string{}
	for _, p := range e.Spec.Points {
		for _, x := range p.Exits {
			legal[x] = append(legal[x], p.Name)
		}
	}
	return legal
}

// formatted formats code until gofmt no longer changes it. One pass is not always enough for a comment with a list:
// gofmt inserts a blank line after the list, and then the next line can look like a heading.
func formatted(code []byte) (string, error) {
	// gofmt lays out a comment that begins a line; it puts something before the first.
	text, err := format.Source(append([]byte("\n"), code...))
	for range 4 {
		if err != nil || !bytes.Contains(text, []byte("\n//\n")) {
			break
		}
		before := text
		if text, err = format.Source(before); bytes.Equal(before, text) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("the generated code does not parse: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
