package gen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// run emits Run and NewRun.
func (e *emitter) run(f *jen.File) {
	comment(f, "Run is one run of the program: what it shares with its hooks, its identity, and the state that they keep for it.")
	if len(e.spec.Parents) > 0 {
		parent := e.spec.Parents[0].Import.Path
		f.Type().Id("Run").Op("=").Qual(parent, "Run")
		comment(f, "NewRun returns a new run; hand it to every fire.")
		f.Var().Id("NewRun").Op("=").Qual(parent, "NewRun")
		return
	}
	env := jen.Struct()
	if e.spec.Env.Expr != nil {
		env = e.typ(e.spec.Env.Expr)
	}
	f.Type().Id("Run").Op("=").Qual(kit, "Run").Types(env)
	comment(f, "NewRun returns a new run; hand it to every fire.")
	f.Func().Id("NewRun").Params(jen.Id("env").Add(env)).Op("*").Id("Run").Block(
		jen.Return(jen.Qual(kit, "NewRun").Call(jen.Id("env"))))
}

// exports makes what the spec's package exports usable from a generated package of its own.
func (e *emitter) exports(ps *pieces) {
	if !e.apart() {
		return
	}
	for _, x := range e.spec.Exports {
		doc := docLines(x.Doc)
		if len(x.Params) == 0 && plainDoc(doc) {
			word := "type"
			if x.Const {
				word = "const"
			}
			text := fmt.Sprintf("%s %s = %s.%s", word, x.Name, e.names[e.to.SpecPath], x.Name)
			ps.casts = append(ps.casts, cast{text: strings.Join(append(doc, text), "\n")})
			continue
		}
		add := ps.alone
		if len(x.Params) > 0 {
			add = ps.once // where imports are noted, for its constraints may be all that needs one
		}
		add(func(f *jen.File) {
			comment(f, doc...)
			if x.Const {
				f.Const().Id(x.Name).Op("=").Qual(e.to.SpecPath, x.Name)
				return
			}
			alias, args := f.Type().Id(x.Name), []jen.Code(nil)
			if len(x.Params) > 0 {
				alias.TypesFunc(func(g *jen.Group) {
					for _, p := range x.Params {
						g.Id(p.Name).Add(e.typ(p.Type.Expr))
						args = append(args, jen.Id(p.Name))
					}
				})
			}
			alias.Op("=").Qual(e.to.SpecPath, x.Name)
			if len(args) > 0 {
				alias.Types(args...)
			}
		})
	}
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
					c := g.Id(field.Name).Add(e.typ(field.Type.Expr))
					if field.Tag != "" {
						c.Op(literal(field.Tag))
					}
				}
			})
		}
		comment(f, "Where "+x.Name+" is legal.")
		for _, p := range legal[x.Name] {
			f.Func().Params(jen.Id(x.Name)).Id("legalAt" + p).Params().Block()
		}
		f.Func().Params(jen.Id(x.Name)).Id("isExit").Params().Block()
	}
}

