package gen

import "github.com/dave/jennifer/jen"

// description emits what the runtime must know of the point.
func (p *pointEmitter) description(f *jen.File) {
	law := p.lawType()
	f.Type().Id(law).Struct()
	f.Func().Params(jen.Id(law)).Id("Point").Params().Add(kitType("Point")).Block(jen.Return(p.describe()))
	f.Func().Params(jen.Id(law)).Id("Wrap").Params(jen.Id("h").Add(p.hook()), jen.Id("c").Op("*").Add(kitType("Call"))).Add(p.hook()).Block(
		jen.Return(jen.Id(p.n + "Func").Call(jen.Func().Params(p.params(p.payload())...).Params(p.results()...).Block(p.wrapped()...))))
}

// describe is the literal of the point's description.
func (p *pointEmitter) describe() *jen.Statement {
	return kitType("Point").ValuesFunc(func(g *jen.Group) {
		set := func(field string, v jen.Code) { g.Id(field).Op(":").Add(v) }
		set("Name", jen.Lit(p.n))
		set("Payload", jen.Lit(p.word(anyText, func() string { return p.text(p.p.Payload.Expr) })))
		if len(p.p.Results) > 0 {
			set("Results", jen.Lit(p.word(anyResults, func() string { return p.law(p.p) })))
		}
		var law *jen.Statement
		for _, part := range []struct {
			has  bool
			name string
		}{
			{p.decides(), "Decides"}, {p.failClosed(), "FailsClosed"}, {p.p.Kind == Check, "Stops"},
			{p.p.Kind == Around, "Wraps"}, {p.p.Reverse, "Reversed"},
		} {
			switch {
			case !part.has:
			case law == nil:
				law = kitType(part.name)
			default:
				law.Op("|").Add(kitType(part.name))
			}
		}
		if law != nil {
			set("Law", law)
		}
	})
}

// wrapped calls a hook by way of the runtime.
func (p *pointEmitter) wrapped() []jen.Code {
	body := func(inner ...jen.Code) *jen.Statement {
		return jen.Id("c").Dot("Do").Call(jen.Id("ctx"), jen.Id("run"),
			jen.Func().Params(ctxParam()).Params(jen.Id("any"), jen.Error()).Block(inner...))
	}
	hook := func() *jen.Statement { return jen.Id("h").Dot(p.n).Call(p.args()...) }
	call := body(jen.Return(hook()))
	var stmts []jen.Code
	back := func(typ jen.Code) {
		stmts = append(stmts, jen.List(jen.Id("v"), jen.Err()).Op(":=").Add(call))
		if p.p.Kind == Around {
			stmts = append(stmts, jen.If(jen.Err().Op("==").Add(kitType("Spent"))).Block(
				jen.Return(jen.Id("next").Dot("Call").Call(jen.Id("ctx"), jen.Id(p.param)))))
		}
		stmts = append(stmts,
			jen.List(jen.Id("out"), jen.Id("_")).Op(":=").Id("v").Assert(typ),
			jen.Return(jen.Id("out"), jen.Err()))
	}
	switch {
	case p.p.Kind == Around:
		stmts = append(stmts, jen.Id("own").Op(":=").Id("next").Dot("within").Call())
		call = body(jen.Return(jen.Id("h").Dot(p.n).Call(jen.Id("ctx"), jen.Id("run"), jen.Id(p.param), jen.Id("own"))))
		stmts = append(stmts, jen.Defer().Id("own").Dot("act").Dot("End").Call())
		back(p.answer())
	case p.decides() && p.collects():
		values := p.collected()
		call = body(
			jen.List(jen.Id("out"), jen.Id("values"), jen.Err()).Op(":=").Add(hook()),
			jen.Return(kitType("Contribution").Values(jen.Dict{jen.Id("Outcome"): jen.Id("out"), jen.Id("Values"): jen.Id("values")}), jen.Err()))
		stmts = append(stmts,
			jen.List(jen.Id("v"), jen.Err()).Op(":=").Add(call),
			jen.List(jen.Id("both"), jen.Id("_")).Op(":=").Id("v").Assert(kitType("Contribution")),
			jen.List(jen.Id("out"), jen.Id("_")).Op(":=").Id("both").Dot("Outcome").Assert(jen.Id(p.n+"Outcome")),
			jen.List(jen.Id("values"), jen.Id("_")).Op(":=").Id("both").Dot("Values").Assert(values),
			jen.Return(jen.Id("out"), jen.Id("values"), jen.Err()))
	case p.decides():
		back(jen.Id(p.n + "Outcome"))
	case p.collects():
		back(p.collected())
	default:
		call = body(jen.Return(jen.Nil(), hook()))
		stmts = append(stmts,
			jen.List(jen.Id("_"), jen.Err()).Op(":=").Add(call),
			jen.Return(jen.Err()))
	}
	return stmts
}

