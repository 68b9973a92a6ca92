package hookvet

import (
	"go/ast"
	"regexp"
	"slices"
)

// A directive is a comment of the form
//
//	//hookvet:ignore NAME REASON
//
// It applies to the line that it is on and to the line after its comment. Above a declaration of the package it applies
// to all of it, and before the package clause to the file.
type directive struct {
	*ast.Comment
	name, reason string
	file         string
	first, last  int // lines
	whole        bool
	used         bool
}

var ignoreForm = regexp.MustCompile(`^//hookvet:ignore(?:[ \t]+(\S+)(?:[ \t]+(\S.*))?)?[ \t]*$`)

// directives returns the comments that suppress findings, and those that only look like one: with another name, or
// without a reason.
func (c *code) directives() []*directive {
	var all []*directive
	for _, at := range c.files {
		file := at.Node().(*ast.File)
		for _, group := range file.Comments {
			for _, comment := range group.List {
				m := ignoreForm.FindStringSubmatch(comment.Text)
				if m == nil {
					continue
				}
				first := c.pass.Fset.PositionFor(comment.Pos(), false)
				d := &directive{
					Comment: comment, name: m[1], reason: m[2], file: first.Filename, first: first.Line,
					last: c.line(group.End()) + 1, whole: comment.Pos() < file.Package,
				}
				for _, decl := range file.Decls {
					if line := c.line(decl.Pos()); line == d.last || line == c.line(group.Pos()) {
						d.last = c.line(decl.End())
					}
				}
				all = append(all, d)
			}
		}
	}
	return all
}

// ignore returns the check of the comments themselves. It is a function because it knows the names of all checks.
func ignore() check {
	return check{
		name:    "ignore",
		inTests: true,
		run: func(r *reporter) {
			for _, d := range r.directives() {
				switch {
				case d.name == "" || !slices.ContainsFunc(checks(), func(k check) bool { return k.name == d.name }):
					r.report(d, nil, "hookvet:ignore suppresses nothing: %q is not the name of a check", d.name)
				case d.reason == "":
					r.report(d, nil,
						"hookvet:ignore suppresses nothing: give a reason after the name of the check")
				}
			}
		},
	}
}
