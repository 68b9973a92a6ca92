package gen

import (
	"bytes"
	"fmt"
	"go/format"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/dave/jennifer/jen"
)

// An Output says what is made of a spec.
type Output struct {
	Package  string // the name of the generated package
	SpecPath string // the import path of the spec's package; "" to generate into that package itself
}

// Emit returns the Go source for a spec that was read without an error: gofmt-clean, and the same bytes for the
// same spec on every machine.
func Emit(s *Spec, to Output) ([]byte, error) {
	e := newEmitter(s, to)
	pieces := newPieces(e)
	for _, add := range []func(*jen.File){e.guard, e.run, e.exits, e.hooks} {
		pieces.once(add)
	}
	e.exports(pieces)
	for _, p := range s.List {
		pieces.point(p)
	}
	text, err := pieces.format()
	if err != nil {
		return nil, fmt.Errorf("%s: cannot emit: %w", s.File, err)
	}
	return text, nil
}

// kit is the import path of the runtime.
const kit = "github.com/hookgen/hookgen/hookkit"

// An emitter turns one spec into code.
type emitter struct {
	spec  *Spec
	to    Output
	paths map[string]string // the spec's qualifiers to import paths
	names map[string]string // import paths to the generated file's qualifiers
}

func newEmitter(s *Spec, to Output) *emitter {
	e := &emitter{spec: s, to: to, paths: map[string]string{s.SpecPkg.Name: s.SpecPkg.Path},
		names: map[string]string{"context": "context", "io": "io", kit: "hookkit"}}
	used := map[string]bool{"context": true, "io": true, "hookkit": true}
	name := func(path, qualifier string) {
		if e.names[path] != "" {
			return
		}
		if slices.Contains(locals, qualifier) || slices.Contains(inner, qualifier) {
			qualifier += "pkg"
		}
		base := qualifier
		for n := 2; used[qualifier]; n++ {
			qualifier = fmt.Sprint(base, n)
		}
		used[qualifier], e.names[path] = true, qualifier
	}
	name(s.SpecPkg.Path, "spec")
	if e.apart() {
		name(to.SpecPath, s.Package)
	}
	for _, i := range s.Imports {
		e.paths[i.Name] = i.Path
		name(i.Path, i.Name)
	}
	return e
}

// apart reports whether the generated package is not the spec's own.
func (e *emitter) apart() bool { return e.to.SpecPath != "" }