// watch emits the fire that somebody wants to know of.
func (p *pointEmitter) watch(f *jen.File) {
	if p.p.Kind == Around {
		p.aroundWatch(f)
		return
	}
	fire := func() *jen.Statement {
		c := jen.Id("p").Dot("fire").Call(append([]jen.Code{jen.Id("ctx"), jen.Id("run"), jen.Id("at"), jen.Id("s"), jen.Lit(0)}, p.start()...)...)
		if p.p.Kind == Observe {
			return c
		}
		return jen.Return(c)
	}
	comment(f, "watch is Fire where somebody is told.")
	f.Func().Params(jen.Id("p").Op("*").Id(p.n+"Point")).Id("watch").Params(ctxParam(), runParam(), jen.Id("at").Op("*").Add(p.payload())).
		Add(p.fireResults(true)).BlockFunc(func(g *jen.Group) {
		g.Id("s").Op(":=").Id("p").Dot("Settle").Call(jen.Id("ctx"), jen.Id("run"))
		if p.p.Kind == Observe {
			g.If(jen.Op("!").Id("s").Dot("Firing").Dot("Watched").Call()).Block(fire(), jen.Return())
		} else {
			g.If(jen.Op("!").Id("s").Dot("Firing").Dot("Watched").Call()).Block(fire())
		}
		g.Id("fired").Op(":=").Id(p.n + "Fired").Types(p.payload()).Values(jen.Id("Payload").Op(":").Op("*").Id("at"))
		g.Defer().Func().Params().BlockFunc(func(g *jen.Group) {
			p.tell(g, jen.Id("s"), map[string]jen.Code{"Left": jen.Op("*").Id("at"), "Exit": jen.Id("exit"), "Collected": jen.Id("collected"), "Err": jen.Err()})
		}).Call()
		g.Add(fire())
	})
}

// tell ends the watch and tells the observers of what fired holds; what is where it has each part from.
func (p *pointEmitter) tell(g *jen.Group, s *jen.Statement, what map[string]jen.Code) {
	var to, from []jen.Code
	set := func(has bool, field string) jen.Code {
		if !has {
			return jen.Nil()
		}
		to, from = append(to, jen.Id("fired").Dot(field)), append(from, what[field])
		return jen.Id("fired").Dot(field)
	}
	if what["Err"] != nil {
		what["Err"] = s.Clone().Dot("Firing").Dot("Err").Call(what["Err"])
	}
	what["Verdict"], what["Ballots"] = s.Clone().Dot("Firing").Dot("End").Call(), s.Clone().Dot("Firing").Dot("Ballots").Call()
	left := set(p.rewrites(), "Left")
	if !p.rewrites() {
		left = jen.Id("fired").Dot("Payload")
	}
	any := []jen.Code{jen.Id("fired").Dot("Payload"), left, set(p.exits(), "Exit"), set(p.collects(), "Collected"),
		set(p.p.Kind == Around, "Result"), set(p.returnsErr(), "Err")}
	set(p.p.Kind == Vote, "Ballots")
	set(true, "Verdict")
	g.List(to...).Op("=").List(from...)
	tell := func(typ, method, fired jen.Code) *jen.Statement {
		return jen.Func().Params(ctxParam(), jen.Id("o").Id("any")).Block(
			jen.Id("o").Assert(typ).Op(".").Add(method).Call(jen.Id("ctx"), jen.Id("run"), fired))
	}
	g.Add(s).Dot("Firing").Dot("Tell").Call(
		tell(jen.Id(p.n+"Observer").Types(p.payload()), jen.Id("Observe"+p.n), jen.Id("fired")),
		tell(jen.Id("AnyObserver"), jen.Id("Observe"), s.Clone().Dot("Firing").Dot("Any").Call(any...)))
}

