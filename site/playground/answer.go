package playground

import (
	"fmt"
	"go/token"
	"maps"
	"path"
	"slices"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/breaking"
	"github.com/hookgen/hookgen/gen/page"
	"github.com/hookgen/hookgen/gen/summary"
)

// The names of the two files that a reader edits.
const (
	specFile = "spec.go"
	hookFile = "hook.go"
)

// Module is the path of the module that the spec is in. Its package has the path Module/NAME, with the name in the
// package clause.
const Module = "example.com/play"

// A Question is the request of the page whenever the text in it changes.
type Question struct {
	Spec string `json:"spec"` // the text of spec.go
	Hook string `json:"hook"` // the text of a file of another package, which imports the generated one; "" for none
	Old  string `json:"old"`  // an older version of the spec to compare with; "" for none
}

// An Answer has what hookgen, the compiler and hookgen breaking print. All texts are in the words of these commands.
type Answer struct {
	Import   string   `json:"import"`          // the path from which the hook imports the generated package
	API      string   `json:"api"`             // hooks_gen.go; "" if the spec is refused
	Wire     string   `json:"wire"`            // hooks_wire_gen.go; "" without //hookgen:wire
	Page     string   `json:"page"`            // the documentation of the spec, as Markdown
	Spec     []Note   `json:"specNotes"`       // why hookgen refuses the spec, or the compiler the package
	Hook     []Note   `json:"hookNotes"`       // why the compiler refuses the hook
	Changes  []Change `json:"changes"`         // since the older version, the worst first
	Problem  string   `json:"changesProblem"`  // why the versions cannot be compared; "" if they were
	Compared bool     `json:"changesCompared"` // there was an older version
}

// A Note is one message about a place in a file.
type Note struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // 0 for the whole file
	Column  int    `json:"col"`  // in bytes, from 1
	Message string `json:"message"`
	Rule    string `json:"rule"` // of hookgen; "" for a message of the compiler
}

// A Change is one difference between two versions of a spec.
type Change struct {
	Rule    string   `json:"rule"`
	Verdict string   `json:"verdict"`
	Points  []string `json:"points"`
	Message string   `json:"message"`
	Line    int      `json:"line"` // in the new version; 0 for none
}

// A Player answers questions. Its zero value answers without checking hooks. Its methods are not safe for concurrent
// use.
type Player struct {
	Exports *Exports // the packages that may be imported; nil refuses every import of a hook

	latest *specText // since many questions are about another hook for the same spec
}

// A specText is one text of the spec, and what hookgen makes of it.
type specText struct {
	text       string
	spec       *gen.Spec // nil if it cannot be read
	refused    []Note    // if hookgen refuses it
	importPath string
	files      map[string][]byte // with the generated ones
	page       string            // its documentation
}

// Answer generates, checks and compares. It never panics on any text: a failure of the generator is a note.
func (p *Player) Answer(q Question) (a Answer) {
	a = Answer{Spec: []Note{}, Hook: []Note{}, Changes: []Change{}}
	defer func() {
		if r := recover(); r != nil {
			a.Spec = append(a.Spec, Note{File: specFile, Message: fmt.Sprintf("the playground failed: %v", r)})
		}
	}()
	if p.latest == nil || p.latest.text != q.Spec {
		p.latest = read(q.Spec)
	}
	v := p.latest
	if q.Old != "" {
		a.Compared = true
		a.Changes, a.Problem = changes(q.Old, v.spec, q.Spec)
	}
	a.Import = v.importPath
	if len(v.refused) > 0 {
		a.Spec = v.refused
		return a
	}
	a.API, a.Wire, a.Page = string(v.files[gen.FileName]), string(v.files[gen.WireFileName]), v.page
	if p.Exports != nil {
		a.Spec, a.Hook = p.check(v.importPath, v.files, q.Hook)
	}
	return a
}

// read reads a spec from the text of its file, and generates.
func read(text string) *specText {
	spec, found := gen.ReadFiles(".", specFiles(text))
	v := &specText{text: text, spec: spec, files: map[string][]byte{specFile: []byte(text)}}
	if v.refused = notes(found); len(found) > 0 {
		return v
	}
	v.importPath = path.Join(Module, spec.Package)
	to := gen.Output{Package: spec.Package, Source: v.importPath}
	if v.refused = notes(gen.CheckOutput(spec, to)); len(v.refused) > 0 {
		return v
	}
	if err := generate(spec, to, v.files); err != nil {
		v.refused = []Note{{File: specFile, Message: err.Error()}}
		return v
	}
	v.page = string(page.Write(summary.Of(spec, v.importPath), v.importPath))
	return v
}

func specFiles(text string) []gen.File { return []gen.File{{Path: specFile, Text: []byte(text)}} }

// generate adds the generated files.
func generate(spec *gen.Spec, to gen.Output, files map[string][]byte) (err error) {
	if files[gen.FileName], err = gen.Emit(spec, to); err != nil || !spec.Wire {
		return err
	}
	files[gen.WireFileName], err = gen.EmitWire(spec, to)
	return err
}

func notes(found gen.Diagnostics) []Note {
	list := []Note{}
	for _, d := range found {
		list = append(list, Note{d.Pos.Filename, d.Pos.Line, d.Pos.Column, d.Message, d.Rule})
	}
	return list
}

// changes compares an older version of the spec with the present one, which is nil if hookgen refuses it.
func changes(old string, now *gen.Spec, text string) (list []Change, problem string) {
	list = []Change{}
	if now == nil {
		return list, "the spec on the left is refused: mend it first"
	}
	before, found := gen.Outline(".", specFiles(old))
	if len(found) > 0 {
		return list, "the old version cannot be read: " + found[0].Message
	}
	was, problem := version(before, old)
	if problem != "" {
		return list, "the old version cannot be read: " + problem
	}
	is, problem := version(now, text)
	if problem != "" {
		return list, problem
	}
	for _, f := range breaking.Compare(was, is) {
		list = append(list, Change{f.Rule, string(f.Verdict), append([]string{}, f.Points...), f.Message, f.Pos.Line})
	}
	return list, ""
}

// version describes a spec for the comparison.
func version(spec *gen.Spec, text string) (breaking.Version, string) {
	surface, found := spec.Surface(Module, func(importPath string) []gen.File {
		if importPath == path.Join(Module, spec.Package) {
			return specFiles(text)
		}
		return nil
	})
	if len(found) > 0 {
		return breaking.Version{}, found[0].Message
	}
	return breaking.Version{Surface: surface, Output: spec.Package}, ""
}

// sortedNames returns the names of files in order.
func sortedNames(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }

// noteAt returns a note of the compiler.
func noteAt(pos token.Position, message string) Note {
	return Note{File: pos.Filename, Line: pos.Line, Column: pos.Column, Message: message}
}
