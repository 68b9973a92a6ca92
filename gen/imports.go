package gen

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// LanguagePath is the import path of the spec language.
const LanguagePath = "github.com/hookgen/hookgen/spec"

// An importLine is one import of a file.
type importLine struct {
	path  string
	name  string   // as written; "" if the line has none
	names []string // that the package may have in the file
	pos   token.Pos
}

// language reports whether the line imports the spec language.
func (l *importLine) language() bool { return l.path == LanguagePath }

// importLines returns the imports of a file.
func importLines(tree *ast.File) []*importLine {
	var lines []*importLine
	for _, spec := range tree.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		line := &importLine{path: path, pos: spec.Pos()}
		switch {
		case spec.Name != nil:
			line.name = spec.Name.Name
			if line.name != "_" && line.name != "." {
				line.names = []string{line.name}
			}
		default:
			line.names = packageNames(path)
		}
		lines = append(lines, line)
	}
	return lines
}

var (
	majorVersion  = regexp.MustCompile(`^v[0-9]+$`)
	dottedVersion = regexp.MustCompile(`\.v[0-9]+$`)
)

// packageNames returns the names that the package of an import path may have, most likely first. The path does not
// determine the name, so these are guesses by convention: the last element, the element before a major version, and x
// for go-x, x-go and x.go.
func packageNames(path string) []string {
	var names []string
	add := func(name string) {
		if token.IsIdentifier(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	parent, last := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		parent, last = path[:i], path[i+1:]
	}
	if majorVersion.MatchString(last) {
		if parent != "" && last != "v0" && last != "v1" {
			for _, name := range packageNames(parent) {
				add(name)
			}
		}
		add(last)
		return names
	}
	last = dottedVersion.ReplaceAllString(last, "")
	add(last)
	for _, affix := range []string{"go", "golang"} {
		for _, sep := range []string{"-", "."} {
			if rest, ok := strings.CutPrefix(last, affix+sep); ok {
				add(rest)
			}
			if rest, ok := strings.CutSuffix(last, sep+affix); ok {
				add(rest)
			}
		}
	}
	return names
}

// importsByName returns, for each qualifier, the imports that it can mean. Several imports mean that the qualifier is
// ambiguous. An import with a name of its own is always certain.
func importsByName(lines []*importLine) map[string][]*importLine {
	found := map[string][]*importLine{}
	for _, l := range lines {
		for _, name := range l.names {
			if have := found[name]; len(have) == 1 && have[0].name == name {
				continue
			}
			if l.name == name {
				found[name] = nil
			}
			found[name] = append(found[name], l)
		}
	}
	return found
}

// fileImports holds importsByName of files, each made once.
type fileImports map[*file]map[string][]*importLine

// of returns the imports that a qualifier of a file can mean.
func (i fileImports) of(f *file, qualifier string) []*importLine {
	if i[f] == nil {
		i[f] = importsByName(importLines(f.tree))
	}
	return i[f][qualifier]
}

// modelImports returns the imports for the model, each with the name that the spec file uses, and the import of the
// spec language.
func modelImports(lines []*importLine, used map[string]*importLine) (imports []Import, language Import) {
	for _, l := range lines {
		if len(l.names) == 0 || l.path == "C" {
			continue
		}
		name := l.names[0]
		for _, candidate := range l.names {
			if used[candidate] == l {
				name = candidate
			}
		}
		entry := Import{Name: name, Path: l.path, Pos: l.pos}
		switch {
		case !l.language():
			imports = append(imports, entry)
		case language.Path == "":
			language = entry
		}
	}
	return imports, language
}

// qualified calls visit for every qualified name in the type expressions below node.
func qualified(node ast.Node, visit func(qualifier *ast.Ident, sel *ast.SelectorExpr)) {
	ast.Inspect(node, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				visit(x, sel)
				return false
			}
		}
		return true
	})
}
