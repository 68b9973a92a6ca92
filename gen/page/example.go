package page

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	pathpkg "path"
	"slices"
	"strconv"
	"strings"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/summary"
)

// An examples writes the example hooks of a page. They are the parts of one file, so that each shows a hook and nothing
// else. The file is in a package of its own that imports the generated one. It is in the generated package itself if
// that cannot be imported, because it is a program, or if a point has a type that other packages cannot name.
type examples struct {
	spec    *summary.Spec
	to      Generated
	inside  bool              // the file is in the generated package
	names   map[string]string // import paths to their names in the file
	taken   map[string]bool   // names of the file and its package
	imports []string          // the paths that the examples use
}

// Names of local variables in examples.
var locals = []string{"ctx", "run", "h", "hooks", "next", "value", "start", "answer", "err", "payload"}

func newExamples(s *summary.Spec, to Generated) *examples {
	e := &examples{spec: s, to: to, names: map[string]string{}, taken: map[string]bool{}}
	e.inside = to.Path == "" || to.Package == "main" || slices.ContainsFunc(s.Points, func(p *summary.Point) bool {
		types := []summary.Type{p.Payload, p.Edit, p.Collect, p.Around}
		return slices.ContainsFunc(types, func(t summary.Type) bool { return slices.ContainsFunc(t.Names, e.hidden) })
	})
	for _, name := range locals {
		e.taken[name] = true
	}
	if e.inside {
		for _, name := range s.Declared {
			e.taken[name] = true
		}
	}
	for _, path := range []string{"context", "log/slog", "time", hookkitPath} {
		e.importName(path, pathpkg.Base(path))
	}
	if !e.inside {
		e.importName(to.Path, to.Package)
	}
	for _, i := range s.Imports {
		e.importName(i.Path, i.Name)
	}
	return e
}

// hidden reports whether a name belongs to the spec's package and cannot be used in others.
func (e *examples) hidden(name string) bool {
	return !token.IsExported(name) && slices.Contains(e.spec.Declared, name)
}

// importName gives an imported package its name in the file. The wanted name gets a number if it is taken.
func (e *examples) importName(path, wanted string) {
	if e.names[path] == "" {
		e.names[path] = e.free(wanted)
	}
}

// free returns a name that is not taken, and takes it.
func (e *examples) free(wanted string) string {
	name := wanted
	for n := 2; e.taken[name]; n++ {
		name = wanted + strconv.Itoa(n)
	}
	e.taken[name] = true
	return name
}

// use returns the name of a package that an example needs.
func (e *examples) use(path string) string {
	if !slices.Contains(e.imports, path) {
		e.imports = append(e.imports, path)
	}
	return e.names[path]
}

// own returns a name of the generated package as the file writes it.
func (e *examples) own(name string) string {
	if e.inside {
		return name
	}
	return e.use(e.to.Path) + "." + name
}

// pkg returns the name of the package of the file.
func (e *examples) pkg() string {
	switch {
	case e.inside:
		return e.to.Package
	case e.to.Package == "hooks":
		return "myhooks"
	}
	return "hooks"
}

// clause returns the package clause and the imports of the file.
func (e *examples) clause() string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n", e.pkg())
	if len(e.imports) == 0 {
		return b.String()
	}
	var groups [2][]string // those of the standard library, and others
	slices.Sort(e.imports)
	for _, p := range e.imports {
		line := fmt.Sprintf("\t%q\n", p)
		if e.names[p] != pathpkg.Base(p) {
			line = fmt.Sprintf("\t%s %q\n", e.names[p], p)
		}
		group := 0
		if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") {
			group = 1
		}
		groups[group] = append(groups[group], line)
	}
	separator := ""
	if len(groups[0]) > 0 && len(groups[1]) > 0 {
		separator = "\n"
	}
	fmt.Fprintf(&b, "\nimport (\n%s%s%s)\n", strings.Join(groups[0], ""), separator, strings.Join(groups[1], ""))
	return b.String()
}

// typ returns a type of the spec as the file writes it.
func (e *examples) typ(t summary.Type) string {
	expr, err := parser.ParseExpr(t.Source)
	if err != nil {
		return t.Text // it was parsed before
	}
	e.qualify(expr)
	var b strings.Builder
	if err := printer.Fprint(&b, token.NewFileSet(), expr); err != nil {
		return t.Text
	}
	return b.String()
}

// qualify changes the names in a type to those of the file.
func (e *examples) qualify(node ast.Node) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			e.qualify(n.Type)
			return false
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				for _, i := range e.spec.Imports {
					if i.Name == x.Name {
						x.Name = e.use(i.Path)
						break
					}
				}
			}
			return false
		case *ast.Ident:
			if e.declared(n.Name) {
				n.Name = e.own(n.Name)
			}
		}
		return true
	})
}

func (e *examples) declared(name string) bool { return slices.Contains(e.spec.Declared, name) }

