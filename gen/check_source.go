package gen

import (
	"go/ast"
	"path"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/internal/spelling"
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
	if !slices.ContainsFunc(r.imports, func(l *importLine) bool { return l.name == "" && !l.language() }) {
		return "nothing is imported as " + use.name + ": add the import"
	}
	what, example := use.name+"."+use.sel.Sel.Name+" comes from", "path/of/"+use.name
	if r.unclearPath != "" {
		what, example = use.name+" is", r.unclearPath
	}
	return "cannot tell which import " + what + ": name the import, as in " + use.name + " \"" + example + "\""
}

func checkShadowedName(r *specInfo, report report) {
	for _, d := range r.scope {
		if predeclared[d.name] {
			report(d.pos, "%s is a name that Go declares itself, and generated code needs Go's: rename it", d.name)
		}
	}
}

func checkDirectiveForm(r *specInfo, report report) {
	for _, d := range r.directives {
		if d.wellFormed && d.name == "ignore" {
			switch rule, reason, _ := strings.Cut(d.args, " "); {
			case rule == "":
				report(d.pos, "%s names no rule: write %s, with a rule of hookgen breaking", d.text, ignoreForm)
			case strings.TrimSpace(reason) == "":
				report(d.pos, "%s gives no reason: write %s, and say why the change is acceptable", d.text, ignoreForm)
			}
		}
		if d.wellFormed {
			continue
		}
		meant := pointsDirective
		if name := nearestDirective(d.name); name != "" {
			meant = directivePrefix + name
		}
		switch {
		case d.name == "":
			report(d.pos, "%s names no directive: write %s", d.text, spelling.Or(directiveForms()))
		case strings.HasPrefix(d.text, directivePrefix+d.name) && slices.Contains(directiveNames, d.name):
			report(d.pos, "%s%s takes no arguments: write the comment above or below it", directivePrefix, d.name)
		default:
			report(d.pos, "%s looks like a directive but is not one: "+
				"did you mean %s? A directive has no blank, no capital and a line of its own", d.text, meant)
		}
	}
}

// nearestDirective returns the name of the directive that a name is, or is similar to, or "".
func nearestDirective(name string) string {
	if slices.Contains(directiveNames, name) {
		return name
	}
	return spelling.Suggest(name, directiveNames)
}

// directiveForms returns the directives as they are written, for messages.
func directiveForms() []string {
	var forms []string
	for _, name := range directiveNames {
		form := directivePrefix + name
		switch name {
		case "ignore":
			form = ignoreForm
		case "key":
			form = keyForm
		}
		forms = append(forms, form)
	}
	return forms
}

func checkDirectiveName(r *specInfo, report report) {
	for _, d := range r.directives {
		if !d.wellFormed || slices.Contains(directiveNames, d.name) {
			continue
		}
		report(d.pos, "unknown directive %s%s: %s", directivePrefix, d.name,
			didYouMean(d.name, directiveNames, directivePrefix, "write "+spelling.Or(directiveForms())))
	}
}

func checkDirectivePlace(r *specInfo, report report) {
	type place struct {
		name   string
		target target
	}
	met := map[place]bool{}
	for _, d := range r.directives {
		if !d.wellFormed || !slices.Contains(directiveNames, d.name) {
			continue
		}
		marked, written := d.marksType(), directivePrefix+d.name
		onSpec := marked != nil && marked == r.Interface
		onPoint := d.target.method != nil && r.memberOf(d.target.method) != nil
		switch d.name {
		case "points":
			if marked == nil {
				report(d.pos, "%s marks nothing here: "+
					"put it directly above the interface that declares the points, as the last line of its comment", written)
			} else if _, ok := ast.Unparen(marked.Type).(*ast.InterfaceType); !ok {
				report(d.pos, "%s marks %s, which is not written as an interface: "+
					"put it above the interface that declares the points", written, marked.Name.Name)
			}
			continue // checkOneSpec reports a second one
		case "wire":
			if !onSpec {
				report(d.pos, "%s is not above the points interface: put it next to %s", written, pointsDirective)
			}
		case "local":
			if !onPoint {
				report(d.pos, "%s is not above a point: put it directly above the method that must not leave the process",
					written)
			}
		case "key":
			if !onPoint {
				report(d.pos, "%s is not above a point: put it directly above the method whose payload has the key", written)
			}
		case "ignore":
			if !onPoint && !onSpec {
				report(d.pos, "%s is not above a point: put it directly above the method, "+
					"or next to %s for a change of the whole spec", written, pointsDirective)
			}
			continue // several rules can be ignored at one place
		}
		if here := (place{d.name, d.target}); met[here] {
			report(d.pos, "%s appears twice here: remove one", written)
		} else {
			met[here] = true
		}
	}
}

// memberOf returns the member that a method of an interface declares, or nil if the interface has no points.
func (r *specInfo) memberOf(method *ast.Field) *member {
	for _, m := range r.members {
		if m.ident == method.Names[0] {
			return m
		}
	}
	return nil
}

func checkOneSpec(r *specInfo, report report) {
	var first *fileDirective
	for i := range r.directives {
		d := &r.directives[i]
		if !d.marksSpec() || d.marksType() == nil {
			continue
		}
		if first == nil {
			first = d
			continue
		}
		pos := r.Fset.PositionFor(first.pos, false)
		if d.marksType() == first.marksType() {
			report(d.pos, "%s appears twice above %s: remove one", pointsDirective, d.marksType().Name.Name)
			continue
		}
		report(d.pos, "a second spec in one directory; the first is %s, at %s:%d: "+
			"embed this interface there, or give it a directory of its own",
			first.marksType().Name.Name, path.Base(strings.ReplaceAll(pos.Filename, "\\", "/")), pos.Line)
	}
}
