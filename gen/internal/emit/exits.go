package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"
	"github.com/hookgen/hookgen/gen/model"
)

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
			f.Type().Id(x.Name).StructFunc(func(g *jen.Group) { e.exitFields(g, x) })
		}
		prose(f, x.Name+" is legal at these points.")
		for _, p := range legal[x.Name] {
			f.Func().Params(jen.Id(x.Name)).Id("legalAt" + p).Params().Block()
		}
		f.Func().Params(jen.Id(x.Name)).Id("isExit").Params().Block()
	}
}

// exitFields repeats the fields of an exit.
func (e *emitter) exitFields(g *jen.Group, x *model.Exit) {
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
}
