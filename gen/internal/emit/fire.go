package emit

import "github.com/dave/jennifer/jen"

// method starts a method of the point. The width is that of the line up to the parameters.
func (p *pointEmitter) method(f *jen.File, name string, params, results []param) *jen.Statement {
	s := f.Func().Params(jen.Id("p").Op("*").Id(p.Name + "Point")).Id(name)
	return signature(s, len("func (p *Point)  {")+len(p.Name)+len(name), params, results)
}

// active returns the call that reports whether the point p has something to do in a fire.
func active() *jen.Statement {
	state := jen.Parens(jen.Op("*").Add(implName("State"))).Parens(jen.Op("&").Id("p").Dot(registryAlias))
	return state.Dot("Active").Call()
}

// fire emits Fire and FireBy of a point that is not an around point.
func (p *pointEmitter) fire(f *jen.File) {
	payload := p.payload
	if p.Rewrites() {
		payload = typeCode{jen.Op("*").Add(payload), payload.width + 1}
	}
	params := []param{ctxParam(), runParam(), {p.param, payload}}
	var results, resultsBy []param
	var bys []string
	if p.Leaves() {
		results = append(results, param{"exit", named(p.Name + "Exit")})
		resultsBy = append(resultsBy, results...)
	}
	if p.DecidedByOne() {
		resultsBy = append(resultsBy, byResult())
		bys = append(bys, "by")
	}
	if p.Collects() {
		collected := param{"collected", typeCode{jen.Index().Add(p.collected), p.collected.width + 2}}
		results = append(results, collected)
		resultsBy = append(resultsBy, collected)
	}
	if p.CreditsMany() {
		resultsBy = append(resultsBy, param{"bys", typeCode{jen.Index().Add(kitType("By")), len("[]hookkit.By")}})
		bys = append(bys, "bys")
	}
	if p.ReturnsErr() {
		results = append(results, errorResult("err"))
		resultsBy = append(resultsBy, errorResult("err"))
	}
	// Small enough to be inlined, with its bare return: a point without hooks costs less than a call.
	emit := func(name string, results []param, by func(name string) *jen.Statement) {
		args := names(params)
		for _, name := range bys {
			args = append(args, by(name))
		}
		call := jen.Id("p").Dot("runHooks").Call(append(args, jen.Nil())...)
		active := active()
		if p.Rewrites() {
			active = jen.Id(p.param).Op("==").Nil().Op("||").Add(active) // runHooks refuses a nil payload
		}
		if p.IsObserve() {
			p.method(f, name, params, nil).Block(jen.If(active).Block(call))
			return
		}
		p.method(f, name, params, results).Block(
			jen.If(active).Block(jen.Op(p.ResultNames()).Op("=").Add(call)),
			jen.Return())
	}
	prose(f, p.fireDoc()...)
	emit("Fire", results, func(string) *jen.Statement { return jen.Nil() })
	if !p.IsObserve() {
		prose(f, p.fireByDoc()...)
		emit("FireBy", resultsBy, func(name string) *jen.Statement { return jen.Op("&").Id(name) })
	}
}

func byResult() param { return param{"by", typeCode{kitType("By"), len("hookkit.By")}} }

// fireDoc explains the results of Fire.
func (p *pointEmitter) fireDoc() []string {
	sentences := []string{"Fire runs the hooks."}
	if p.Rewrites() {
		sentences = append(sentences, "They may replace the payload; nil panics.")
	}
	if p.Leaves() {
		sentences = append(sentences, "If the exit is nil, no hook decided.")
	}
	switch {
	case p.Decides() && p.FailureEnds():
		sentences = append(sentences, "If err is not nil, the program must refuse the act.")
	case p.Decides():
		sentences = append(sentences, "If err is not nil, a hook that was registered with FailClosed failed and the",
			"program must refuse the act.")
	case p.IsCheck():
		sentences = append(sentences, "The error is a *hookkit.Failure around the first refusal.")
	case p.IsCheckAll():
		sentences = append(sentences, "The error is that of errors.Join, with a *hookkit.Failure around each refusal.")
	case p.FailureEnds():
		sentences = append(sentences, "The error is a *hookkit.Failure.")
	}
	return sentences
}

// fireByDoc explains the results that FireBy adds.
func (p *pointEmitter) fireByDoc() []string {
	switch {
	case p.DecidedByOne() && p.Collects():
		return []string{"FireBy also returns the hook that decided, or a zero By if every hook continued, and",
			"for each contribution the hook that made it."}
	case p.IsCheckAll():
		return []string{"FireBy also returns, for each refusal, the hook that made it."}
	case p.Collects():
		return []string{"FireBy also returns, for each contribution, the hook that made it."}
	}
	return []string{"FireBy also returns the hook that decided, or a zero By if every hook continued."}
}

// fireAround emits Fire and FireBy of an around point.
func (p *pointEmitter) fireAround(f *jen.File) {
	act := jen.Func().Params(jen.Qual("context", "Context"), p.payload.Clone()).Params(p.result, jen.Error())
	params := []param{ctxParam(), runParam(), {p.param, p.payload},
		{"act", typeCode{act, len("func(context.Context, ) (, error)") + p.payload.width + p.result.width}}}
	result := param{"result", p.result}
	run := func(by *jen.Statement) *jen.Statement {
		args := append(names(params), by)
		return jen.Id("p").Dot("runHooks").Call(append(args, jen.Nil())...)
	}
	resultAndErr := func() *jen.Statement { return jen.List(jen.Id("result"), jen.Err()) }
	prose(f, "Fire runs the act inside the hooks and returns the answer of the outermost. A panic of a hook or of",
		"the act is returned as a *hookkit.Failure.")
	p.method(f, "Fire", params, []param{result, errorResult("err")}).Block(
		jen.If(active()).Block(jen.Return(run(jen.Nil()))),
		jen.Id("returned").Op(":=").False(),
		jen.Defer().Func().Params().Block(
			jen.If(jen.Op("!").Id("returned")).Block(
				jen.Err().Op("=").Add(implName("ActCrashed")).Call(jen.Id("ctx"), jen.Id("p"), jen.Recover())),
		).Call(),
		jen.If(resultAndErr().Op("=").Id("act").Call(
			jen.Qual(impl, "Background").Call(jen.Id("ctx")), jen.Id(p.param)),
			jen.Err().Op("!=").Nil()).Block(
			jen.Id("result").Op("=").Op("*").New(p.result)), // zero, as with hooks
		jen.Id("returned").Op("=").True(),
		jen.Return())
	prose(f, "FireBy also returns the hook that answered instead of the act, or the hook that failed.",
		"A zero By means that the act answered.")
	p.method(f, "FireBy", params, []param{result, byResult(), errorResult("err")}).Block(
		jen.If(active()).Block(
			resultAndErr().Op("=").Add(run(jen.Op("&").Id("by")))).Else().Block(
			jen.If(resultAndErr().Op("=").Id("p").Dot("Fire").Call(names(params)...), jen.Err().Op("!=").Nil()).Block(
				jen.Id("by").Op("=").Add(implName("ErrorBy")).Call(jen.Err()))),
		jen.Return())
}