// carried is what a fire has so far when it resumes after a failing hook, as parameters.
func (p *pointEmitter) carried() []jen.Code {
	var ps []jen.Code
	if p.p.Kind == Vote {
		ps = append(ps, jen.Id("best").Id(p.n+"Exit"), jen.Id("rank").Int())
	}
	if p.collects() {
		ps = append(ps, jen.Id("had").Add(p.collected()))
	}
	return ps
}

// start is what carried is when a fire begins.
func (p *pointEmitter) start() []jen.Code {
	var as []jen.Code
	if p.p.Kind == Vote {
		as = append(as, jen.Nil(), jen.Lit(0))
	}
	if p.collects() {
		as = append(as, jen.Nil())
	}
	return as
}

// soFar is what carried is when a fire resumes.
func (p *pointEmitter) soFar() []jen.Code {
	var as []jen.Code
	if p.p.Kind == Vote {
		as = append(as, jen.Id("exit"), jen.Id("rank"))
	}
	if p.collects() {
		as = append(as, jen.Id("collected"))
	}
	return as
}

// resultNames are the named results of fire.
func (p *pointEmitter) resultNames() []jen.Code {
	var rs []jen.Code
	if p.exits() {
		rs = append(rs, jen.Id("exit"))
	}
	if p.collects() {
		rs = append(rs, jen.Id("collected"))
	}
	if p.returnsErr() {
		rs = append(rs, jen.Err())
	}
	return rs
}

// fire emits the loop: from hook i on, and again from the next one after a failure that does not stop it.
func (p *pointEmitter) fire(f *jen.File) {
	if p.p.Kind == Around {
		return
	}
	comment(f, "fire runs the hooks from i on.")
	params := append([]jen.Code{ctxParam(), runParam(), jen.Id("at").Op("*").Add(p.payload()), jen.Id("s").Add(p.plan()), jen.Id("i").Int()}, p.carried()...)
	f.Func().Params(jen.Id("p").Op("*").Id(p.n + "Point")).Id("fire").Params(params...).Add(p.fireResults(true)).BlockFunc(func(g *jen.Group) {
		if p.p.Kind == Vote {
			g.Id("exit").Op("=").Id("best")
		}
		if p.collects() {
			g.Id("collected").Op("=").Id("had")
		}
		g.Id("hooks").Op(":=").Id("s").Dot("Hooks")
		g.Id("payload").Op(":=").Op("*").Id("at") // before the rescue: a nil pointer is the caller's mistake
		g.Defer().Func().Params().Block(p.rescue()).Call()
		g.For(jen.Empty(), jen.Id("i").Op("<").Len(jen.Id("hooks")), jen.Id("i").Op("++")).BlockFunc(p.loop)
		if p.p.Kind != Observe {
			g.Return(p.resultNames()...)
		}
	})
}

