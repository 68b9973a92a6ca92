package gen

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"path"
	"strings"
	"sync"

	"github.com/dave/jennifer/jen"
)

// An Output is the destination of the generated code: its package, and whether that is the spec's own package.
type Output struct {
	Package  string // the name of the generated package
	SpecPath string // the import path of the spec's package; "" to generate into that package itself
	Source   string // what the header names the spec; "" to leave it out
}

// Emit returns the Go source for a spec that was read without an error. The source is gofmt-clean, and equal on every
// machine.
//
// The file begins with the API: the guard, Run, exits, Hooks, and the types of each point. The machinery of the points
// is at the end.
func Emit(s *Spec, to Output) ([]byte, error) {
	e := newEmitter(s, to)
	text, err := e.emit()
	if err != nil {
		return nil, fmt.Errorf("%s: cannot emit: %w", s.File, err)
	}
	return text, nil
}

// The import paths of the runtime: the package for users, and the package for generated code.
const (
	kit  = "github.com/hookgen/hookgen/hookkit"
	impl = kit + "/hookimpl"
)

// An emitter generates the code for one spec.
type emitter struct {
	spec  *Spec
	to    Output
	paths map[string]string // the spec's qualifiers to import paths
	names map[string]string // import paths to the generated file's qualifiers
	taken map[string]bool   // names that generated code must not use as local names

	suffix string // of local names that would be taken
	laws   map[shape]lawText
}

func newEmitter(s *Spec, to Output) *emitter {
	e := &emitter{spec: s, to: to, paths: map[string]string{s.SpecPkg.Name: s.SpecPkg.Path},
		names: map[string]string{"context": "context", "io": "io", kit: "hookkit", impl: "hookimpl"},
		taken: map[string]bool{}, laws: map[shape]lawText{}}
	used := map[string]bool{"context": true, "io": true, "hookkit": true, "hookimpl": true,
		"err": true} // jennifer imports nothing under this name
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
	e.suffix = freeSuffix(e.taken)
	return e
}

// separate reports whether the output is a package of its own, not the spec's package.
func (e *emitter) separate() bool { return e.to.SpecPath != "" }

