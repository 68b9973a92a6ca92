package hookvet

import (
	"go/ast"
	"go/token"
	"regexp"
)

// A suppression is a comment of the form
//
//	//hookvet:ignore NAME REASON
//
// It applies to the line that it is on and to the line after its comment. Above a declaration of the package it applies
// to all of it, and before the package clause to the file.
type suppression struct {
	check, file string
	first, last int // lines
}

var suppressionForm = regexp.MustCompile(`^//hookvet:ignore[ \t]+(\S+)[ \t]+\S`)

// covers reports whether the comment suppresses the findings of a check at a position.
func (s suppression) covers(check string, at token.Position) bool {
	return s.check == check && s.file == at.Filename && s.first <= at.Line && at.Line <= s.last
}

// suppressions returns the comments of a file that suppress findings. One without a reason suppresses nothing.
func (c *code) suppressions(file *ast.File) []suppression {
	var all []suppression
	for _, group := range file.Comments {
		for _, comment := range group.List {
			m := suppressionForm.FindStringSubmatch(comment.Text)
			if m == nil {
				continue
			}
			at := c.pass.Fset.PositionFor(comment.Pos(), false)
			s := suppression{check: m[1], file: at.Filename, first: at.Line, last: c.line(group.End()) + 1}
			if comment.Pos() < file.Package {
				s.last = c.line(file.End())
			}
			for _, decl := range file.Decls {
				if line := c.line(decl.Pos()); line == s.last || line == c.line(group.Pos()) {
					s.last = c.line(decl.End())
				}
			}
			all = append(all, s)
		}
	}
	return all
}
