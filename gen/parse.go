package gen

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
	"sync"
)

// A file is a source with its syntax tree. If the file does not parse, the tree is partial.
type file struct {
	source
	tree   *ast.File
	errors scanner.ErrorList
}

// parseAll parses sources concurrently.
func parseAll(fset *token.FileSet, sources []source) []*file {
	files := make([]*file, len(sources))
	var wg sync.WaitGroup
	for i, s := range sources {
		wg.Go(func() { files[i] = parse(fset, s) })
	}
	wg.Wait()
	return files
}

// parse parses a source with its comments.
func parse(fset *token.FileSet, s source) *file {
	tree, err := parser.ParseFile(fset, s.path, s.text, parser.ParseComments|parser.SkipObjectResolution)
	var list scanner.ErrorList
	if err != nil && !errors.As(err, &list) {
		list.Add(token.Position{Filename: s.path}, err.Error())
	}
	if len(list) > 0 {
		fset.File(tree.FileStart).SetLinesForContent(s.text) // the parser may have given up before the last line
	}
	return &file{s, tree, list}
}

// Rules about the syntax of a file.
const (
	ruleSyntax = "syntax"
	ruleUnion  = "union" // Go has no A | B in lists, but people who know sum types write it
)

// syntaxErrors returns the errors of the parser with a remedy for each.
func (f *file) syntaxErrors() Diagnostics {
	var found Diagnostics
	for _, e := range f.errors {
		rest := string(f.text[min(max(e.Pos.Offset, 0), len(f.text)):])
		d := Diagnostic{Pos: e.Pos, Message: e.Msg + ": correct the syntax; a spec is read once it parses", Rule: ruleSyntax}
		switch {
		case strings.HasPrefix(rest, "|"):
			d.Rule, d.Message = ruleUnion, "there is no A | B in a list: list the exits one by one, as in "+
				"(A, B, spec.FailClosed); for a payload declare a struct"
		case strings.HasPrefix(rest, ",") && strings.HasPrefix(e.Msg, "expected ';'"):
			d.Message = e.Msg + ": write a list of several results in parentheses"
		}
		found = append(found, d)
	}
	return found
}

// comments returns the comments of the file in source order, even if the file does not parse.
func (f *file) comments(fset *token.FileSet) []*ast.Comment {
	var comments []*ast.Comment
	if len(f.errors) > 0 {
		f.scan(func(offset int, kind token.Token, literal string) {
			if kind == token.COMMENT {
				comments = append(comments, &ast.Comment{Slash: fset.File(f.tree.FileStart).Pos(offset), Text: literal})
			}
		})
		return comments
	}
	for _, group := range f.tree.Comments {
		comments = append(comments, group.List...)
	}
	return comments
}

// scan calls visit for every token of the file, comments included, even if the file does not parse.
func (f *file) scan(visit func(offset int, kind token.Token, literal string)) {
	own := token.NewFileSet().AddFile("", -1, len(f.text))
	var s scanner.Scanner
	s.Init(own, f.text, nil, scanner.ScanComments)
	for pos, kind, literal := s.Scan(); kind != token.EOF; pos, kind, literal = s.Scan() {
		visit(own.Offset(pos), kind, literal)
	}
}
