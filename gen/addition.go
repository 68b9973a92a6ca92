package gen

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// PackageIn returns the name of the package in a directory, or "" if the directory has no Go files. If files disagree,
// a file of every build outranks a file with a build constraint, and a test is asked last.
func PackageIn(dir string) string {
	name, best := "", 0
	for _, f := range goFiles(dir, token.NewFileSet()) {
		weight := 1
		switch {
		case isTest(f.name):
		case everyBuild(f):
			weight = 3
		default:
			weight = 2
		}
		if weight > best && token.IsIdentifier(f.tree.Name.Name) {
			name, best = strings.TrimSuffix(f.tree.Name.Name, "_test"), weight
		}
	}
	return name
}

// goFiles parses the Go files of a directory, including tests, and drops files with the tag ignore.
func goFiles(dir string, fset *token.FileSet) []*file {
	sources, _ := load(dir, isGo)
	return slices.DeleteFunc(parseAll(fset, sources), func(f *file) bool { return ignored(f.tree) })
}

// CheckAddition reports why new files cannot be added to the package in a directory. For example, the directory may
// already have a spec, or a declaration of the package may have the same name as a new one. texts maps the names of the
// new files to their contents.
func CheckAddition(dir string, texts map[string][]byte) Diagnostics {
	fset := token.NewFileSet()
	added := &addition{declared: map[string]bool{}, imported: map[string]bool{}, used: map[string]bool{}}
	name := ""
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		f := parse(fset, source{name: path, path: path, text: texts[path]}, false)
		name = f.tree.Name.Name
		added.add(f)
	}
	var found Diagnostics
	for _, f := range goFiles(dir, fset) {
		report := func(pos token.Pos, message string) {
			found = append(found, Diagnostic{Pos: fset.PositionFor(pos, false), Rule: "init-clash", Message: message})
		}
		for _, d := range f.directives(fset) {
			if d.marksSpec() && !isTest(f.name) {
				report(d.pos, "a spec is here already: give init a directory without one")
			}
		}
		if f.tree.Name.Name == name {
			added.compare(f, report)
		}
	}
	return found.sorted()
}

// An addition collects the names that the new files declare, import and use, for the comparison with the existing
// files.
type addition struct {
	declared map[string]bool // at package level
	imported map[string]bool // the names of the packages that the files import
	used     map[string]bool // as an identifier, whatever it means
}

// add collects the names of one new file.
func (a *addition) add(f *file) {
	for _, d := range declarations(f) {
		if d.owner == "" {
			a.declared[d.name] = true
		}
	}
	for _, l := range importLines(f.tree) {
		if len(l.names) > 0 {
			a.imported[l.names[0]] = true
		}
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			a.used[name.Name] = true
		}
		return true
	})
}

// compare reports every name of an existing file that conflicts with the new files.
func (a *addition) compare(f *file, report func(pos token.Pos, message string)) {
	const remedy = ": rename it, or give init a new directory"
	for _, d := range declarations(f) {
		switch {
		case d.owner != "":
		case a.declared[d.name]:
			report(d.pos, d.name+" is a name that init would declare again in this package"+remedy)
		case a.imported[d.name]:
			report(d.pos, d.name+" is a name under which init would import another package"+remedy)
		case a.used[d.name] && (predeclared[d.name] || builtins[d.name]):
			report(d.pos, d.name+" is a name that Go declares itself, and init needs Go's"+remedy)
		}
	}
	for _, l := range importLines(f.tree) {
		if len(l.names) > 0 && a.declared[l.names[0]] {
			report(l.pos, l.names[0]+" is imported here, and init would declare it in this package: "+
				"import it under another name, or give init a new directory")
		}
	}
}
