package gen

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"sync"
)

// A file is a source with its syntax tree. If the file does not parse, the tree is partial.
type file struct {
	source
	tree   *ast.File
	errors scanner.ErrorList
	unions []token.Pos // of each | between two types in a list of the spec's interfaces
}

// parseAll parses sources concurrently. Sources that can contain the spec are parsed tolerantly.
func parseAll(fset *token.FileSet, sources []source) []*file {
	files := make([]*file, len(sources))
	var wg sync.WaitGroup
	for i, s := range sources {
		wg.Go(func() { files[i] = parse(fset, s, bytes.Contains(s.text, []byte("hookgen"))) })
	}
	wg.Wait()
	return files
}

// parse parses a source with its comments. If tolerant is set, it blanks out A | B unions, so that the parser can read
// the rest of the file.
func parse(fset *token.FileSet, s source, tolerant bool) *file {
	f := &file{source: s}
	f.tree, f.errors = parseText(fset, s.path, s.text)
	text := s.text
	var unions []int
	// Each round removes every union that the parser met, at least one; it gives up after ten errors.
	for round := 0; tolerant && len(f.errors) > 0 && round < 10; round++ {
		next, found := blankUnions(text, offsetsOf(f.errors, text))
		if len(found) == 0 {
			break
		}
		text, unions = next, append(unions, found...)
		f.tree, f.errors = parseText(fset, s.path, text)
	}
	for _, offset := range unions {
		f.unions = append(f.unions, f.tree.FileStart+token.Pos(offset))
	}
	return f
}

// parseText runs the parser.
func parseText(fset *token.FileSet, path string, text []byte) (*ast.File, scanner.ErrorList) {
	tree, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	var list scanner.ErrorList
	if err != nil && !errors.As(err, &list) {
		list.Add(token.Position{Filename: path}, err.Error())
	}
	if len(list) > 0 {
		fset.File(tree.FileStart).SetLinesForContent(text) // the parser may have given up before the last line
	}
	return tree, list
}

// offsetsOf returns the offsets of the errors at a |.
func offsetsOf(list scanner.ErrorList, text []byte) []int {
	var offsets []int
	for _, e := range list {
		if at := e.Pos.Offset; at >= 0 && at < len(text) && text[at] == '|' {
			offsets = append(offsets, at)
		}
	}
	return offsets
}

// comments returns the comments of the file in source order, even if the file does not parse.
func (f *file) comments(fset *token.FileSet) []*ast.Comment {
	if len(f.errors) > 0 {
		return commentsOf(fset.File(f.tree.FileStart), f.text)
	}
	var comments []*ast.Comment
	for _, group := range f.tree.Comments {
		comments = append(comments, group.List...)
	}
	return comments
}
