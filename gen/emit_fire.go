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
		c := jen.Id("p").Dot("fire").Call(jen.Id("ctx"), jen.Id("run"), jen.Id(p.carrier()), jen.Id("s"))
		if p.p.Kind == Observe {
			return c
		}
		return jen.Return(c)
	}
	f.Func().Params(jen.Id("p").Op("*").Id(p.n+"Point")).Id("watch").Params(ctxParam(), runParam(), p.carrierParam()).
		Add(p.fireResults(true)).Block(
		jen.Id("s").Op(":=").Id("p").Dot("Settle").Call(jen.Id("ctx"), jen.Id("run")),
		jen.If(jen.Id("s").Dot("Firing").Dot("Watched").Call()).Block(
			jen.Id("fired").Op(":=").Id(p.n+"Fired").Types(p.payload()).Values(jen.Id("Payload").Op(":").Add(p.current())),
			jen.Defer().Func().Params().BlockFunc(func(g *jen.Group) {
				p.tell(g, jen.Id("s"), map[string]jen.Code{"Left": jen.Op("*").Id("at"), "Exit": jen.Id("exit"), "Collected": jen.Id("collected"), "Err": jen.Err()})
			}).Call()),
		fire())
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

// carrier is how the payload comes into fire and watch: by its address where hooks may change it.
func (p *pointEmitter) carrier() string {
	if p.rewrites() {
		return "at"
	}
	return "payload"
}

func (p *pointEmitter) carrierParam() *jen.Statement {
	if p.rewrites() {
		return jen.Id("at").Op("*").Add(p.payload())
	}
	return jen.Id("payload").Add(p.payload())
}

