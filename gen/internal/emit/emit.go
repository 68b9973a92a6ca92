// Package emit generates the Go source of a spec: [Hooks] the registries of its points, and [Wire] the functions for
// hooks of other processes.
//
// jennifer makes the declarations. The loop over the hooks of a point is in point.go.tmpl, which reads like its output.
// Each point is rendered and formatted on its own.
package emit

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"strings"
	"sync"

	"github.com/dave/jennifer/jen"
	"github.com/hookgen/hookgen/gen/model"
)

// The import paths of the runtime: the package for users, and the package for generated code.
const (
	kit  = "github.com/hookgen/hookgen/hookkit"
	impl = kit + "/hookimpl"
)

// Hooks returns the source of the file with the registries. The source is gofmt-clean, and equal on every machine.
//
// The file begins with the API: Hooks, the types of each point, exits, and the names of the spec. The machinery of the
// points is behind it, and the guard, which refuses a stale file, is last.
func Hooks(s *model.Spec, to model.Output, header string) ([]byte, error) {
	e := newEmitter(s, to)
	points, err := e.points()
	if err != nil {
		return nil, err
	}
	sections, err := e.sections(header, e.hooks, e.exits, e.exports, e.shared, e.guard)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	paragraph(&out, sections[0], sections[1])
	for _, p := range points {
		paragraph(&out, p.api)
	}
	paragraph(&out, sections[2:5]...)
	for _, p := range points {
		paragraph(&out, p.machinery)
	}
	paragraph(&out, sections[5])
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// An emitter generates the code for one spec.
type emitter struct {
	spec  *model.Spec
	to    model.Output
	paths map[string]string // the spec's qualifiers to import paths
	names map[string]string // import paths to the generated file's qualifiers
	taken map[string]bool   // names of the spec's package, and qualifiers
}

// separate reports whether the output is a package of its own, not the spec's package.
func (e *emitter) separate() bool { return e.to.SpecPath != "" }

// A pointText is the code of one point: its part of the API, and its machinery.
type pointText struct{ api, machinery string }

// points returns the code of each point. They are rendered concurrently.
func (e *emitter) points() ([]pointText, error) {
	texts, errs := make([]pointText, len(e.spec.Points)), make([]error, len(e.spec.Points))
	var rendering sync.WaitGroup
	for i, p := range e.spec.Points {
		rendering.Go(func() { texts[i], errs[i] = e.point(p) })
	}
	rendering.Wait()
	return texts, errors.Join(errs...)
}

// sections renders the parts of the file that do not belong to one point. The first section is the head of the file:
// header, package clause and imports.
func (e *emitter) sections(header string, parts ...func(*jen.File)) ([]string, error) {
	f := e.file()
	f.HeaderComment(header)
	e.packageComment(f)
	for _, add := range parts {
		f.Comment(section)
		add(f)
	}
	var raw bytes.Buffer
	if err := f.Render(&raw); err != nil {
		return nil, err
	}
	var texts []string
	for _, part := range bytes.Split(raw.Bytes(), sectionLine) {
		text, err := formatted(part)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// section separates the parts of the file, which are formatted one by one. A comment of a spec cannot contain this
// line, because comments get a blank after the slashes and string literals are written on one line.
const section = "//hookgen:section"

// sectionLine is section at the beginning of a line.
var sectionLine = []byte("\n" + section)

// render returns the unformatted code that add emits, without header and imports.
func (e *emitter) render(add func(*jen.File)) ([]byte, error) {
	f := e.file()
	f.Comment(section)
	add(f)
	var b bytes.Buffer
	err := f.Render(&b)
	_, raw, _ := bytes.Cut(b.Bytes(), sectionLine)
	return raw, err
}

// file returns a jennifer file that knows the import names and leaves formatting to us.
func (e *emitter) file() *jen.File {
	f := jen.NewFile(e.to.Package)
	f.NoFormat = true
	importNames(f, e.names)
	return f
}

// packageComment documents a generated package of its own.
func (e *emitter) packageComment(f *jen.File) {
	if !e.separate() {
		return
	}
	f.PackageComment(fmt.Sprintf("// Package %s holds the typed registries of the fire points that package %s declares.",
		e.to.Package, e.spec.Package))
	if doc := docLines(e.spec.Doc); len(doc) > 0 {
		for _, line := range append([]string{"//", "// Of that package:", "//"}, doc...) {
			f.PackageComment(line)
		}
	}
}

// paragraph appends texts, with a blank line before each that has one.
func paragraph(out *bytes.Buffer, texts ...string) {
	for _, text := range texts {
		if text == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n\n")
		}
		out.WriteString(text)
	}
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