// hook returns the example for a point: a type with Bind and the method of the point, formatted.
func (e *examples) hook(p *summary.Point) (string, error) {
	hook := e.free(p.Name + "Hook")
	payload := e.typ(p.Payload)
	param := p.Param
	if param == "" || e.taken[param] {
		param = "payload"
	}
	outcomes := e.outcomes(p, param)
	fields, results := "", ""
	switch {
	case len(outcomes) == 1:
		fields = fmt.Sprintf("\n\t// applies is your own rule.\n\tapplies func(%s) bool\n", payload)
	case len(outcomes) > 1:
		fields = fmt.Sprintf("\n\t// choose is your own rule: 0 continues.\n\tchoose func(%s) int\n", payload)
	case p.Kind == gen.Check:
		fields = fmt.Sprintf("\n\t// check is your own rule.\n\tcheck func(%s) error\n", payload)
	}
	contribution := ""
	if p.Collects() {
		contribution = "[]" + e.typ(p.Collect)
		fields += fmt.Sprintf("\n\t// values are the contributions.\n\tvalues %s\n", contribution)
	}
	switch p.Kind {
	case gen.Observe, gen.Check:
		results = "error"
	case gen.Around:
		results = fmt.Sprintf("(%s.Answer[%s], error)", e.use(hookkitPath), e.typ(p.Around))
	case gen.Collect:
		results = "(" + contribution + ", error)"
	default:
		results = "(" + e.own(p.Name+"Outcome") + ", error)"
		if contribution != "" {
			results = "(" + e.own(p.Name+"Outcome") + ", " + contribution + ", error)"
		}
	}
	next := ""
	if p.Kind == gen.Around {
		next = ", next " + e.own(p.Name+"Next")
	}
	context := e.use("context")
	var b strings.Builder
	fmt.Fprintf(&b, "// %s is a hook of %s.\ntype %s struct {%s}\n\n", hook, p.Name, hook, fields)
	fmt.Fprintf(&b, "// Bind adds the hook to its point.\nfunc (h %s) Bind(hooks *%s) { hooks.%s.Add(h) }\n\n", hook,
		e.own("Hooks"), p.Name)
	fmt.Fprintf(&b, "// %s %s\n", p.Name, methodDoc[p.Kind])
	params := fmt.Sprintf("ctx %s.Context, run *%s, %s %s%s", context, e.own("Run"), param, payload, next)
	if len(hook)+len(p.Name)+len(params)+len(results) > 90 {
		params = "\n" + params + ",\n"
	}
	fmt.Fprintf(&b, "func (h %s) %s(%s) %s {\n%s}\n", hook, p.Name, params, results, e.body(p, param, outcomes))
	text, err := format.Source([]byte(b.String()))
	if err != nil {
		return "", fmt.Errorf("the example of %s does not parse: %w", p.Name, err)
	}
	return string(text), nil
}

const hookkitPath = "github.com/hookgen/hookgen/hookkit"

var methodDoc = map[gen.Kind]string{
	gen.Observe: "watches. An error is reported and changes nothing.",
	gen.Flow:    "decides, or continues with nil.",
	gen.Vote:    "votes, or abstains with nil.",
	gen.Collect: "contributes values.",
	gen.Check:   "refuses with an error.",
	gen.Around:  "measures the act. Without next.Call the act does not run.",
}

// An outcome is a decision of a hook, as an expression and in words.
type outcome struct{ code, words string }

// outcomes returns the decisions that a hook may return at a point, except for nil.
func (e *examples) outcomes(p *summary.Point, param string) []outcome {
	var all []outcome
	if p.Replace {
		all = append(all, outcome{fmt.Sprintf("%s(%s, \"why\")", e.own("Replace"+p.Name), param), "with a changed copy"})
	}
	if p.Edits() {
		all = append(all, outcome{
			fmt.Sprintf("%s(%s.%s, \"why\")", e.own("Edit"+p.Name), param, p.EditField), "with another value"})
	}
	for _, name := range p.Exits {
		all = append(all, outcome{e.own(name) + e.fields(name), ""})
	}
	return all
}

// fields returns the fields of an exit in an example: the reason, if it has one.
func (e *examples) fields(exit string) string {
	for _, x := range e.spec.Exits {
		for _, f := range x.Fields {
			if x.Name == exit && f.Name == "Reason" && f.Type.Text == "string" && !e.declared("string") {
				return `{Reason: "why"}`
			}
		}
	}
	return "{}"
}

// body returns the statements of the example.
func (e *examples) body(p *summary.Point, param string, outcomes []outcome) string {
	var b strings.Builder
	switch p.Kind {
	case gen.Observe:
		slog := e.use("log/slog")
		fmt.Fprintf(&b, "%s.InfoContext(ctx, %q, \"payload\", %s)\nreturn nil\n", slog, p.Name, param)
		return b.String()
	case gen.Check:
		fmt.Fprintf(&b, "return h.check(%s)\n", param)
		return b.String()
	case gen.Around:
		slog, time := e.use("log/slog"), e.use("time")
		fmt.Fprintf(&b, "start := %s.Now()\nanswer, err := next.Call(ctx, %s)\n", time, param)
		fmt.Fprintf(&b, "%s.InfoContext(ctx, %q, \"took\", %s.Since(start))\nreturn answer, err\n", slog, p.Name, time)
		return b.String()
	case gen.Collect:
		return "return h.values, nil\n"
	}
	rest := "nil"
	if p.Collects() {
		rest = "h.values, nil"
	}
	say := func(o outcome) string {
		if o.words == "" {
			return fmt.Sprintf("return %s, %s\n", o.code, rest)
		}
		return fmt.Sprintf("return %s, %s // %s\n", o.code, rest, o.words)
	}
	if len(outcomes) == 1 {
		fmt.Fprintf(&b, "if h.applies(%s) {\n%s}\n", param, say(outcomes[0]))
	} else {
		fmt.Fprintf(&b, "switch h.choose(%s) {\n", param)
		for n, o := range outcomes {
			fmt.Fprintf(&b, "case %d:\n%s", n+1, say(o))
		}
		b.WriteString("}\n")
	}
	fmt.Fprintf(&b, "return nil, %s\n", rest)
	return b.String()
}
