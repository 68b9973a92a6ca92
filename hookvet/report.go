package hookvet

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// page is the documentation of the checks. Each has a heading of its name there.
const page = "https://github.com/hookgen/hookgen/blob/main/docs/hookvet.md#"

// A check is what differs from one analyzer to the next.
type check struct {
	name string
	// doc begins with one line, then has a blank line and the rule.
	doc string
	// inTests says that findings in test files are reported. Tests may make some mistakes on purpose, for example
	// fire a point and drop the result.
	inTests bool
	facts   []analysis.Fact
	run     func(*reporter)
}

// analyzer returns the analyzer of a check.
func (k check) analyzer() *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:      k.name,
		Doc:       k.doc,
		URL:       page + k.name,
		Requires:  []*analysis.Analyzer{codeAnalyzer},
		FactTypes: k.facts,
		Run: func(pass *analysis.Pass) (any, error) {
			r := &reporter{code: pass.ResultOf[codeAnalyzer].(*code), pass: pass, check: k}
			for _, d := range r.directives() {
				if d.name == k.name && d.reason != "" {
					r.ignored = append(r.ignored, d)
				}
			}
			k.run(r)
			for _, d := range r.ignored {
				if !d.used {
					pass.Report(analysis.Diagnostic{Pos: d.pos, End: d.end, Category: k.name,
						Message: "hookvet:ignore " + k.name + " suppresses nothing: remove it"})
				}
			}
			return nil, nil
		},
	}
}

// A reporter is the code of a package with the means to report findings of a check.
type reporter struct {
	*code
	pass    *analysis.Pass
	check   check
	ignored []*directive
}

// report reports a finding, unless a comment suppresses it.
func (r *reporter) report(at analysis.Range, fix *analysis.SuggestedFix, format string, args ...any) {
	if !r.check.inTests && r.isTest(at.Pos()) {
		return
	}
	where := r.pass.Fset.PositionFor(at.Pos(), false)
	for _, d := range r.ignored {
		if d.file == where.Filename && (d.whole || d.first <= where.Line && where.Line <= d.last) {
			d.used = true
			return
		}
	}
	found := analysis.Diagnostic{
		Pos: at.Pos(), End: at.End(), Category: r.check.name, Message: fmt.Sprintf(format, args...),
	}
	if fix != nil && r.isInFile(*fix) {
		found.SuggestedFixes = []analysis.SuggestedFix{*fix}
	}
	r.pass.Report(found)
}

// isInFile reports whether the edits of a fix have positions. In code that does not compile, some nodes have none.
func (r *reporter) isInFile(fix analysis.SuggestedFix) bool {
	for _, edit := range fix.TextEdits {
		file := r.pass.Fset.File(edit.Pos)
		if file == nil || edit.End < edit.Pos || r.pass.Fset.File(edit.End) != file {
			return false
		}
	}
	return true
}

// qualified returns a name of a package as the file of a position writes it.
func (r *reporter) qualified(at token.Pos, pkg *types.Package, name string) string {
	if in := r.importName(at, pkg); in != "" {
		return in + "." + name
	}
	return name
}

// typeName returns a type as the file of a position writes it.
func (r *reporter) typeName(at token.Pos, t types.Type) string {
	return types.TypeString(t, func(pkg *types.Package) string { return r.importName(at, pkg) })
}

// importName returns the name that a package has in the file of a position, or "" if its names need none. A file that
// does not import the package would use the package's own name.
func (r *reporter) importName(at token.Pos, pkg *types.Package) string {
	if pkg == r.pass.Pkg {
		return ""
	}
	name := pkg.Name()
	for _, file := range r.pass.Files {
		if at < file.FileStart || file.FileEnd < at {
			continue
		}
		for _, line := range file.Imports {
			imported := r.info.PkgNameOf(line)
			if imported == nil || imported.Imported() != pkg || imported.Name() == "_" {
				continue
			}
			if name = imported.Name(); name == "." {
				name = ""
			}
		}
	}
	return name
}

// remove returns a fix that deletes the text between two positions.
func remove(message string, from, to token.Pos) *analysis.SuggestedFix {
	return replace(message, from, to, "")
}

// replace returns a fix that puts text between two positions.
func replace(message string, from, to token.Pos, text string) *analysis.SuggestedFix {
	return &analysis.SuggestedFix{
		Message:   message,
		TextEdits: []analysis.TextEdit{{Pos: from, End: to, NewText: []byte(text)}},
	}
}

// A directive is a comment of the form
//
//	//hookvet:ignore NAME REASON
//
// It applies to the line that it is on and to the line after its comment. Above a declaration of the package it applies
// to all of it, and before the package clause to the file.
type directive struct {
	name, reason string
	pos, end     token.Pos
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
					name: m[1], reason: m[2], pos: comment.Pos(), end: comment.End(), file: first.Filename, first: first.Line,
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

func (c *code) line(pos token.Pos) int { return c.pass.Fset.PositionFor(pos, false).Line }

// ignore returns the check of the comments themselves. It is a function because it knows the names of all checks.
func ignore() check {
	return check{
		name: "ignore",
		doc: `find comments that mean to suppress a finding and do not

A comment of the form

	//hookvet:ignore NAME REASON

suppresses the findings of the check NAME on its line and on the next; above a declaration of the package, in all of it;
before the package clause, in the file. It needs a reason. Each check reports the comments of its name that suppress
nothing.`,
		inTests: true,
		run: func(r *reporter) {
			for _, d := range r.directives() {
				switch {
				case d.name == "" || !slices.ContainsFunc(checks(), func(k check) bool { return k.name == d.name }):
					r.report(span{d.pos, d.end}, nil, "hookvet:ignore suppresses nothing: %q is not the name of a check", d.name)
				case d.reason == "":
					r.report(span{d.pos, d.end}, nil,
						"hookvet:ignore suppresses nothing: give a reason after the name of the check")
				}
			}
		},
	}
}

// A span is a piece of source.
type span struct{ pos, end token.Pos }

func (s span) Pos() token.Pos { return s.pos }
func (s span) End() token.Pos { return s.end }
