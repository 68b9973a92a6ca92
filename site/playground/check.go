package playground

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// goVersion is the version of the language that the playground checks.
const goVersion = "go1.26"

// check type-checks the package of the spec with its generated files, and then the hook, as the compiler does. If the
// package does not compile, the hook is not checked.
func (p *Player) check(importPath string, files map[string][]byte, hook string) (spec, other []Note) {
	spec, other = []Note{}, []Note{}
	c := &checker{fset: token.NewFileSet(), exports: p.Exports}
	pkg, found := c.check(importPath, files)
	if len(found) > 0 {
		return found, other
	}
	c.checked = pkg
	if strings.TrimSpace(hook) != "" {
		_, other = c.check(Module+"/hook", map[string][]byte{hookFile: []byte(hook)})
	}
	return spec, other
}

// A checker type-checks the packages of one question.
type checker struct {
	fset    *token.FileSet
	checked *types.Package // the package of the spec; nil before it was checked
	exports *Exports
}

// Import returns the package of the spec, or one of the archive.
func (c *checker) Import(importPath string) (*types.Package, error) {
	if c.checked != nil && c.checked.Path() == importPath {
		return c.checked, nil
	}
	return c.exports.Import(importPath)
}

// check type-checks a package. The notes are those of the compiler, in its order.
func (c *checker) check(importPath string, files map[string][]byte) (*types.Package, []Note) {
	found := []Note{}
	var trees []*ast.File
	for _, name := range sortedNames(files) {
		tree, err := parser.ParseFile(c.fset, name, files[name], parser.AllErrors|parser.SkipObjectResolution)
		if list, ok := errors.AsType[scanner.ErrorList](err); ok {
			for _, e := range list {
				found = append(found, noteAt(e.Pos, "syntax error: "+e.Msg))
			}
		}
		trees = append(trees, tree)
	}
	if len(found) > 0 {
		return nil, found
	}
	config := types.Config{Importer: c, GoVersion: goVersion, Sizes: types.SizesFor("gc", "amd64")}
	config.Error = func(err error) {
		e := err.(types.Error) //nolint:errcheck,errorlint // the only type that the checker reports
		at := c.fset.Position(e.Pos)
		if rest, ok := strings.CutPrefix(e.Msg, "\t"); ok && len(found) > 0 {
			found[len(found)-1].Message += fmt.Sprintf("\n\t%s: %s", at, rest)
			return
		}
		found = append(found, noteAt(at, e.Msg))
	}
	pkg, _ := config.Check(importPath, c.fset, trees, nil)
	return pkg, asCompiled(found)
}

// asCompiled drops and sorts notes as the compiler does: of equal notes about one line the first is kept, and files are
// in the order of their first notes.
func asCompiled(found []Note) []Note {
	found = slices.CompactFunc(found, func(a, b Note) bool {
		return a.File == b.File && a.Line == b.Line && a.Message == b.Message
	})
	order := map[string]int{}
	for _, n := range found {
		if _, ok := order[n.File]; !ok {
			order[n.File] = len(order)
		}
	}
	slices.SortStableFunc(found, func(a, b Note) int {
		return cmp.Or(order[a.File]-order[b.File], a.Line-b.Line, a.Column-b.Column)
	})
	return slices.Compact(found)
}
