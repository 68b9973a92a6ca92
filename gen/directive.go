package gen

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"

	"github.com/hookgen/hookgen/internal/spelling"
)

// pointsDirective is the one directive of the spec language.
const pointsDirective = "//hookgen:points"

// directiveNames are the names that can follow the colon.
var directiveNames = []string{"points"}

// A directive is a //hookgen: comment, or a comment that was probably meant as one.
type directive struct {
	pos        token.Pos
	text       string // the comment, one line of it if it is a block
	name       string // after the colon
	wellFormed bool   // written as a directive is: no blank, lower case, a line comment of its own
}

// marksSpec reports whether d is a well-formed //hookgen:points.
func (d directive) marksSpec() bool { return d.wellFormed && d.name == "points" }

var (
	// directiveForm matches a directive and the rest of its line.
	directiveForm = regexp.MustCompile(`^//hookgen:(\S*)[ \t]*(.*)$`)
	// directiveSlip matches a line that was probably meant as a directive, for example "hookgen: points".
	directiveSlip = regexp.MustCompile(`(?i)^hookgen[ \t]*[:;.=/-]?[ \t]*([a-z]+)$`)
	// otherPrefix matches the directives of other tools.
	otherPrefix = regexp.MustCompile(`^//[ \t]*([a-zA-Z]+):[ \t]*([a-zA-Z]+)[ \t]*$`)
)

// directiveOf reads a comment as a directive. It reports false for prose.
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

// mayBeDirective quickly rejects nearly every comment, because the regular expressions are slow.
func mayBeDirective(text string) bool {
	const longest = 60 // of a line that is a slip
	if len(text) <= longest && strings.Contains(text, ":") {
		return true
	}
	return strings.Contains(strings.ToLower(text), "hookgen")
}

// resembles reports whether a name is one of the candidates, or similar to one.
func resembles(name string, candidates []string) bool {
	for _, c := range candidates {
		if c == name {
			return true
		}
	}
	return spelling.Suggest(name, candidates) != ""
}

// directives returns the directives among the comments of the file, in source order.
func (f *file) directives(fset *token.FileSet) []directive {
	var all []directive
	for _, c := range f.comments(fset) {
		if d, ok := directiveOf(c); ok {
			all = append(all, d)
		}
	}
	return all
}

// marked maps each line of a doc comment to the type that the comment documents. The comment of a parenthesized group
// documents no single type, so it is left out.
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