// hooks emits the registry of registries.
func (e *emitter) hooks(f *jen.File) {
	comment(f, "Hooks holds the hooks of every fire point, in the order of the spec. The zero value is ready to use: no hooks,",
		"no cost. It must not be copied. All methods may be called at any time from any goroutine, from inside a hook too;",
		"a fire uses the hooks that stood when it began.")
	f.Type().Id("Hooks").StructFunc(func(g *jen.Group) {
		for _, p := range e.spec.Parents {
			g.Id(parentField(p)).Qual(p.Import.Path, "Hooks").Comment("// the points of package " + p.Import.Name)
		}
		for _, p := range e.spec.List {
			g.Id(p.Name).Id(p.Name + "Point")
		}
	})

	comment(f, "Hook is a hook, or a bundle of them, that adds itself to its points when it is used. Bind may call Add, Observe,",
		"ObserveAny and Use on the Hooks it is given, and must not keep them.")
	f.Type().Id("Hook").Interface(jen.Id("Bind").Params(jen.Op("*").Id("Hooks")))

	comment(f, "AnyObserver is told of every firing of every point after it was decided.")
	if len(e.spec.Parents) > 0 {
		f.Type().Id("AnyObserver").Op("=").Qual(e.spec.Parents[0].Import.Path, "AnyObserver")
	} else {
		f.Type().Id("AnyObserver").Interface(jen.Id("Observe").Params(ctxParam(), runParam(), jen.Id("fired").Qual(kit, "AnyFired")))
	}

	method := func(name string) *jen.Statement {
		return f.Func().Params(jen.Id("h").Op("*").Id("Hooks")).Id(name)
	}
	comment(f, "Use lets the hook bind itself, all or nothing, under one registration. What the options say outranks what Bind said.",
		"It panics, naming the place, if the hook is nil or the order asked for is impossible.")
	method("Use").Params(jen.Id("k").Id("Hook"), jen.Id("opts").Op("...").Qual(kit, "UseOption")).Op("*").Qual(kit, "Registration").Block(
		jen.Id("staging").Op(":=").New(jen.Id("Hooks")),
		jen.Return(jen.Qual(kit, "Use").Call(jen.Id("h").Dot("Points").Call(), jen.Id("staging").Dot("Points").Call(),
			jen.Id("k"), jen.Func().Params().Block(jen.Id("k").Dot("Bind").Call(jen.Id("staging"))), jen.Id("opts"))))

	comment(f, "ObserveAny adds an observer of all points. It panics, naming the place, if the observer is nil.")
	method("ObserveAny").Params(jen.Id("o").Id("AnyObserver"), jen.Id("opts").Op("...").Qual(kit, "ObserverOption")).Op("*").Qual(kit, "Registration").Block(
		jen.Return(jen.Qual(kit, "ObserveAny").Call(jen.Id("h").Dot("Points").Call(), jen.Id("o"), jen.Id("opts"))))

	comment(f, "Layer returns new Hooks that fire the hooks of h first, whatever the priorities, and then their own. They follow",
		"every later change of h and never change it.")
	method("Layer").Params().Op("*").Id("Hooks").Block(
		jen.Id("child").Op(":=").New(jen.Id("Hooks")),
		jen.Qual(kit, "Layer").Call(jen.Id("child").Dot("Points").Call(), jen.Id("h").Dot("Points").Call()),
		jen.Return(jen.Id("child")))

	comment(f, "Trace attaches the tracer, in place of the one attached before, to every point of h and of its layers; nil detaches.")
	method("Trace").Params(jen.Id("t").Qual(kit, "Tracer")).Block(
		jen.Qual(kit, "Trace").Call(jen.Id("h").Dot("Points").Call(), jen.Id("t")))

	comment(f, "Explain writes every point, and every hook of it in firing order with why it stands there.")
	method("Explain").Params(jen.Id("w").Qual("io", "Writer")).Error().Block(
		jen.Return(jen.Qual(kit, "Explain").Call(jen.Id("w"), jen.Id("h").Dot("Points").Call())))

	comment(f, "Points describes every point and, at the moment of asking, its hooks.")
	method("Points").Params().Index().Qual(kit, "PointInfo").BlockFunc(func(g *jen.Group) {
		own := jen.Index().Qual(kit, "PointInfo").ValuesFunc(func(g *jen.Group) {
			for _, p := range e.spec.List {
				g.Line().Id("h").Dot(p.Name).Dot("Info").Call()
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

	f.Line()
	comment(f, "Of each point below that is no around point, Fire is inlined where it is called; fire is its loop over a plan, nil",
		"for what is registered now; watch is the same with somebody to tell.")
	f.Line()
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

func ctxParam() *jen.Statement { return jen.Id("ctx").Qual("context", "Context") }

func runParam() *jen.Statement { return jen.Id("run").Op("*").Id("Run") }
