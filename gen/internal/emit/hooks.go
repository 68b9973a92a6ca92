package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"
	"github.com/hookgen/hookgen/gen/model"
)

// hooks emits Hooks, the struct of all points, and its methods, and Run.
func (e *emitter) hooks(f *jen.File) {
	e.check(f)
	prose(f, "Hooks holds the hooks of every fire point, in the order of the spec. The zero value is ready to use: no",
		"hooks, no cost. It must not be copied. All methods may be called at any time from any goroutine, from inside a",
		"hook too; a fire uses the hooks that are registered when it begins.")
	f.Type().Id("Hooks").StructFunc(func(g *jen.Group) {
		for _, p := range e.spec.Parents {
			g.Id(ParentField(p.Import.Name)).Qual(p.Import.Path, "Hooks").Comment("// the points of package " + p.Import.Name)
		}
		for _, p := range e.spec.Points {
			fieldDoc(g, p)
			g.Id(p.Name).Id(p.Name + "Point").Line()
		}
		g.Id("hookgenPin").Add(implName("Pin")).Types(jen.Id("Hooks"))
	})

	prose(f, "Hook is a hook, or a bundle of hooks, that adds itself to its points. Bind may call Add, AddFunc,",
		"Observe, ObserveFunc, ObserveAny and Use on the Hooks it is given. It must not keep them, and must register",
		"something.")
	f.Type().Id("Hook").Interface(jen.Id("Bind").Params(jen.Op("*").Id("Hooks")))

	prose(f, "AnyObserver is notified of every fire of every point after it is decided.")
	if len(e.spec.Parents) > 0 {
		f.Type().Id("AnyObserver").Op("=").Qual(e.spec.Parents[0].Import.Path, "AnyObserver")
	} else {
		f.Type().Id("AnyObserver").Interface(jen.Id("Observe").Params(code(ctxParam()), code(runParam()),
			jen.Id("fired").Add(kitType("AnyFired"))))
	}

	hooksMethods(f)
	e.pointsMethod(f)
	e.run(f)
	e.keys(f)
}

// keys emits the option of each key.
func (e *emitter) keys(f *jen.File) {
	met := map[string]bool{}
	for _, p := range e.spec.Points {
		name := p.Key.Name
		if name == "" || met[name] {
			continue
		}
		met[name] = true
		prose(f, "For"+name+" is an option of Add, Observe and Use: the hook is called in fires with one of these keys only,",
			"and costs nothing in others. It is legal at the points whose comment names it; For"+name+" without a key panics.")
		keys := jen.Id("keys").Op("...").Add(e.typ(p.Key.Type.Expr))
		f.Func().Id("For" + name).Params(keys).Add(kitType("KeyOption")).Block(
			jen.Return(implName("For").Call(jen.Lit(name), jen.Id("keys"))))
	}
}

// fieldDoc adds the comment of the point and its law to its field, because editors show the comment of a field where a
// program writes hooks.BeforeTool.
func fieldDoc(g *jen.Group, p *model.Point) {
	head, deprecated := splitDoc(p.Doc)
	if len(head) > 0 {
		comment(g, append(head, "//")...)
	}
	prose(g, lawDoc(p))
	if len(deprecated) > 0 {
		comment(g, append([]string{"//"}, deprecated...)...)
	}
}

// lawDoc returns the law of a point for the comments of its interface and its field.
func lawDoc(p *model.Point) string { return p.LawWords() + " " + p.FailureWords() }

