package gen

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"
)

// exports returns declarations that re-export the names of the spec's package from a generated package of its own.
// These are an alias for each type, and constants in the groups of the source. Generic types go into main, because
// jennifer has to collect the imports of their constraints.
func (e *emitter) exports(main *jen.File) ([]string, error) {
	if !e.separate() {
		return nil, nil
	}
	var texts []string
	add := func(text string, plain bool) error {
		if !plain {
			formatted, err := formatTwice([]byte(text))
			if err != nil {
				return err
			}
			text = string(formatted)
		}
		texts = append(texts, text)
		return nil
	}
	for _, x := range e.spec.Exports {
		switch {
		case x.Const:
		case len(x.Params) > 0:
			main.Comment(section)
			e.genericAlias(main, x)
		default:
			doc := e.aliasDoc(x)
			alias := fmt.Sprintf("type %s = %s.%s", x.Name, e.names[e.to.SpecPath], x.Name)
			if err := add(strings.Join(append(doc, alias), "\n"), plainDoc(doc)); err != nil {
				return nil, err
			}
		}
	}
	for _, group := range constGroups(e.spec.Exports, e.spec.Fset) {
		text, plain := e.constants(group)
		if err := add(text, plain); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// aliasDoc returns the comment of an alias. Documentation of Go shows neither the fields nor the methods of the type
// that an alias is for, so the comment lists and links them.
func (e *emitter) aliasDoc(x Export) []string {
	see := fmt.Sprintf("[%s.%s]", e.names[e.to.SpecPath], x.Name)
	doc := docLines(x.Doc)
	last := "Its fields and methods are those of " + see + "."
	if x.Parts != "" {
		last = x.Parts + " See " + see + "."
	}
	if len(doc) == 0 {
		doc, last = []string{"// " + x.Name + " is " + see + "."}, x.Parts
	}
	if last == "" {
		return doc
	}
	return append(append(doc, "//"), strings.Split(fill("// "+last), "\n")...)
}

// constGroups returns the constants in the groups and order of the source. It sorts the files by name: they are parsed
// concurrently, so their positions differ from run to run.
func constGroups(exports []Export, fset *token.FileSet) [][]Export {
	var groups [][]Export
	at := map[token.Pos]int{}
	for _, x := range exports {
		if !x.Const {
			continue
		}
		i, ok := at[x.Group]
		if !ok {
			i = len(groups)
			at[x.Group] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], x)
	}
	slices.SortFunc(groups, func(a, b []Export) int {
		one, other := fset.PositionFor(a[0].Group, false), fset.PositionFor(b[0].Group, false)
		return cmp.Or(cmp.Compare(one.Filename, other.Filename), cmp.Compare(one.Offset, other.Offset))
	})
	for _, g := range groups {
		slices.SortFunc(g, func(a, b Export) int { return cmp.Compare(a.Pos, b.Pos) })
	}
	return groups
}

// constants returns the declaration of one group, and whether gofmt would leave it unchanged.
func (e *emitter) constants(group []Export) (text string, plain bool) {
	value := func(x Export) string { return fmt.Sprintf("%s = %s.%s", x.Name, e.names[e.to.SpecPath], x.Name) }
	if len(group) == 1 && group[0].GroupDoc == "" {
		doc := docLines(group[0].Doc)
		return strings.Join(append(doc, "const "+value(group[0])), "\n"), plainDoc(doc)
	}
	lines := append(docLines(group[0].GroupDoc), "const (")
	for _, x := range group {
		lines = append(append(lines, docLines(x.Doc)...), value(x))
	}
	return strings.Join(append(lines, ")"), "\n"), false
}

// genericAlias emits the alias of a generic type.
func (e *emitter) genericAlias(f *jen.File, x Export) {
	comment(f, e.aliasDoc(x)...)
	alias, args := f.Type().Id(x.Name), []jen.Code(nil)
	alias.TypesFunc(func(g *jen.Group) {
		for _, p := range x.Params {
			g.Id(p.Name).Add(e.typ(p.Type.Expr))
			args = append(args, jen.Id(p.Name))
		}
	})
	alias.Op("=").Qual(e.to.SpecPath, x.Name).Types(args...)
}

// exits emits the exit types, if the output is a package of its own, and the methods that make each exit legal at its
// points.
func (e *emitter) exits(f *jen.File) {
	legal := map[string][]string{}
	for _, p := range e.spec.Points {
		for _, x := range p.Exits {
			legal[x] = append(legal[x], p.Name)
		}
	}
	for _, x := range e.spec.Exits {
		if e.separate() {
			lines := docLines(x.Doc)
			if len(lines) == 0 {
				lines = []string{x.Name + " is an exit."}
			}
			comment(f, append(lines, "//")...)
			prose(f, "Legal at "+strings.Join(legal[x.Name], ", ")+".")
			f.Type().Id(x.Name).StructFunc(func(g *jen.Group) {
				for _, field := range x.Fields {
					comment(g, docLines(field.Doc)...)
					c := jen.Null()
					if !field.Embedded {
						c.Id(field.Name)
					}
					c.Add(e.typ(field.Type.Expr))
					if field.Tag != "" {
						c.Op(literal(field.Tag))
					}
					g.Add(c)
				}
			})
		}
		prose(f, x.Name+" is legal at these points.")
		for _, p := range legal[x.Name] {
			f.Func().Params(jen.Id(x.Name)).Id("legalAt" + p).Params().Block()
		}
		f.Func().Params(jen.Id(x.Name)).Id("isExit").Params().Block()
	}
}
