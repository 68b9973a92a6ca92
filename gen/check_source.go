package gen

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

func checkBuildConstraint(r *specInfo, report report) {
	if c := buildConstraint(r.file.tree); c != nil {
		report(c.Slash, "a spec with a build constraint would be generated from in every build and compiled in some: "+
			"remove the constraint")
	}
	if word := constrainedName(r.file.name); word != "" {
		report(r.file.tree.Package, "the name %s confines the spec to %s: rename the file", r.file.name, word)
	}
}

func checkCgo(r *specInfo, report report) {
	for _, l := range r.imports {
		if l.path == "C" {
			report(l.pos, "a spec cannot import \"C\": declare payloads in plain Go and convert in another file")
		}
	}
}

// maxImports is the number of packages that generated code may import for a spec. Each import is compared with all
// others when the code is emitted.
const maxImports = 1000

func checkImportCount(r *specInfo, report report) {
	if len(r.Imports) > maxImports {
		report(r.Imports[maxImports].Pos, "import %d of a spec, and there may be %d: divide the points among several specs",
			maxImports+1, maxImports)
	}
}

func checkDotImport(r *specInfo, report report) {
	for _, l := range r.imports {
		if l.name != "." {
			continue
		}
		name := "x"
		if names := packageNames(l.path); len(names) > 0 {
			name = names[0]
		}
		if l.language() {
			report(l.pos, "the spec language cannot be dot-imported, for its names would read like types of this package: "+
				"import %q and write spec.Replace", l.path)
			continue
		}
		report(l.pos, "a dot import hides which names of the spec are its own: import %q and write %s.Name", l.path, name)
	}
}

func checkQualifier(r *specInfo, report report) {
	for _, use := range r.uses {
		if r.qualifiers[use.name] != nil || use.name == "context" && use.sel.Sel.Name == "Context" {
			continue // resolved, or a context, which has a rule of its own
		}
		pos := use.sel.Pos()
		if lines := r.candidates[use.name]; len(lines) > 1 {
			report(pos, "%s can be %q or %q: name the import: %s %q", use.name, lines[0].path, lines[1].path, use.name,
				lines[0].path)
			continue
		}
		report(pos, "%s", r.unknownQualifier(use))
	}
}

// unknownQualifier explains why a qualifier matches no import, and how to fix that.
func (r *specInfo) unknownQualifier(use qualifierUse) string {
	if use.name == "spec" && r.SpecPkg.Path == "" {
		return "spec is not imported: add import \"" + LanguagePath + "\""
	}
	if r.scope[use.name] != nil {
		return use.name + "." + use.sel.Sel.Name + " is not a type: " + use.name + " is declared in this package, and " +
			"only imports are followed by a dot; write " + use.name + ", or name the import that is meant"
	}
	if meant := r.suggest(use.name, r.importNames); meant != "" {
		return "nothing is imported as " + use.name + ": did you mean " + meant + "? Else name the import"
	}
	what, example := use.name+"."+use.sel.Sel.Name+" comes from", "path/of/"+use.name
	if r.unclearPath != "" {
		what, example = use.name+" is", r.unclearPath
	}
	return "cannot tell which import " + what + ": name the import, as in " + use.name + " \"" + example + "\""
}

func checkShadowedName(r *specInfo, report report) {
	for d := range r.declared() {
		if predeclared[d.name] {
			report(d.pos, "%s is a name that Go declares itself, and generated code needs Go's: rename it", d.name)
		}
	}
}

func checkDirectiveForm(r *specInfo, report report) {
	for _, d := range r.directives {
		if d.wellFormed {
			continue
		}
		meant := d.meant()
		switch {
		case d.name == "":
			report(d.pos, "%s names no directive: write %s", d.text, pointsDirective)
		case strings.HasPrefix(d.text, ignoreDirective):
			report(d.pos, "%s needs a rule and a reason: write %s RULE REASON", ignoreDirective, ignoreDirective)
		case strings.HasPrefix(d.text, meant):
			report(d.pos, "%s takes no arguments: write the comment above or below it", meant)
		default:
			report(d.pos, "%s looks like a directive but is not one: "+
				"did you mean %s? A directive has no blank, no capital and a line of its own", d.text, meant)
		}
	}
}

func checkDirectiveName(r *specInfo, report report) {
	for _, d := range r.directives {
		if !d.wellFormed || slices.Contains(directiveNames, d.name) {
			continue
		}
		report(d.pos, "unknown directive //hookgen:%s: %s", d.name,
			didYouMean(d.name, directiveNames, "//hookgen:", "the directives are "+allDirectives))
	}
}

func checkDirectivePlace(r *specInfo, report report) {
	for i, d := range r.directives {
		if !d.wellFormed || !slices.Contains(directiveNames, d.name) {
			continue
		}
		name := "//hookgen:" + d.name
		isInterface := false
		if d.target != nil {
			_, isInterface = ast.Unparen(d.target.Type).(*ast.InterfaceType)
		}
		switch d.name {
		case "points", "wire":
			if d.target == nil {
				report(d.pos, "%s marks nothing here: "+
					"put it directly above the interface that declares the points, as the last line of its comment", name)
			} else if !isInterface {
				report(d.pos, "%s marks %s, which is not written as an interface: "+
					"put it above the interface that declares the points", name, d.target.Name.Name)
			} else if d.name == "wire" && d.target != r.Points {
				report(d.pos, "%s marks %s, which does not declare the points: put it directly above or below %s",
					name, d.target.Name.Name, pointsDirective)
			}
		default:
			if r.marked(d) == nil {
				report(d.pos, "%s marks no point here: put it directly above a method of the points interface", name)
			} else if d.name == "local" && !r.Wire {
				report(d.pos, "%s has no effect, because the spec is not marked %s: remove it", name, wireDirective)
			}
		}
		if d.name != "points" && slices.ContainsFunc(r.directives[:i], func(e fileDirective) bool {
			return e.name == d.name && e.args == d.args && e.wellFormed &&
				(d.target != nil && e.target == d.target || d.method != nil && e.method == d.method)
		}) {
			report(d.pos, "%s is written twice: remove one", name)
		}
	}
}

func checkOneSpec(r *specInfo, report report) {
	var first *fileDirective
	for i := range r.directives {
		d := &r.directives[i]
		if !d.marksSpec() || d.target == nil {
			continue
		}
		if first == nil {
			first = d
			continue
		}
		pos := r.Fset.PositionFor(first.pos, false)
		if d.target == first.target {
			report(d.pos, "%s appears twice above %s: remove one", pointsDirective, d.target.Name.Name)
			continue
		}
		report(d.pos, "a second spec in one directory; the first is %s, at %s:%d: "+
			"embed this interface there, or give it a directory of its own",
			first.target.Name.Name, path.Base(strings.ReplaceAll(pos.Filename, "\\", "/")), pos.Line)
	}
}