// hooksMethods emits the methods of Hooks, which are the same for each spec.
func hooksMethods(f *jen.File) {
	method := func(name string) *jen.Statement {
		return f.Func().Params(jen.Id("h").Op("*").Id("Hooks")).Id(name)
	}
	points := func() *jen.Statement { return jen.Id("h").Dot("Points").Call() }
	prose(f, "Use calls the hook's Bind and registers everything that it adds, all or nothing, as one registration.",
		"The options outrank those that Bind gave. Use panics, naming the place of the call, if the hook is nil, if Bind",
		"adds nothing, or if the order asked for is impossible.")
	method("Use").Params(jen.Id("k").Id("Hook"),
		jen.Id("opts").Op("...").Add(kitType("UseOption"))).Add(registration()).Block(
		jen.Id("staged").Op(":=").New(jen.Id("Hooks")),
		jen.Return(implName("Use").Call(points(), jen.Id("staged").Dot("Points").Call(),
			jen.Id("k"), jen.Func().Params().Block(jen.Id("k").Dot("Bind").Call(jen.Id("staged"))), jen.Id("opts"))))

	prose(f,
		"ObserveAny registers an observer of all points. It panics, naming the place of the call, if the observer is nil.")
	method("ObserveAny").Params(jen.Id("o").Id("AnyObserver"),
		jen.Id("opts").Op("...").Add(kitType("ObserverOption"))).Add(registration()).Block(
		jen.Return(implName("ObserveAny").Call(points(), jen.Id("o"),
			jen.Func().Params(
				code(ctxParam()), jen.Id("run").Add(kitType("AnyRun")), jen.Id("fired").Add(kitType("AnyFired")),
			).Block(
				jen.Id("o").Dot("Observe").Call(jen.Id("ctx"), implName("As").Types(jen.Op("*").Id("Run")).Call(jen.Id("run")),
					jen.Id("fired"))),
			jen.Id("opts"))))

	prose(f, "Layer returns new Hooks that fire the hooks of h first, whatever the priorities, and then their own.",
		"Later changes of h apply to them; their own changes never apply to h. The name appears in listings.")
	method("Layer").Params(jen.Id("name").String()).Op("*").Id("Hooks").Block(
		jen.Id("layer").Op(":=").New(jen.Id("Hooks")),
		implName("Layer").Call(jen.Id("name"), jen.Id("layer").Dot("Points").Call(), points()),
		jen.Return(jen.Id("layer")))

	prose(f, "Over returns new Hooks that fire the hooks of h first, whatever the priorities, and then those of inner.",
		"Later changes of both apply to them. Layers that both have fire once. Observers and tracers of both are",
		"notified, and failures go to the handler of inner, or to that of h if inner has none. Listings show the hooks",
		"of inner under the name. Registering on the result panics; a Layer on it is legal.")
	method("Over").Params(jen.Id("inner").Op("*").Id("Hooks"), jen.Id("name").String()).Op("*").Id("Hooks").Block(
		jen.Id("both").Op(":=").New(jen.Id("Hooks")),
		implName("Over").Call(jen.Id("name"), jen.Id("both").Dot("Points").Call(), points(),
			jen.Id("inner").Dot("Points").Call()),
		jen.Return(jen.Id("both")))

	prose(f,
		"Pinned returns Hooks that fire what h fires now, whatever changes later. For example, a request fires several",
		"points, and all of them see one version of the hooks while an operator replaces some. Registering on the result",
		"panics; a Layer on it is legal. The result is the same, at no cost, until something changes on h or on a layer",
		"outside it.")
	method("Pinned").Params().Op("*").Id("Hooks").Block(
		jen.If(jen.Id("now").Op(":=").Id("h").Dot("hookgenPin").Dot("Now").Call(), jen.Id("now").Op("!=").Nil()).Block(
			jen.Return(jen.Id("now"))),
		jen.Return(implName("Pinned").Call(jen.Op("&").Id("h").Dot("hookgenPin"), jen.Id("h"),
			jen.Parens(jen.Op("*").Id("Hooks")).Dot("Points"))))

	prose(f, "Trace attaches a tracer to every point of h and of its layers, in addition to those attached before.",
		"Remove the returned registration to detach it.")
	method("Trace").Params(jen.Id("t").Add(kitType("Tracer"))).Add(registration()).Block(
		jen.Return(implName("Trace").Call(points(), jen.Id("t"))))

	prose(f, "HandleFailures calls handle for every failure that the caller of Fire does not receive, for example of",
		"an observer or of a hook at a FailOpen point. It applies to h and its layers, instead of the handler set before.",
		"With nil, a layer uses the handler of the outer layer, and the outermost Hooks log with slog, as by default.")
	method("HandleFailures").Params(jen.Id("handle").Func().Params(jen.Qual("context", "Context"),
		jen.Op("*").Add(kitType("Failure")))).Block(
		implName("HandleFailures").Call(points(), jen.Id("handle")))

	prose(f, "Registered returns the registrations of that name in h and in its outer layers, in the order in which",
		"they were made. A Use and the calls of Add and Observe in its Bind are registrations of their own, the Use",
		"first.")
	method("Registered").Params(jen.Id("name").String()).Index().Add(registration()).Block(
		jen.Return(implName("Registered").Call(points(), jen.Id("name"))))

	prose(f, "Explain writes every point, and every hook of it in firing order with the reasons for its position.")
	method("Explain").Params(jen.Id("w").Qual("io", "Writer")).Error().Block(
		jen.Return(implName("Explain").Call(jen.Id("w"), points())))
}

