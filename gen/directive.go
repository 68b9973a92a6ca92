package gen

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/internal/spelling"
)

// pointsDirective is the directive that marks the spec.
const pointsDirective = "//hookgen:points"

const (
	directivePrefix = "//hookgen:"
	ignoreForm      = "//hookgen:ignore RULE REASON"
	keyForm         = "//hookgen:key NAME FIELD"
)

// directiveNames are the names that can follow the colon: points and wire above the points interface, local and key
// on a point, ignore at both places.
var directiveNames = []string{"points", "wire", "local", "key", "ignore"}

// A directive is a //hookgen: comment, or a comment that was probably meant as one.
type directive struct {
	pos        token.Pos
	text       string // the comment, one line of it if it is a block
	name       string // after the colon
	args       string // after the name
	wellFormed bool   // written as a directive is: no blank, lower case, a line comment of its own
}

// marksSpec reports whether d is a well-formed //hookgen:points.
func (d directive) marksSpec() bool { return d.wellFormed && d.name == "points" }

var (
	// directiveForm matches a directive and the rest of its line.
	directiveForm = regexp.MustCompile(`^//hookgen:(\S*)[ \t]*(.*)$`)
	// directiveSlip matches a line that was probably meant as a directive, for example "hookgen: points".
	directiveSlip = regexp.MustCompile(`(?i)^hookgen[ \t]*[:;.=/-]?[ \t]*([a-z]+)$`)
	// ignoreSlip matches the same for the directive that takes arguments.
	ignoreSlip = regexp.MustCompile(`(?i)^hookgen[ \t]*:[ \t]*(ignore)[ \t]+\S`)
	// otherPrefix matches the directives of other tools.
	otherPrefix = regexp.MustCompile(`^//[ \t]*([a-zA-Z]+):[ \t]*([a-zA-Z]+)([ \t]+\S.*)?$`)
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
		args := strings.TrimSpace(m[2])
		wellFormed := args == "" || m[1] == "ignore" || m[1] == "key" || !slices.Contains(directiveNames, m[1])
		return directive{pos: c.Slash, text: text, name: m[1], args: args, wellFormed: wellFormed}, true
	}
	body, block := strings.CutPrefix(text, "/*")
	if !block {
		body = strings.TrimPrefix(text, "//")
	}
	for line := range strings.Lines(strings.TrimSuffix(body, "*/")) {
		line = strings.Trim(line, " \t\r\n*")
		ignore := ignoreSlip.FindStringSubmatch(line)
		m := directiveSlip.FindStringSubmatch(line)
		if m == nil && ignore == nil {
			continue
		}
		if m == nil {
			m = ignore
		}
		// Prose may begin with the word hookgen. A line with a colon or the name of a directive is not prose.
		name := strings.ToLower(m[1])
		if strings.Contains(line, ":") && !strings.Contains(line, ": ") || resembles(name, directiveNames[:1]) ||
			slices.Contains(directiveNames, name) {
			if !block {
				line = text
			}
			return directive{pos: c.Slash, text: line, name: name}, true
		}
	}
	if m := otherPrefix.FindStringSubmatch(text); m != nil && m[1] != "hookvet" && resembles(m[1], []string{"hookgen"}) &&
		resembles(m[2], directiveNames) && (m[3] == "" || strings.ToLower(m[2]) == "ignore") {
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

// A target is the declaration that a directive marks.
type target struct {
	spec   *ast.TypeSpec // the type, or the interface that declares the method
	method *ast.Field    // nil for a type
}

// marked maps each line of a doc comment to the type, or to the method of an interface, that the comment documents. The
// comment of a parenthesized group documents no single type, so it is left out.
func marked(tree *ast.File) map[token.Pos]target {
	targets := map[token.Pos]target{}
	mark := func(doc *ast.CommentGroup, marked target) {
		if doc != nil {
			for _, c := range doc.List {
				targets[c.Slash] = marked
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
			mark(spec.Doc, target{spec: spec})
			if !group.Lparen.IsValid() {
				mark(group.Doc, target{spec: spec})
			}
			if body, ok := ast.Unparen(spec.Type).(*ast.InterfaceType); ok {
				for _, field := range body.Methods.List {
					if _, method := field.Type.(*ast.FuncType); method {
						mark(field.Doc, target{spec, field})
					}
				}
			}
		}
	}
	return targets
}

// readDirectives sets the fields of the model that directives determine.
func (r *specInfo) readDirectives() {
	for _, d := range r.directives {
		if !d.wellFormed || d.target.spec == nil {
			continue
		}
		rule, reason, _ := strings.Cut(d.args, " ")
		ignore := Ignore{Rule: rule, Reason: strings.TrimSpace(reason), Pos: d.pos}
		if d.marksType() != nil && d.marksType() == r.Interface {
			switch d.name {
			case "wire":
				r.Wire = true
			case "ignore":
				r.Ignores = append(r.Ignores, ignore)
			}
			continue
		}
		if d.target.method == nil {
			continue
		}
		if m := r.memberOf(d.target.method); m != nil {
			switch d.name {
			case "local":
				m.Local = true
			case "key":
				m.keyLine = &d.directive
			case "ignore":
				m.Ignores = append(m.Ignores, ignore)
			}
		}
	}
}