// file starts a file: header, package comment, import names.
func (e *emitter) file() *jen.File {
	f := jen.NewFile(e.to.Package)
	f.NoFormat = true
	f.HeaderComment(Header)
	if e.apart() {
		f.PackageComment(fmt.Sprintf("// Package %s holds the typed registries of the fire points that package %s declares.", e.to.Package, e.spec.Package))
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

// section is the comment that parts what is formatted apart. No line of what a spec says can be it: comments have a
// blank behind their slashes, and strings are in one line.
const section = "//hookgen:section"

// sectionLine is that comment at the beginning of a line, where nothing else can begin with it.
var sectionLine = []byte("\n" + section)

// pieces are the parts of a file, each formatted for itself, side by side: formatting is what costs.
type pieces struct {
	e     *emitter
	main  *jen.File
	casts []cast
	todo  []*piece
}

// A piece is raw source that is formatted once.
type piece struct {
	raw, text []byte
	err       error
}

func newPieces(e *emitter) *pieces { return &pieces{e: e, main: e.file()} }

// once adds a section to the main part.
func (ps *pieces) once(add func(*jen.File)) {
	ps.main.Comment(section)
	add(ps.main)
}

// alone adds a piece that is formatted for itself.
func (ps *pieces) alone(add func(*jen.File)) {
	p := &piece{raw: ps.e.raw(add)}
	ps.todo = append(ps.todo, p)
	ps.casts = append(ps.casts, cast{alone: p})
}

// format renders and formats all pieces and puts them together.
func (ps *pieces) format() ([]byte, error) {
	ps.main.Comment(section)
	if len(ps.e.spec.List) > 0 {
		ps.main.Var().Id("_").Qual("context", "Context") // for the import; what follows the last section is dropped
	}
	var raw bytes.Buffer
	if err := ps.main.Render(&raw); err != nil {
		return nil, err
	}
	sections := bytes.Split(raw.Bytes(), sectionLine)
	sections = sections[:len(sections)-1]
	todo := ps.todo
	for _, s := range sections {
		todo = append(todo, &piece{raw: s})
	}
	if err := formatAll(todo); err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(make([]byte, 0, 1<<16))
	for _, p := range todo[len(ps.todo):] {
		paragraph(out, string(p.text))
	}
	for _, c := range ps.casts {
		c.write(out)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// paragraph adds text, parted from what stands before by a blank line.
func paragraph(out *bytes.Buffer, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	if out.Len() > 0 {
		out.WriteString("\n\n")
	}
	out.WriteString(text)
}

// formatAll formats the pieces side by side.
func formatAll(todo []*piece) error {
	var wg sync.WaitGroup
	next := make(chan *piece, len(todo))
	for _, p := range todo {
		next <- p
	}
	close(next)
	for range 4 {
		wg.Go(func() {
			for p := range next {
				// gofmt lays out a comment that begins a line; it puts something before the first.
				p.text, p.err = format.Source(append([]byte("\n"), p.raw...))
				// What gofmt makes of a comment with lists can still be changed by gofmt: a line after a list that it
				// parts from it can look like a heading then.
				for range 4 {
					if p.err != nil || !bytes.Contains(p.text, []byte("\n//\n")) {
						break
					}
					before := p.text
					if p.text, p.err = format.Source(before); bytes.Equal(before, p.text) {
						break
					}
				}
			}
		})
	}
	wg.Wait()
	for _, p := range todo {
		if p.err != nil {
			return fmt.Errorf("the generated code does not parse: %w", p.err)
		}
	}
	return nil
}

// locals are the names that stand beside a payload parameter in generated functions.
var locals = []string{
	"ctx", "run", "f", "w", "h", "c", "v", "out", "both", "values", "own", "next", "reason", "p", "s", "a", "act", "answer",
	"err", "returned", "result", "failure", "n", "when", "ok",
	"any", "error", "bool", "string", "int", "nil", "true", "false", "len", "recover", "append", "new",
	"context", "io", "hookkit", "exit", "collected",
}

// inner are the further names that stand in functions which mention types of the spec.
var inner = []string{
	"at", "payload", "i", "hooks", "exit", "collected", "fired", "o", "leads", "r", "rank", "best", "had", "k", "t", "child",
	"staging", "opts", "desc", "points", "env", "to", "value", "do", "plan", "watch", "hook",
}

// docLines returns a comment as lines of a line comment. No text can leave it.
func docLines(doc string) []string {
	doc = strings.TrimSpace(doc)
	if doc == "" {
		return nil
	}
	lines := strings.Split(doc, "\n")
	for i, l := range lines {
		l = strings.TrimRight(strings.Map(printable, l), " \t")
		switch {
		case l == "":
			lines[i] = "//"
		case strings.HasPrefix(strings.TrimSpace(l), "+build"), strings.HasPrefix(l, "go:"), strings.HasPrefix(l, "hookgen:"), strings.HasPrefix(l, "line "):
			lines[i] = "// - " + l // prose that a tool could take for a directive
		case l[0] == '\t':
			lines[i] = "//" + l
		default:
			lines[i] = "// " + l
		}
	}
	return lines
}

// printable drops what would end a line comment or hide in it.
func printable(r rune) rune {
	if r == '\r' || r == '\u2028' || r == '\u2029' || r == 0 || r == '\ufeff' {
		return -1
	}
	return r
}

// comment adds lines of a comment, each with its "// ".
func comment(g interface{ Comment(string) *jen.Statement }, lines ...string) {
	for _, l := range lines {
		if !strings.HasPrefix(l, "//") {
			l = strings.TrimRight("// "+l, " ")
		}
		g.Comment(l)
	}
}