// pointsMethod emits the method of Hooks that lists its points, those of extended packages first.
func (e *emitter) pointsMethod(f *jen.File) {
	prose(f, "Points describes every point, and gives access to it without its types.")
	method := f.Func().Params(jen.Id("h").Op("*").Id("Hooks")).Id("Points").Params().Index().Add(kitType("AnyPoint"))
	method.BlockFunc(func(g *jen.Group) {
		own := implName("AnyPoints").CallFunc(func(g *jen.Group) {
			g.Lit(e.to.Source)
			for _, p := range e.spec.Points {
				g.Line().Op("&").Id("h").Dot(p.Name)
			}
			if len(e.spec.Points) > 0 {
				g.Line()
			}
		})
		if len(e.spec.Parents) == 0 {
			g.Return(own)
			return
		}
		g.Id("points").Op(":=").Id("h").Dot(ParentField(e.spec.Parents[0].Import.Name)).Dot("Points").Call()
		for _, p := range e.spec.Parents[1:] {
			more := jen.Id("h").Dot(ParentField(p.Import.Name)).Dot("Points").Call()
			g.Id("points").Op("=").Append(jen.Id("points"), more.Op("..."))
		}
		g.Return(jen.Append(jen.Id("points"), own.Op("...")))
	})
}

// run emits Run and NewRun.
func (e *emitter) run(f *jen.File) {
	prose(f, "Run is one run of the program: the environment that hooks see, its identity, and the state that hooks keep",
		"for it. Its methods are those of [hookkit.Run].")
	if len(e.spec.Parents) > 0 {
		parent := e.spec.Parents[0].Import.Path
		f.Type().Id("Run").Op("=").Qual(parent, "Run")
		prose(f, "NewRun returns a new run. Pass it to every fire of the run.")
		f.Var().Id("NewRun").Op("=").Qual(parent, "NewRun")
		return
	}
	env := jen.Struct()
	if e.spec.Env.Expr != nil {
		env = e.typ(e.spec.Env.Expr)
	}
	f.Type().Id("Run").Op("=").Qual(kit, "Run").Types(env)
	prose(f, "NewRun returns a new run. Pass it to every fire of the run.")
	f.Func().Id("NewRun").Params(jen.Id("env").Add(env)).Op("*").Id("Run").Block(
		jen.Return(jen.Qual(kit, "NewRun").Call(jen.Id("env"))))
}

// shared emits the machinery that does not belong to one point.
func (e *emitter) shared(f *jen.File) {
	comment(f, strings.Split(strings.TrimSpace(banner), "\n")...)
	f.Line()
	f.Var().Id("_").Op("=").Add(implName("HooksType")).Types(jen.Id("Hooks")).Call()
	prose(f, registryAlias+" is embedded in each point for its methods.",
		"The name of the alias keeps the rest of it private.")
	id := jen.Id
	observe := jen.Func().Params(ctxParam().typ, runParam().typ, id("Fired"))
	f.Type().Id(registryAlias).Types(id("D").Add(implName("Description")),
		jen.List(id("H"), id("O"), id("Option"), id("F"), id("Fired")).Any()).Op("=").
		Add(implName("PointRegistry")).Custom(jen.Options{Open: "[", Close: "]", Separator: ",", Multi: true},
		jen.List(id("D"), id("H"), id("F"), id("O"), observe, id("Option")))
}

// banner separates the API from the machinery.
const banner = `
Machinery. Of what follows, programs use only the method Call of the Next types.

Fire is small enough to be inlined, and calls runHooks only if something is registered. runHooks
is the loop over the hooks of a snapshot; without one, it takes the hooks that are registered now.
Current returns nil if something changed since the last fire, or if there are observers or tracers.
Then runHooks calls itself and notifies them. At an around point, it begins with the first hook, and
Next.Call calls the next hook or the act.

inv.Hook is the running hook, counted from 1, so that the deferred function knows after a panic
which hook it was.`
