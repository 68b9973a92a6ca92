package gen

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// run emits Run and NewRun.
func (e *emitter) run(f *jen.File) {
	comment(f, "Run is one run of the program: the environment that hooks see, its identity, and the state that hooks keep for it.")
	if len(e.spec.Parents) > 0 {
		parent := e.spec.Parents[0].Import.Path
		f.Type().Id("Run").Op("=").Qual(parent, "Run")
		comment(f, "NewRun returns a new run. Pass it to every fire of the run.")
		f.Var().Id("NewRun").Op("=").Qual(parent, "NewRun")
		return
	}
	env := jen.Struct()
	if e.spec.Env.Expr != nil {
		env = e.typ(e.spec.Env.Expr)
	}
	f.Type().Id("Run").Op("=").Qual(kit, "Run").Types(env)
	comment(f, "NewRun returns a new run. Pass it to every fire of the run.")
	f.Func().Id("NewRun").Params(jen.Id("env").Add(env)).Op("*").Id("Run").Block(
		jen.Return(jen.Qual(kit, "NewRun").Call(jen.Id("env"))))
}

// exports returns the declarations that make the exported names of the spec's package usable from a generated package
// of its own: an alias for each type, and constants in the groups of the source. Generic types go into main, where
// jennifer notes the imports of their constraints.
func (e *emitter) exports(main *jen.File) ([]string, error) {
	if !e.apart() {
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
			doc := docLines(x.Doc)
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

// constGroups returns the constants in the groups and in the order of the source. The files come in the order of their
// names: they are parsed at the same time, so that the order of positions of two files differs from run to run.
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

// constants returns the declaration of one group.
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
	comment(f, docLines(x.Doc)...)
	alias, args := f.Type().Id(x.Name), []jen.Code(nil)
	alias.TypesFunc(func(g *jen.Group) {
		for _, p := range x.Params {
			g.Id(p.Name).Add(e.typ(p.Type.Expr))
			args = append(args, jen.Id(p.Name))
		}
	})
	alias.Op("=").Qual(e.to.SpecPath, x.Name).Types(args...)
}

// exits emits, in a package of its own, the exit types; everywhere, where each is legal.
func (e *emitter) exits(f *jen.File) {
	legal := map[string][]string{}
	for _, p := range e.spec.List {
		for _, x := range p.Exits {
			legal[x.Name] = append(legal[x.Name], p.Name)
		}
	}
	for _, x := range e.spec.Exits {
		if e.apart() {
			lines := docLines(x.Doc)
			if len(lines) == 0 {
				lines = []string{x.Name + " is an exit."}
			}
			comment(f, append(lines, "//", "// Legal at "+strings.Join(legal[x.Name], ", ")+".")...)
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
		comment(f, x.Name+" is legal at these points.")
		for _, p := range legal[x.Name] {
			f.Func().Params(jen.Id(x.Name)).Id("legalAt" + p).Params().Block()
		}
		f.Func().Params(jen.Id(x.Name)).Id("isExit").Params().Block()
	}
}

// hooks emits Hooks, which holds the points, and its methods.
func (e *emitter) hooks(f *jen.File) {
	comment(f, "Hooks holds the hooks of every fire point, in the order of the spec. The zero value is ready to use: no hooks,",
		"no cost. It must not be copied. All methods may be called at any time from any goroutine, from inside a hook too;",
		"a fire uses the hooks that are registered when it begins.")
	f.Type().Id("Hooks").StructFunc(func(g *jen.Group) {
		for _, p := range e.spec.Parents {
			g.Id(parentField(p)).Qual(p.Import.Path, "Hooks").Comment("// the points of package " + p.Import.Name)
		}
		for _, p := range e.spec.List {
			comment(g, docLines(deprecation(p.Doc))...)
			g.Id(p.Name).Id(p.Name + "Point")
		}
	})

	comment(f, "Hook is a hook, or a bundle of hooks, that adds itself to its points. Bind may call Add, AddFunc, Observe, ObserveFunc,",
		"ObserveAny and Use on the Hooks it is given. It must not keep them, and must register something.")
	f.Type().Id("Hook").Interface(jen.Id("Bind").Params(jen.Op("*").Id("Hooks")))

	comment(f, "AnyObserver is notified of every fire of every point after it is decided.")
	if len(e.spec.Parents) > 0 {
		f.Type().Id("AnyObserver").Op("=").Qual(e.spec.Parents[0].Import.Path, "AnyObserver")
	} else {
		f.Type().Id("AnyObserver").Interface(jen.Id("Observe").Params(ctxParam(), runParam(), jen.Id("fired").Add(kitType("AnyFired"))))
	}

	f.Var().Id("_").Op("=").Add(implName("HooksType")).Types(jen.Id("Hooks")).Call()

	method := func(name string) *jen.Statement {
		return f.Func().Params(jen.Id("h").Op("*").Id("Hooks")).Id(name)
	}
	points := func() *jen.Statement { return jen.Id("h").Dot("Points").Call() }
	comment(f, "Use calls the hook's Bind and registers everything that it adds, all or nothing, as one registration. The options outrank",
		"those that Bind gave. Use panics, naming the place of the call, if the hook is nil, if Bind adds nothing, or if the order asked",
		"for is impossible.")
	method("Use").Params(jen.Id("k").Id("Hook"), jen.Id("opts").Op("...").Add(kitType("UseOption"))).Add(registration()).Block(
		jen.Id("staged").Op(":=").New(jen.Id("Hooks")),
		jen.Return(implName("Use").Call(points(), jen.Id("staged").Dot("Points").Call(),
			jen.Id("k"), jen.Func().Params().Block(jen.Id("k").Dot("Bind").Call(jen.Id("staged"))), jen.Id("opts"))))

	comment(f, "ObserveAny registers an observer of all points. It panics, naming the place of the call, if the observer is nil.")
	method("ObserveAny").Params(jen.Id("o").Id("AnyObserver"), jen.Id("opts").Op("...").Add(kitType("ObserverOption"))).Add(registration()).Block(
		jen.Return(implName("ObserveAny").Call(points(), jen.Id("o"),
			jen.Func().Params(ctxParam(), jen.Id("run").Add(kitType("AnyRun")), jen.Id("fired").Add(kitType("AnyFired"))).Block(
				jen.Id("o").Dot("Observe").Call(jen.Id("ctx"), implName("As").Types(jen.Op("*").Id("Run")).Call(jen.Id("run")), jen.Id("fired"))),
			jen.Id("opts"))))

	comment(f, "Layer returns new Hooks that fire the hooks of h first, whatever the priorities, and then their own. Later changes of h",
		"apply to them; their own changes never apply to h. The name appears in listings.")
	method("Layer").Params(jen.Id("name").String()).Op("*").Id("Hooks").Block(
		jen.Id("layer").Op(":=").New(jen.Id("Hooks")),
		implName("Layer").Call(jen.Id("name"), jen.Id("layer").Dot("Points").Call(), points()),
		jen.Return(jen.Id("layer")))

	comment(f, "Trace attaches a tracer to every point of h and of its layers, in addition to those attached before. Remove the returned",
		"registration to detach it.")
	method("Trace").Params(jen.Id("t").Add(kitType("Tracer"))).Add(registration()).Block(
		jen.Return(implName("Trace").Call(points(), jen.Id("t"))))

	comment(f, "HandleFailures calls handle for every failure that the caller of Fire does not receive, for example of an observer or of a hook",
		"at a FailOpen point. It applies to h and its layers, instead of the handler set before. With nil, a layer uses",
		"the handler of the outer layer, and the outermost Hooks log with slog, as by default.")
	method("HandleFailures").Params(jen.Id("handle").Func().Params(jen.Qual("context", "Context"), jen.Op("*").Add(kitType("Failure")))).Block(
		implName("HandleFailures").Call(points(), jen.Id("handle")))

	comment(f, "Registered returns the registrations of that name in h and in its outer layers, in the order in which they were made.")
	method("Registered").Params(jen.Id("name").String()).Index().Add(registration()).Block(
		jen.Return(implName("Registered").Call(points(), jen.Id("name"))))

	comment(f, "Explain writes every point, and every hook of it in firing order with the reasons for its position.")
	method("Explain").Params(jen.Id("w").Qual("io", "Writer")).Error().Block(
		jen.Return(implName("Explain").Call(jen.Id("w"), points())))

	comment(f, "Points describes every point, and gives access to it without its types.")
	method("Points").Params().Index().Add(kitType("PointInfo")).BlockFunc(func(g *jen.Group) {
		own := jen.Index().Add(kitType("PointInfo")).ValuesFunc(func(g *jen.Group) {
			for _, p := range e.spec.List {
				g.Line().Id("h").Dot(p.Name).Dot("registry").Dot("Info").Call(
					jen.Op("&").Id("h").Dot(p.Name), jen.Op("&").Id(lowerFirst(p.Name)+"Point"))
			}
			if len(e.spec.List) > 0 {
				g.Line()
			}
		})
		if len(e.spec.Parents) == 0 {
			g.Return(own)
			return
		}
		g.Id("points").Op(":=").Id("h").Dot(parentField(e.spec.Parents[0])).Dot("Points").Call()
		for _, p := range e.spec.Parents[1:] {
			g.Id("points").Op("=").Append(jen.Id("points"), jen.Id("h").Dot(parentField(p)).Dot("Points").Call().Op("..."))
		}
		g.Return(jen.Append(jen.Id("points"), own.Op("...")))
	})
}

// parentField is the field of Hooks that holds a parent's: the package's name, exported.
func parentField(p Parent) string {
	r, n := utf8.DecodeRuneInString(p.Import.Name)
	return string(unicode.ToUpper(r)) + p.Import.Name[n:]
}

func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}
