package gen

import "github.com/dave/jennifer/jen"

func (p *pointEmitter) answer() *jen.Statement { return kitType("Answer").Types(p.result()) }
func (p *pointEmitter) actType() string        { return lowerFirst(p.n) + "Act" }
func (p *pointEmitter) actFunc() *jen.Statement {
	return jen.Func().Params(jen.Qual("context", "Context"), p.payload()).Params(p.result(), jen.Error())
}

// next emits what an around hook calls to go on.
func (p *pointEmitter) next(f *jen.File) {
	if p.p.Kind != Around {
		return
	}
	comment(f, p.n+"Next is the rest of the way: the hooks further in, and the act itself. It is valid until the hook",
		"that was given it returns.")
	f.Type().Id(p.n+"Next").Struct(
		jen.Id("act").Op("*").Id(p.actType()),
		jen.Id("i").Int())
	comment(f, p.actType()+" is one fire.")
	f.Type().Id(p.actType()).Struct(
		kitType("Act"),
		jen.Id("run").Op("*").Id("Run"),
		jen.Id("plan").Add(p.plan()),
		jen.Id("do").Add(p.actFunc()))

	comment(f, "Call goes on with the payload. Calling it again runs the act again. Its error is that of the act, of a hook",
		"further in, or hookkit.ErrNextOver.")
	a := func(field string) *jen.Statement { return jen.Id("a").Dot(field) }
	f.Func().Params(jen.Id("n").Id(p.n+"Next")).Id("Call").Params(ctxParam(), jen.Id(p.param).Add(p.payload())).
		Params(jen.Id("answer").Add(p.answer()), jen.Err().Error()).Block(
		jen.Id("a").Op(":=").Id("n").Dot("act"),
		jen.If(jen.Id("a").Op("==").Nil().Op("||").Add(a("Over")).Call()).Block(
			jen.Return(jen.Id("answer"), kitType("ErrNextOver"))),
		jen.Id("returned").Op(":=").False(),
		jen.Defer().Func().Params().Block(
			jen.If(jen.Op("!").Id("returned")).Block(
				jen.List(jen.Id("answer"), jen.Err()).Op("=").List(p.answer().Values(),
					a("Crashed").Call(jen.Id("ctx"), a("plan").Dot("Firing"), jen.Id("n").Dot("i"), jen.Recover()))),
		).Call(),
		jen.If(jen.Id("n").Dot("i").Op("==").Len(a("plan").Dot("Hooks"))).Block(
			jen.List(jen.Id("result"), jen.Id("failure")).Op(":=").Add(a("do")).Call(jen.Id("ctx"), jen.Id(p.param)),
			jen.Id("answer").Dot("Acted").Call(jen.Id("result")),
			jen.Err().Op("=").Id("failure"),
		).Else().Block(
			jen.List(jen.Id("answer"), jen.Err()).Op("=").Add(a("plan")).Dot("Hooks").Index(jen.Id("n").Dot("i")).Dot(p.n).Call(
				jen.Id("ctx"), a("run"), jen.Id(p.param), jen.Id(p.n+"Next").Values(jen.Id("a"), jen.Id("n").Dot("i").Op("+").Lit(1))),
			jen.If(jen.Err().Op("!=").Nil().Op("||").Op("!").Id("answer").Dot("Given").Call()).Block(
				jen.Err().Op("=").Add(a("plan")).Dot("Firing").Dot("Answered").Call(jen.Id("ctx"), jen.Id("n").Dot("i"), jen.Err())),
		),
		jen.Id("returned").Op("=").True(),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Id("answer").Op("=").Add(p.answer()).Values()),
		jen.Id("answer").Dot("Noted").Call(a("plan").Dot("Firing"), jen.Id("n").Dot("i")), // in place: a copy costs
		jen.Return())

	comment(f, "within returns the rest of the way for a hook that can be given up before it returns.")
	f.Func().Params(jen.Id("n").Id(p.n+"Next")).Id("within").Params().Id(p.n+"Next").Block(
		jen.Id("own").Op(":=").Op("&").Id(p.actType()).Values(jen.Dict{
			jen.Id("run"):  jen.Id("n").Dot("act").Dot("run"),
			jen.Id("plan"): jen.Id("n").Dot("act").Dot("plan"),
			jen.Id("do"):   jen.Id("n").Dot("act").Dot("do"),
		}),
		jen.Id("own").Dot("Within").Call(jen.Op("&").Id("n").Dot("act").Dot("Act")),
		jen.Return(jen.Id(p.n+"Next").Values(jen.Id("own"), jen.Id("n").Dot("i"))))
}