// emit returns the formatted file.
func (e *emitter) emit() ([]byte, error) {
	main := e.file()
	for _, add := range []func(*jen.File){e.guard, e.run, e.exits, e.hooks} {
		main.Comment(section)
		add(main)
	}
	exports, err := e.exports(main)
	if err != nil {
		return nil, err
	}
	main.Comment(section)
	if len(e.spec.Points) > 0 {
		main.Var().Id("_").Qual("context", "Context") // for the import; the text after the last section is dropped
	}
	points, err := e.pointTexts()
	if err != nil {
		return nil, err
	}
	var raw bytes.Buffer
	if err := main.Render(&raw); err != nil {
		return nil, err
	}
	sections := bytes.Split(raw.Bytes(), sectionLine)
	size := raw.Len() + 1<<16
	for _, p := range points {
		size += len(p.api) + len(p.machinery)
	}
	out := bytes.NewBuffer(make([]byte, 0, size))
	for _, s := range sections[:len(sections)-1] {
		text, err := formatTwice(s)
		if err != nil {
			return nil, fmt.Errorf("the generated code does not parse: %w", err)
		}
		if folded := fold(string(text)); folded != string(text) { // which gofmt may align in another way
			if text, err = format.Source([]byte(folded)); err != nil {
				return nil, fmt.Errorf("the folded code does not parse: %w", err)
			}
		}
		paragraph(out, string(text))
	}
	for _, p := range points {
		paragraph(out, p.api)
	}
	for _, text := range exports {
		paragraph(out, text)
	}
	paragraph(out, banner+e.shared())
	for _, p := range points {
		paragraph(out, p.machinery)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// pointTexts returns the code of each point. Half of the time of hookgen is the substitution of names, so each point
// has a goroutine for it.
func (e *emitter) pointTexts() ([]lawText, error) {
	texts, errs := make([]lawText, len(e.spec.Points)), make([]error, len(e.spec.Points))
	var substituting sync.WaitGroup
	for i, p := range e.spec.Points {
		law, err := e.lawText(law{p.Law})
		if err != nil {
			errs[i] = err
			break
		}
		sub := e.substitution(p)
		substituting.Go(func() {
			var err error
			if texts[i], err = sub.apply(law); err != nil {
				errs[i] = fmt.Errorf("%s: the generated code does not parse: %w", p.Name, err)
			}
		})
	}
	substituting.Wait()
	return texts, errors.Join(errs...)
}

// banner separates the API from the machinery.
const banner = `// Machinery. Of what follows, programs use only the method Call of the Next types.
//
// Fire is small enough to be inlined, and calls runHooks only if something is registered. runHooks
// is the loop over the hooks of a snapshot. If there are observers or tracers, it calls itself and
// then notifies them. At an around point, it begins with the first hook, and Next.Call calls the
// next hook or the act.
//
// inv.Hook is the running hook, counted from 1, so that the deferred function knows after a panic
// which hook it was.

`

// shared returns the machinery that does not belong to one point.
func (e *emitter) shared() string {
	var b strings.Builder
	b.WriteString(`// HookgenLineage has a method for this package and for each package that it extends. Packages
// that extend this one use it.
type HookgenLineage[T any] interface {
`)
	var parents []string
	for _, p := range e.spec.Parents {
		fmt.Fprintf(&b, "\t%s.HookgenLineage[T]\n", e.names[p.Import.Path])
		parents = append(parents, p.Import.Path)
	}
	b.WriteString("\thookgenLineage(T)\n}\n")
	b.WriteString(`
// hookgenRegistry is embedded in each point for its methods. The name of the alias keeps the rest of it private.
type hookgenRegistry[D hookimpl.Description, H, F, O, OF, Option any] = hookimpl.PointRegistry[D, H, F, O, OF, Option]
`)
	if len(parents) < 2 {
		return b.String()
	}
	b.WriteString("\n" + fill("// If a method is declared twice below, two of "+joinOr(parents)+" contain the points of "+
		"the same package. The program would hold two copies of these points, and a hook on one would never be called by "+
		"the other. Embed one of the two in the spec, or let one extend the other.") + "\ntype _ interface {\n")
	for i, p := range e.spec.Parents {
		fmt.Fprintf(&b, "\t%s.HookgenLineage[[%d]int]\n", e.names[p.Import.Path], i+1)
	}
	b.WriteString("}\n")
	return b.String()
}

// file returns a jennifer file with the header, the package comment and the import names.
func (e *emitter) file() *jen.File {
	f := jen.NewFile(e.to.Package)
	f.NoFormat = true
	f.HeaderComment(header(e.spec, e.to))
	if e.separate() {
		f.PackageComment(fmt.Sprintf("// Package %s holds the typed registries of the fire points that package %s declares.",
			e.to.Package, e.spec.Package))
		if doc := docLines(e.spec.Doc); len(doc) > 0 {
			f.PackageComment("//")
			f.PackageComment("// Of that package:")
			f.PackageComment("//")
			for _, line := range doc {
				f.PackageComment(line)
			}
		}
	}
	for p, name := range e.names {
		if path.Base(p) == name {
			f.ImportName(p, name)
		} else {
			f.ImportAlias(p, name)
		}
	}
	return f
}

// section separates the parts of the main file, which are formatted one by one. A comment of a spec cannot contain this
// line, because comments get a blank after the slashes and string literals are written on one line.
const section = "//hookgen:section"

// sectionLine is section at the beginning of a line.
var sectionLine = []byte("\n" + section)

// render returns the unformatted code that add emits, without header and imports.
func (e *emitter) render(add func(*jen.File)) []byte {
	f := e.file()
	f.Comment(section)
	add(f)
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		return []byte(err.Error()) // jennifer fails only where it formats
	}
	_, raw, _ := bytes.Cut(b.Bytes(), sectionLine)
	return raw
}

// paragraph appends text after a blank line.
func paragraph(out *bytes.Buffer, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	if out.Len() > 0 {
		out.WriteString("\n\n")
	}
	out.WriteString(text)
}

// formatTwice formats code until gofmt no longer changes it. One pass is not always enough for a comment with a list:
// gofmt inserts a blank line after the list, and then the next line can look like a heading.
func formatTwice(code []byte) ([]byte, error) {
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
	return text, err
}