// rescue is what happens when a hook did not return: the deferred part of fire.
func (p *pointEmitter) rescue() *jen.Statement {
	crashed := jen.Id("s").Dot("Firing").Dot("Crashed").Call(jen.Id("ctx"), jen.Id("i"), jen.Recover())
	resume := jen.Id("p").Dot("fire").Call(append([]jen.Code{jen.Id("ctx"), jen.Id("run"), jen.Id("at"), jen.Id("s"),
		jen.Id("i").Op("+").Lit(1)}, p.soFar()...)...)
	unfinished := jen.Id("i").Op("<").Len(jen.Id("hooks"))
	if p.exits() && p.p.Kind == Flow {
		unfinished.Op("&&").Id("exit").Op("==").Nil()
	}
	if p.returnsErr() {
		unfinished.Op("&&").Err().Op("==").Nil()
	}
	switch {
	case p.p.Kind == Observe:
		return jen.If(unfinished.Op("&&").Add(crashed).Op("==").Nil()).Block(resume)
	case p.p.Kind == Check:
		return jen.If(unfinished).Block(jen.Err().Op("=").Add(crashed))
	case !p.returnsErr():
		return jen.If(unfinished.Op("&&").Add(crashed).Op("==").Nil()).Block(jen.List(p.resultNames()...).Op("=").Add(resume))
	case p.p.Kind == Vote:
		return jen.If(unfinished).Block(
			jen.If(jen.Err().Op("=").Add(crashed), jen.Err().Op("!=").Nil()).Block(
				jen.Id("exit").Op("=").Nil()).Else().Block(jen.List(p.resultNames()...).Op("=").Add(resume)))
	}
	return jen.If(unfinished).Block(
		jen.If(jen.Err().Op("=").Add(crashed), jen.Err().Op("==").Nil()).Block(jen.List(p.resultNames()...).Op("=").Add(resume)))
}

// loop is the body of the loop over the hooks.
func (p *pointEmitter) loop(g *jen.Group) {
	call := jen.Id("hooks").Index(jen.Id("i")).Dot(p.n).Call(jen.Id("ctx"), jen.Id("run"), jen.Id("payload"))
	fail := func() *jen.Statement {
		return jen.Id("s").Dot("Firing").Dot("Fail").Call(jen.Id("ctx"), jen.Id("i"), jen.Id("failure"))
	}
	failed := jen.Id("failure").Op("!=").Nil()
	switch {
	case p.p.Kind == Observe:
		g.If(jen.Id("failure").Op(":=").Add(call), failed).Block(jen.Id("_").Op("=").Add(fail()))
		return
	case p.p.Kind == Check:
		g.If(jen.Id("failure").Op(":=").Add(call), failed).Block(jen.Return(fail()))
		return
	case p.p.Kind == Collect:
		g.List(jen.Id("values"), jen.Id("failure")).Op(":=").Add(call)
		g.If(failed.Clone()).BlockFunc(func(g *jen.Group) {
			if p.returnsErr() {
				g.If(jen.Err().Op("=").Add(fail()), jen.Err().Op("!=").Nil()).Block(jen.Return(p.resultNames()...))
			} else {
				g.Id("_").Op("=").Add(fail())
			}
			g.Continue()
		})
		p.keep(g)
		return
	}

	if p.collects() {
		g.List(jen.Id("out"), jen.Id("values"), jen.Id("failure")).Op(":=").Add(call)
	} else {
		g.List(jen.Id("out"), jen.Id("failure")).Op(":=").Add(call)
	}
	legal := jen.Id("failure").Op("==").Nil()
	if p.collects() {
		g.If(jen.Id("out").Op("==").Nil().Op("&&").Add(legal.Clone())).BlockFunc(func(g *jen.Group) { p.keep(g); g.Continue() })
	} else {
		g.If(jen.Id("out").Op("==").Nil().Op("&&").Add(legal.Clone())).Block(jen.Continue())
	}
	g.If(legal).BlockFunc(func(g *jen.Group) {
		if p.p.Kind == Vote {
			p.count(g)
		} else {
			p.decide(g)
		}
		g.Id("failure").Op("=").Add(kitType("Illegal")).Call(jen.Id("out"))
	})
	stop := []jen.Code{}
	if p.exits() {
		stop = append(stop, jen.Nil())
	}
	if p.collects() {
		stop = append(stop, jen.Id("collected"))
	}
	g.If(jen.Id("failure").Op("=").Add(fail()), jen.Id("failure").Op("!=").Nil()).Block(jen.Return(append(stop, jen.Id("failure"))...))
}

