package gen

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// pointsDirective is the one directive of the spec language.
const pointsDirective = "//hookgen:points"

// directiveNames are the names that can follow the colon.
var directiveNames = []string{"points"}

// A directive is a comment that is a directive, or looks as if it was meant as one.
type directive struct {
	pos        token.Pos
	text       string // the comment, one line of it if it is a block
	name       string // after the colon
	wellFormed bool   // written as a directive is: no blank, lower case, a line comment of its own
}

// marksSpec reports whether d is the directive that marks a spec.
func (d directive) marksSpec() bool { return d.wellFormed && d.name == "points" }

var (
	// directiveForm is a directive as it is written. What follows the name is part of the match.
	directiveForm = regexp.MustCompile(`^//hookgen:(\S*)[ \t]*(.*)$`)
	// directiveSlip is a whole line that was meant as one: a blank, a capital, another separator.
	directiveSlip = regexp.MustCompile(`(?i)^hookgen[ \t]*[:;.=/-]?[ \t]*([a-z]+)$`)
	// otherPrefix is the form of every other tool's directives.
	otherPrefix = regexp.MustCompile(`^//[ \t]*([a-zA-Z]+):[ \t]*([a-zA-Z]+)[ \t]*$`)
)

// directiveOf reads a comment. It reports false for one that is just a comment.
func directiveOf(c *ast.Comment) (directive, bool) {
	text := strings.TrimRight(c.Text, " \t\r")
	if !mayBeDirective(text) {
		return directive{}, false
	}
	if m := directiveForm.FindStringSubmatch(text); m != nil {
		if m[1] == "" {
			return directive{pos: c.Slash, text: text, name: m[2]}, true
		}
		return directive{pos: c.Slash, text: text, name: m[1], wellFormed: m[2] == ""}, true
	}
	body, block := strings.CutPrefix(text, "/*")
	if !block {
		body = strings.TrimPrefix(text, "//")
	}
	for line := range strings.Lines(strings.TrimSuffix(body, "*/")) {
		line = strings.Trim(line, " \t\r\n*")
		m := directiveSlip.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		// Prose may begin with the word hookgen. A line with a colon or the name of a directive is not prose.
		name := strings.ToLower(m[1])
		if strings.Contains(line, ":") && !strings.Contains(line, ": ") || resembles(name, directiveNames) {
			if !block {
				line = text
			}
			return directive{pos: c.Slash, text: line, name: name}, true
		}
	}
	if m := otherPrefix.FindStringSubmatch(text); m != nil && resembles(m[1], []string{"hookgen"}) &&
		resembles(m[2], directiveNames) {
		return directive{pos: c.Slash, text: text, name: m[2]}, true
	}
	return directive{}, false
}

// mayBeDirective passes over nearly every comment at little cost.
func mayBeDirective(text string) bool {
	const longest = 60 // of a line that is a slip
	if len(text) <= longest && strings.Contains(text, ":") {
		return true
	}
	return strings.Contains(strings.ToLower(text), "hookgen")
}

// resembles reports whether a name is one of the candidates, or near one.
func resembles(name string, candidates []string) bool {
	for _, c := range candidates {
		if c == name {
			return true
		}
	}
	return Suggest(name, candidates) != ""
}

// directives returns the directives among the comments of the file, in order.
func (f *file) directives(fset *token.FileSet) []directive {
	var all []directive
	for _, c := range f.comments(fset) {
		if d, ok := directiveOf(c); ok {
			all = append(all, d)
		}
	}
	return all
}

// marked returns, for each line of a doc comment, the type that it is about. A line of a comment above a
// parenthesized group is about none.
func marked(tree *ast.File) map[token.Pos]*ast.TypeSpec {
	types := map[token.Pos]*ast.TypeSpec{}
	mark := func(doc *ast.CommentGroup, spec *ast.TypeSpec) {
		if doc != nil {
			for _, c := range doc.List {
				types[c.Slash] = spec
			}
		}
	}
	for _, d := range tree.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE {
			continue
		}
		for _, s := range group.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			mark(spec.Doc, spec)
			if !group.Lparen.IsValid() {
				mark(group.Doc, spec)
			}
		}
	}
	return types
}
