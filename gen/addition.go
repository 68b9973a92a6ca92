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

// CheckAddition reports why init cannot add new files to the package in a directory. For example, the directory may
// already have a spec, or a declaration of the package may have the same name as a new one. texts maps the names of the
// new files to their contents.
func CheckAddition(dir string, texts map[string][]byte) Diagnostics {
	return checkAddition(dir, texts, newcomer{"init", "init-clash", "give init a new directory"})
}

// CheckNeighbours reports why the generated files of a package of its own (-o) cannot share a directory with the Go
// files there, for the same reasons as [CheckAddition].
func CheckNeighbours(dir string, texts map[string][]byte) Diagnostics {
	return checkAddition(dir, texts, newcomer{"generated code", "output-clash", "choose another directory with -o"})
}

// A newcomer names the origin of new files in messages, the rule of these messages, and their remedy.
type newcomer struct{ name, rule, remedy string }

func checkAddition(dir string, texts map[string][]byte, by newcomer) Diagnostics {
	fset := token.NewFileSet()
	present := slices.DeleteFunc(goFiles(dir, fset), func(f *file) bool { return texts[f.name] != nil })
	if len(present) == 0 {
		return nil // usual with -o, and parsing the new files takes long
	}
	added := &addition{newcomer: by, declared: map[string]bool{}, imported: map[string]bool{}, used: map[string]bool{}}
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		added.add(parse(fset, source{name: path, path: path, text: texts[path]}))
	}
	var found Diagnostics
	for _, f := range present {
		added.compare(f, fset, func(pos token.Pos, message string) {
			found = append(found, Diagnostic{Pos: fset.PositionFor(pos, false), Rule: by.rule, Message: message})
		})
	}
	return found.sorted()
}

// An addition collects the names that the new files declare, import and use, for the comparison with the existing
// files.
type addition struct {
	newcomer
	pkg      string          // the name of the package
	declared map[string]bool // at package level
	imported map[string]bool // the names of the packages that the files import
	used     map[string]bool // as an identifier, whatever it means
}

// add collects the names of one new file.
func (a *addition) add(f *file) {
	a.pkg = f.tree.Name.Name
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

// compare reports the conflicts of an existing file with the new files.
func (a *addition) compare(f *file, fset *token.FileSet, report func(pos token.Pos, message string)) {
	for _, d := range f.directives(fset) {
		if d.marksSpec() && !isTest(f.name) {
			report(d.pos, "a spec is here already: "+a.remedy)
			return
		}
	}
	if name := f.tree.Name.Name; name != a.pkg {
		if a.otherPackage(f) {
			report(f.tree.Name.Pos(), "this is package "+name+", and "+a.name+" would add package "+a.pkg+
				" to the directory: "+a.remedy)
		}
		return
	}
	remedy := ": rename it, or " + a.remedy
	for _, d := range declarations(f) {
		switch {
		case d.owner != "":
		case a.declared[d.name]:
			report(d.pos, d.name+" is a name that "+a.name+" would declare again in this package"+remedy)
		case a.imported[d.name]:
			report(d.pos, d.name+" is a name under which "+a.name+" would import another package"+remedy)
		case a.used[d.name] && (predeclared[d.name] || builtins[d.name]):
			report(d.pos, d.name+" is a name that Go declares itself, and "+a.name+" needs Go's"+remedy)
		}
	}
	for _, l := range importLines(f.tree) {
		if len(l.names) > 0 && a.declared[l.names[0]] {
			report(l.pos, l.names[0]+" is imported here, and "+a.name+" would declare it in this package: "+
				"import it under another name, or "+a.remedy)
		}
	}
}

// otherPackage reports whether the go command refuses a file in the directory of the new files. It allows tests of
// package mail_test next to package mail, and ignores package documentation.
func (a *addition) otherPackage(f *file) bool {
	name := f.tree.Name.Name
	return token.IsIdentifier(name) && name != "_" && name != "documentation" && !(isTest(f.name) && name == a.pkg+"_test")
}