// aroundFire emits Fire.
func (p *pointEmitter) aroundFire(f *jen.File) {
	recv := func() *jen.Statement { return f.Func().Params(jen.Id("p").Op("*").Id(p.n + "Point")) }
	params := []jen.Code{ctxParam(), runParam(), jen.Id(p.param).Add(p.payload()), jen.Id("act").Add(p.actFunc())}
	results := jen.Params(jen.Id("result").Add(p.result()), jen.Err().Error())
	args := []jen.Code{jen.Id("ctx"), jen.Id("run"), jen.Id(p.param), jen.Id("act")}
	comment(f, "Fire runs the act within the hooks, and returns what the outermost of them answered. A panic of a hook or of the act",
		"comes back as a *hookkit.Failure.")
	recv().Id("Fire").Params(params...).Add(results.Clone()).Block(
		jen.If(jen.Id("p").Dot("Armed").Dot("Load").Call()).Block(jen.Return(jen.Id("p").Dot("fire").Call(args...))),
		jen.Id("returned").Op(":=").False(),
		jen.Defer().Func().Params().Block(
			jen.If(jen.Op("!").Id("returned")).Block(
				jen.Err().Op("=").Add(kitType("Unwrapped")).Call(jen.Id("ctx"), jen.Lit(p.n), jen.Recover())),
		).Call(),
		jen.If(jen.List(jen.Id("result"), jen.Err()).Op("=").Id("act").Call(jen.Id("ctx"), jen.Id(p.param)), jen.Err().Op("!=").Nil()).Block(
			jen.Id("result").Op("=").Op("*").New(p.result())), // as it is when there are hooks
		jen.Id("returned").Op("=").True(),
		jen.Return())

	comment(f, "fire is Fire where there are hooks, or somebody is told.")
	recv().Id("fire").Params(params...).Add(results.Clone()).Block(
		jen.Id("s").Op(":=").Id("p").Dot("Settle").Call(jen.Id("ctx"), jen.Id("run")),
		jen.Id("a").Op(":=").Op("&").Id(p.actType()).Values(jen.Dict{jen.Id("run"): jen.Id("run"), jen.Id("plan"): jen.Id("s"), jen.Id("do"): jen.Id("act")}),
		jen.Defer().Id("a").Dot("End").Call(),
		jen.If(jen.Id("s").Dot("Firing").Dot("Watched").Call()).Block(
			jen.Return(jen.Id("a").Dot("watched").Call(jen.Id("ctx"), jen.Id("run"), jen.Id(p.param)))),
		jen.List(jen.Id("answer"), jen.Err()).Op(":=").Id(p.n+"Next").Values(jen.Id("a"), jen.Lit(0)).Dot("Call").Call(jen.Id("ctx"), jen.Id(p.param)),
		jen.Return(jen.Id("answer").Dot("Value").Call(), jen.Err()))
}

// aroundWatch emits the fire that somebody wants to know of.
func (p *pointEmitter) aroundWatch(f *jen.File) {
	comment(f, "watched is Fire for observers and tracers.")
	f.Func().Params(jen.Id("a").Op("*").Id(p.actType())).Id("watched").Params(ctxParam(), runParam(), jen.Id("payload").Add(p.payload())).
		Params(jen.Id("result").Add(p.result()), jen.Err().Error()).BlockFunc(func(g *jen.Group) {
		g.Id("fired").Op(":=").Id(p.n + "Fired").Types(p.payload()).Values(jen.Id("Payload").Op(":").Id("payload"))
		g.Defer().Func().Params().BlockFunc(func(g *jen.Group) {
			p.tell(g, jen.Id("a").Dot("plan"), map[string]jen.Code{"Result": jen.Id("result"), "Err": jen.Err()})
		}).Call()
		g.List(jen.Id("answer"), jen.Err()).Op(":=").Id(p.n+"Next").Values(jen.Id("a"), jen.Lit(0)).Dot("Call").Call(jen.Id("ctx"), jen.Id("payload"))
		g.Id("answer").Dot("Concluded").Call(jen.Id("a").Dot("plan").Dot("Firing"), jen.Err())
		g.Return(jen.Id("answer").Dot("Value").Call(), jen.Err())
	})
}