// current is the payload where fire and watch begin.
func (p *pointEmitter) current() *jen.Statement {
	if p.rewrites() {
		return jen.Op("*").Id("at")
	}
	return jen.Id("payload")
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

// stops reports whether every failure ends the fire.
func (p *pointEmitter) stops() bool { return p.failClosed() || p.p.Kind == Check }

// fire emits the loop, in the shape that costs least: one function, one deferred recover that captures little.
func (p *pointEmitter) fire(f *jen.File) {
	if p.p.Kind == Around {
		return
	}
	params := []jen.Code{ctxParam(), runParam(), p.carrierParam(), jen.Id("s").Add(p.plan())}
	f.Func().Params(jen.Id("p").Op("*").Id(p.n + "Point")).Id("fire").Params(params...).Add(p.fireResults(true)).BlockFunc(func(g *jen.Group) {
		watch := jen.Id("p").Dot("watch").Call(jen.Id("ctx"), jen.Id("run"), jen.Id(p.carrier()))
		instead := []jen.Code{jen.Return(watch)}
		if p.p.Kind == Observe {
			instead = []jen.Code{watch, jen.Return()}
		}
		g.If(jen.Id("s").Op("==").Nil()).Block(
			jen.If(jen.Id("s").Op("=").Id("p").Dot("Load").Call(), jen.Id("s").Op("==").Nil().Op("||").Op("!").Id("s").Dot("Plain")).Block(instead...))
		flight := []jen.Code{jen.Id("Ctx").Op(":").Id("ctx"), jen.Id("Firing").Op(":").Id("s").Dot("Firing")}
		if p.p.Kind == Vote && !p.stops() {
			flight = append(flight, jen.Id("Rank").Op(":").Id("s").Dot("Firing").Dot("Rank"))
		}
		g.Id("f").Op(":=").Add(kitType("Flight")).Values(flight...)
		if p.rewrites() {
			g.Id("payload").Op(":=").Op("*").Id("at") // before the rescue: a nil pointer is the caller's mistake
		}
		if !p.stops() {
			if p.rewrites() {
				g.Id("plan").Op(":=").Id("s")
			} else {
				g.List(jen.Id("at"), jen.Id("plan")).Op(":=").List(jen.Op("&").Id("payload"), jen.Id("s"))
			}
		}
		g.Defer().Func().Params().Block(p.rescue()).Call()
		if p.p.Kind == Vote && p.stops() {
			g.Var().Id("best").Id(p.n + "Exit")
		}
		// the count is kept in one place, where the deferred function finds it too; it outlives the call of a hook there
		g.For(jen.List(jen.Id("i"), jen.Id("hooks")).Op(":=").List(jen.Uint().Call(jen.Lit(0)), jen.Id("s").Dot("Hooks")),
			jen.Id("i").Op("<").Uint().Call(jen.Len(jen.Id("hooks"))), jen.Id("i").Op("=").Id("f").Dot("Hook")).BlockFunc(func(g *jen.Group) {
			g.Id("f").Dot("Hook").Op("=").Id("i").Op("+").Lit(1)
			p.loop(g)
		})
		g.Add(land())
		switch {
		case p.p.Kind == Vote && p.stops() && p.collects():
			g.Return(jen.Id("best"), jen.Id("collected"), jen.Nil())
		case p.p.Kind == Vote && p.stops():
			g.Return(jen.Id("best"), jen.Nil())
		case p.p.Kind != Observe:
			g.Return(p.resultNames()...)
		}
	})
}

// land tells the deferred function that no hook is running.
func land() *jen.Statement { return jen.Id("f").Dot("Hook").Op("=").Lit(0) }

// rescue is what happens when a hook did not return: the deferred part of fire. Where a failure does not end the
// fire, the rest of the hooks fires in its place, with what was collected and voted so far.
func (p *pointEmitter) rescue() *jen.Statement {
	running := jen.Id("f").Dot("Hook").Op(">").Lit(0)
	crashed := jen.Id("f").Dot("Crashed").Call(jen.Recover())
	if p.stops() {
		return jen.If(running).Block(jen.Err().Op("=").Add(crashed))
	}
	carrier := jen.Id("at")
	if !p.rewrites() {
		carrier = jen.Op("*").Id("at")
	}
	resume := jen.Id("p").Dot("fire").Call(jen.Id("f").Dot("Ctx"), jen.Id("run"), carrier, jen.Op("&").Qual(kit, "Plan").Types(p.hook()).Values(
		jen.Id("Hooks").Op(":").Id("plan").Dot("Hooks").Index(jen.Id("f").Dot("Hook").Op(":")),
		jen.Id("Firing").Op(":").Id("f").Dot("Rest").Call()))
	if !p.returnsErr() {
		if p.collects() {
			resume = jen.Id("collected").Op("=").Append(jen.Id("collected"), resume.Op("..."))
		}
		return jen.If(running.Op("&&").Add(crashed).Op("==").Nil()).Block(resume)
	}
	return jen.If(running).BlockFunc(func(g *jen.Group) {
		g.If(jen.Err().Op("=").Add(crashed), jen.Err().Op("==").Nil()).BlockFunc(func(g *jen.Group) {
			if p.p.Kind != Vote && !p.collects() {
				g.List(p.resultNames()...).Op("=").Add(resume)
				return
			}
			var results []jen.Code
			if p.exits() {
				results = append(results, jen.Id("better"))
			}
			if p.collects() {
				results = append(results, jen.Id("more"))
			}
			g.List(append(results, jen.Id("failure"))...).Op(":=").Add(resume)
			if p.collects() {
				g.Id("collected").Op("=").Append(jen.Id("collected"), jen.Id("more").Op("..."))
			}
			if !p.exits() {
				g.Err().Op("=").Id("failure")
				return
			}
			g.If(jen.Err().Op("=").Id("failure"), jen.Id("better").Op("!=").Nil()).Block(jen.Id("exit").Op("=").Id("better"))
		})
		if p.p.Kind == Vote {
			g.If(jen.Err().Op("!=").Nil()).Block(jen.Id("exit").Op("=").Nil())
		}
	})
}

// loop is the body of the loop over the hooks.
func (p *pointEmitter) loop(g *jen.Group) {
	call := jen.Id("hooks").Index(jen.Id("i")).Dot(p.n).Call(jen.Id("f").Dot("Ctx"), jen.Id("run"), jen.Id("payload"))
	fail := func(outcome jen.Code) *jen.Statement {
		return jen.Id("f").Dot("Fail").Call(outcome, jen.Id("failure"))
	}
	failed := jen.Id("failure").Op("!=").Nil()
	switch p.p.Kind {
	case Observe:
		g.If(jen.Id("failure").Op(":=").Add(call), failed).Block(jen.Id("_").Op("=").Add(fail(jen.Nil())))
		return
	case Check:
		g.If(jen.Id("failure").Op(":=").Add(call), failed).Block(jen.Return(fail(jen.Nil())))
		return
	case Collect:
		g.List(jen.Id("values"), jen.Id("failure")).Op(":=").Add(call)
		g.If(failed.Clone()).BlockFunc(func(g *jen.Group) {
			switch {
			case p.stops():
				g.Return(jen.Id("collected"), fail(jen.Nil()))
				return
			case p.returnsErr():
				g.If(jen.Err().Op("=").Add(fail(jen.Nil())), jen.Err().Op("!=").Nil()).Block(jen.Return(p.resultNames()...))
			default:
				g.Id("_").Op("=").Add(fail(jen.Nil()))
			}
			g.Continue()
		})
		p.keep(g)
		return
	}

	out := []jen.Code{jen.Id("out"), jen.Id("failure")}
	stop := func(failure jen.Code) jen.Code {
		var rs []jen.Code
		if p.exits() {
			rs = append(rs, jen.Nil())
		}
		if p.collects() {
			rs = append(rs, jen.Id("collected"))
		}
		return jen.Return(append(rs, failure)...)
	}
	if p.collects() {
		out = []jen.Code{jen.Id("out"), jen.Id("values"), jen.Id("failure")}
	}
	legal := jen.Id("failure").Op("==").Nil()
	g.List(out...).Op(":=").Add(call)
	g.If(jen.Id("out").Op("==").Nil().Op("&&").Add(legal.Clone())).BlockFunc(func(g *jen.Group) { p.keep(g); g.Continue() })
	g.If(legal).BlockFunc(func(g *jen.Group) {
		if p.p.Kind == Vote {
			p.count(g)
		} else {
			p.decide(g)
		}
	})
	if p.stops() {
		g.Add(stop(fail(jen.Id("out"))))
		return
	}
	g.If(jen.Id("failure").Op("=").Add(fail(jen.Id("out"))), jen.Id("failure").Op("!=").Nil()).Block(stop(jen.Id("failure")))
}

// keep adds a hook's contributions to what was collected.
func (p *pointEmitter) keep(g *jen.Group) {
	if p.collects() {
		g.Id("collected").Op("=").Append(jen.Id("collected"), jen.Id("values").Op("..."))
	}
}

// decide acts on a legal outcome of a flow, and falls out of its switch for any other.
func (p *pointEmitter) decide(g *jen.Group) {
	noted := func() *jen.Statement { return jen.Id("f").Dot("Decided").Call(jen.Id("out")) }
	kind := jen.Id("out").Assert(jen.Type())
	if p.rewrites() {
		kind = jen.Id("o").Op(":=").Add(kind)
	}
	g.Switch(kind).BlockFunc(func(g *jen.Group) {
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
				g.Add(land())
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
		g.If(jen.Id("f").Dot("Voted").Call(jen.Id("out"), jen.Id("r"))).Block(
			jen.Id(p.leader()).Op("=").Id("out").Assert(jen.Id(p.n + "Exit")))
		p.keep(g)
		g.Continue()
	})
}

// leader is the variable that holds the exit that leads a vote. Where every failure ends the fire it is not the
// result, which is then nil.
func (p *pointEmitter) leader() string {
	if p.stops() {
		return "best"
	}
	return "exit"
}
