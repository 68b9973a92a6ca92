package gen

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen/model"
)

// Read reads the spec in a directory: the one Go file whose interface carries //hookgen:points. The other files of the
// package matter only for the names that they declare, so they need not compile. Tests and generated files are skipped.
//
// Read returns either a Spec, or every problem of the spec in source order. A diagnostic with the rule [RuleIO] means
// that the directory or a file could not be read.
func Read(dir string) (*Spec, Diagnostics) {
	sources, failures := load(dir)
	if len(failures) > 0 && len(sources) == 0 {
		return nil, failures
	}
	spec, found := read(dir, sources)
	if len(failures) > 0 && (ruleIs(found, ruleNoSpec) || ruleIs(found, ruleUndefined)) {
		// The spec, or the type, may be in a file that could not be read.
		found = slices.DeleteFunc(found, func(d Diagnostic) bool { return d.Rule == ruleNoSpec || d.Rule == ruleUndefined })
		found = append(found, failures...)
	}
	return spec, found.sorted()
}

// ReadFiles reads a spec as [Read] does, from files in memory: those of one directory without tests. For example, a
// program reads the text of an editor. The directory is named in diagnostics only.
func ReadFiles(dir string, files []File) (*Spec, Diagnostics) {
	spec, found := read(dir, sourcesOf(files))
	return spec, found.sorted()
}

// These rules are checked before a specInfo exists.
const (
	ruleNoSpec = "no-spec"
	ruleSize   = "size"
)

// ruleUndefined is the only rule that needs every file of the package: any of them may declare the type.
const ruleUndefined = "undefined-type"

// ruleIs reports whether found has a diagnostic of the rule.
func ruleIs(found Diagnostics, rule string) bool {
	return slices.ContainsFunc(found, func(d Diagnostic) bool { return d.Rule == rule })
}

// read is Read for sources that are already in memory.
func read(dir string, sources []source) (*Spec, Diagnostics) {
	r, found := outlineOf(dir, sources)
	if len(found) > 0 {
		return nil, found
	}
	if found := check(r); len(found) > 0 {
		return nil, found
	}
	r.fillEdits()
	r.Spec.info = r
	return r.Spec, nil
}

// outlineOf builds the specInfo of the spec in the sources. The diagnostics say why there is none.
func outlineOf(dir string, sources []source) (*specInfo, Diagnostics) {
	if large := tooLarge(sources); large != nil {
		return nil, large
	}
	fset := token.NewFileSet()
	return outlineOfFiles(dir, fset, parseAll(fset, sources))
}

// outlineOfFiles is outlineOf for parsed files.
func outlineOfFiles(dir string, fset *token.FileSet, files []*file) (*specInfo, Diagnostics) {
	var directives []fileDirective
	for _, f := range files {
		if found := f.directives(fset); len(found) > 0 {
			targets := marked(f.tree)
			for _, d := range found {
				directives = append(directives, fileDirective{d, f, targets[d.pos]})
			}
		}
	}
	f, points := specFile(directives)
	if f == nil {
		return nil, noSpec(dir, directives, files, fset)
	}
	if len(f.errors) > 0 {
		return nil, f.syntaxErrors()
	}
	return outline(dir, fset, f, files, directives, points), nil
}

// tooLarge reports every source that exceeds its limit.
func tooLarge(sources []source) Diagnostics {
	var found Diagnostics
	for _, s := range sources {
		if !s.tooLarge() {
			continue
		}
		message := fmt.Sprintf("has %.1f MB, and a spec is not read beyond %d MB: declare payloads in other files",
			float64(s.size)/1e6, maxSpec>>20)
		if s.size > maxSource {
			message = fmt.Sprintf("has %.1f MB, and no file of its package is read beyond %d MB: move it into another package",
				float64(s.size)/1e6, maxSource>>20)
		}
		found = append(found, Diagnostic{token.Position{Filename: s.path}, message, ruleSize})
	}
	return found
}

// specFile returns the file with the spec, and its points interface. If no directive marks an interface, it returns the
// file of the first directive and nil, so that the rules can report the directive.
func specFile(directives []fileDirective) (*file, *ast.TypeSpec) {
	var first *file
	for _, d := range directives {
		if !d.marksSpec() {
			continue
		}
		if spec := d.marksType(); spec != nil {
			if _, ok := ast.Unparen(spec.Type).(*ast.InterfaceType); ok {
				return d.file, spec
			}
		}
		if first == nil {
			first = d.file
		}
	}
	return first, nil
}

// everyBuild reports whether a file has no build constraint, neither in a comment nor in its name.
func everyBuild(f *file) bool {
	return buildConstraint(f.tree) == nil && constrainedName(f.name) == ""
}

// noSpec explains why the directory has no spec. If there are directives, they were probably meant to mark one, so
// their mistakes are reported instead.
func noSpec(dir string, directives []fileDirective, files []*file, fset *token.FileSet) Diagnostics {
	if len(directives) > 0 {
		r := &specInfo{Spec: &Spec{Spec: model.Spec{Fset: fset}}, directives: directives}
		return runRules(r, directiveRules())
	}
	message := "no interface carries " + pointsDirective + ": " +
		"put that line above the interface that declares the points, or run hookgen init for a first spec"
	if len(files) == 0 {
		message = "no Go file that could hold a spec: run hookgen init for a first one, or give the directory that holds it"
	}
	return Diagnostics{{Pos: token.Position{Filename: dir}, Message: message, Rule: ruleNoSpec}}
}

// directiveRules returns the rules about directives, which also apply to files without a spec.
func directiveRules() []rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return !strings.HasPrefix(r.id, "directive-") })
}

// fillEdits sets EditField of each point with an Edit for which exactly one field matches. The rules demand that.
func (r *specInfo) fillEdits() {
	r.edits(func(m *member, e *element) {
		payload := r.editable(m.Payload.Expr)
		if payload == nil {
			return
		}
		if fields := payload.fieldsOfType(r, e.argument()); len(fields) == 1 {
			m.EditField = fields[0]
		}
	})
}
