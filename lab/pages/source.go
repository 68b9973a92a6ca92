package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// declared returns the functions of a folder as Name, its methods as Type.Name, and its package comments. It reads
// either the tests or the other files.
func declared(dir string, tests bool) (names []string, comment string, err error) {
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
	if err != nil {
		return nil, "", err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") != tests {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, "", err
		}
		comment += file.Doc.Text()
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				names = append(names, fullName(f))
			}
		}
	}
	return names, comment, nil
}

// fullName returns the name of a function, or that of a method after its type and a dot.
func fullName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	if id, ok := receiver.(*ast.Ident); ok {
		return id.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// hooksOf returns the exported types of a package that have a method Bind, and the package comment.
func hooksOf(dir string) (hooks []string, comment string, err error) {
	names, comment, err := declared(dir, false)
	for _, name := range names {
		if hook, ok := strings.CutSuffix(name, ".Bind"); ok && ast.IsExported(hook) {
			hooks = append(hooks, hook)
		}
	}
	return hooks, comment, err
}