// keep adds a hook's contributions to what was collected.
func (p *pointEmitter) keep(g *jen.Group) {
	if p.collects() {
		g.Id("collected").Op("=").Append(jen.Id("collected"), jen.Id("values").Op("..."))
	}
}

// decide acts on a legal outcome of a flow, and falls out of its switch for any other.
func (p *pointEmitter) decide(g *jen.Group) {
	noted := func() *jen.Statement { return jen.Id("s").Dot("Firing").Dot("Decided").Call(jen.Id("i"), jen.Id("o")) }
	g.Switch(jen.Id("o").Op(":=").Id("out").Assert(jen.Type())).BlockFunc(func(g *jen.Group) {
		rewrite := func(verb string, to, at *jen.Statement) {
			g.Case(jen.Id(p.made(verb))).BlockFunc(func(g *jen.Group) {
				g.Add(noted())
				g.List(to, at).Op("=").List(jen.Id("o").Dot("to"), jen.Id("o").Dot("to"))
				p.keep(g)
				g.Continue()
			})
		}
		if p.p.Replace {
			rewrite("Replace", jen.Op("*").Id("at"), jen.Id("payload"))
		}
		if p.p.Edit.Expr != nil {
			rewrite("Edit", jen.Id("at").Dot(p.editField()), jen.Id("payload").Dot(p.editField()))
		}
		if p.exits() {
			g.Case(p.exitCases()...).BlockFunc(func(g *jen.Group) {
				g.Add(noted())
				p.keep(g)
				rs := []jen.Code{jen.Id("out").Assert(jen.Id(p.n + "Exit"))}
				if p.collects() {
					rs = append(rs, jen.Id("collected"))
				}
				g.Return(append(rs, jen.Nil())...)
			})
		}
	})
}

func (p *pointEmitter) exitCases() []jen.Code {
	if p.stand {
		return []jen.Code{jen.Id(anyExits)}
	}
	cs := make([]jen.Code, len(p.p.Exits))
	for i, x := range p.p.Exits {
		cs[i] = jen.Id(x.Name)
	}
	return cs
}

// count counts a legal ballot, and falls through for any other. The ranks begin with 1, the strongest.
func (p *pointEmitter) count(g *jen.Group) {
	g.Id("r").Op(":=").Lit(0)
	g.Switch(jen.Id("out").Assert(jen.Type())).BlockFunc(func(g *jen.Group) {
		if p.stand {
			g.Case(jen.Id(anyBallots)).Block(jen.Id("r").Op("=").Id(anyRank))
			return
		}
		for i, x := range p.p.Exits {
			g.Case(jen.Id(x.Name)).Block(jen.Id("r").Op("=").Lit(i + 1))
		}
	})
	g.If(jen.Id("r").Op(">").Lit(0)).BlockFunc(func(g *jen.Group) {
		g.Id("leads").Op(":=").Id("exit").Op("==").Nil().Op("||").Id("r").Op("<").Id("rank")
		g.If(jen.Id("leads")).Block(
			jen.List(jen.Id("exit"), jen.Id("rank")).Op("=").List(jen.Id("out").Assert(jen.Id(p.n+"Exit")), jen.Id("r")))
		g.Id("s").Dot("Firing").Dot("Voted").Call(jen.Id("i"), jen.Id("out"), jen.Id("leads"))
		p.keep(g)
		g.Continue()
	})
}
