package gen

import (
	"strings"

	"github.com/dave/jennifer/jen"
)

// An apiEmitter emits the public part of a point with the law. Names and types are placeholders. The machinery of the
// point is in point.go.tmpl.
type apiEmitter struct {
	law
	f *jen.File
}

// emitAPI emits the public part of a point with the law.
func emitAPI(f *jen.File, l law) {
	e := &apiEmitter{l, f}
	e.hook()
	e.outcomes()
	e.match()
	e.observer()
	e.next()
	e.point()
	e.fire()
}

func payloadType() *jen.Statement { return jen.Id(anyPayload) }

func hookType() *jen.Statement { return jen.Id(anyPoint).Types(payloadType()) }

func firedType() *jen.Statement { return jen.Id(anyPoint + "Fired").Types(payloadType()) }

func kitType(name string) *jen.Statement { return jen.Qual(kit, name) }

func implName(name string) *jen.Statement { return jen.Qual(impl, name) }

func ctxParam() *jen.Statement { return jen.Id("ctx").Qual("context", "Context") }

func runParam() *jen.Statement { return jen.Id("run").Op("*").Id("Run") }

func byParam() *jen.Statement { return jen.Id("by").Add(kitType("By")) }

func registration() *jen.Statement { return jen.Op("*").Add(kitType("Registration")) }

// prose adds a paragraph on one line, because only fill knows the names in it.
func (e *apiEmitter) prose(sentences ...string) { comment(e.f, strings.Join(sentences, " ")) }

// doc adds a comment to a declaration of the point, followed by the deprecation of the point.
func (e *apiEmitter) doc(sentences ...string) {
	e.prose(sentences...)
	comment(e.f, "//", "// HookgenDeprecated")
}

// params returns the parameters of a hook with a payload of the type.
func (e *apiEmitter) params(payload jen.Code) []jen.Code {
	ps := []jen.Code{ctxParam(), runParam(), jen.Id(anyParam).Add(payload)}
	if e.Around() {
		ps = append(ps, jen.Id("next").Id(anyPoint+"Next"))
	}
	return ps
}

// args returns the arguments for params.
func (e *apiEmitter) args() []jen.Code {
	as := []jen.Code{jen.Id("ctx"), jen.Id("run"), jen.Id(anyParam)}
	if e.Around() {
		as = append(as, jen.Id("next"))
	}
	return as
}

// results returns the results of a hook.
func (e *apiEmitter) results() []jen.Code {
	var rs []jen.Code
	switch {
	case e.Around():
		rs = append(rs, kitType("Answer").Types(jen.Id(anyResult)))
	case e.Decides():
		rs = append(rs, jen.Id(anyPoint+"Outcome"))
	}
	if e.Collects() {
		rs = append(rs, jen.Index().Id(anyCollect))
	}
	return append(rs, jen.Error())
}

// hook emits the interface of hooks and its function type.
func (e *apiEmitter) hook() {
	e.f.Comment(strings.TrimSuffix(anyDoc, "\n"))
	e.doc(anyWords)
	e.f.Type().Id(anyPoint).Types(jen.Id("P").Id("any")).Interface(
		jen.Id(anyPoint).Params(e.params(jen.Id("P"))...).Params(e.results()...))

	e.doc("HookgenPointFunc is a function that is a hook of HookgenPoint.")
	e.f.Type().Id(anyPoint + "Func").Func().Params(e.params(payloadType())...).Params(e.results()...)
	e.prose("HookgenPoint calls f.")
	e.f.Func().Params(jen.Id("f").Id(anyPoint + "Func")).Id(anyPoint).
		Params(e.params(payloadType())...).Params(e.results()...).
		Block(jen.Return(jen.Id("f").Call(e.args()...)))
	e.prose("Bind adds f to its point.")
	e.f.Func().Params(jen.Id("f").Id(anyPoint + "Func")).Id("Bind").Params(jen.Id("h").Op("*").Id("Hooks")).Block(
		jen.Id("h").Dot(anyPoint).Dot("Add").Call(jen.Id("f")))
}

// outcomes emits the sealed interface of outcomes, and their constructors.
func (e *apiEmitter) outcomes() {
	if !e.Decides() {
		return
	}
	e.doc("HookgenPointOutcome is a decision of a hook of HookgenPoint: HookgenLegal. Nil continues.")
	e.f.Type().Id(anyPoint + "Outcome").Interface(jen.Id("legalAt" + anyPoint).Params())
	if e.Replace {
		e.doc("ReplaceHookgenPoint returns the outcome that gives the following hooks, and the program, another payload.")
		e.constructor("Replace", anyParam, payloadType())
	}
	if e.Edits() {
		e.doc("EditHookgenPoint returns the outcome that gives the payload another HookgenField.")
		e.constructor("Edit", "value", jen.Id(anyEdit))
	}
	if e.Leaves() {
		e.doc("HookgenPointExit is an outcome that ends the fire: HookgenLeaving. A fire returns it; see MatchHookgenPoint.")
		comment(e.f, "//", "//sumtype:decl")
		e.f.Type().Id(anyPoint+"Exit").Interface(jen.Id(anyPoint+"Outcome"), jen.Id("isExit").Params())
	}
}

func (e *apiEmitter) constructor(verb, param string, typ *jen.Statement) {
	made := lowerFirst(anyPoint) + verb
	e.f.Func().Id(verb+anyPoint).Params(jen.Id(param).Add(typ), jen.Id("reason").String()).Id(anyPoint + "Outcome").Block(
		jen.Return(jen.Id(made).Values(
			implName(map[string]string{"Replace": "Replaced", "Edit": "Edited"}[verb]).Call(jen.Id("reason")), jen.Id(param))))
	e.f.Type().Id(made).Struct(implName("Replacement"), jen.Id("To").Add(typ))
	// gofmt would break {} too if the names are long.
	e.f.Func().Params(jen.Id(made)).Id("legalAt" + anyPoint).Params().Op("{\n}")
}

// match emits the function that handles each exit.
func (e *apiEmitter) match() {
	if !e.Leaves() {
		return
	}
	e.doc("MatchHookgenPoint calls the function for the exit of a fire, or none if the exit is nil, and returns its",
		"result. An exit that is added to the spec breaks every call until it is handled there.")
	e.f.Func().Id("Match"+anyPoint).Types(jen.Id("R").Id("any")).Params(
		jen.Id("exit").Id(anyPoint+"Exit"), jen.Id("none").Func().Params().Id("R"), jen.Op(anyParams)).Id("R").Block(
		jen.Switch(jen.Id("x").Op(":=").Id("exit").Assert(jen.Type())).Block(
			jen.Case(jen.Nil()).Block(jen.Return(jen.Id("none").Call())),
			jen.Op(anyMatches)),
		jen.Panic(implName("UnmatchedError").Types(jen.Id(anyPoint+"Exit")).Values(jen.Dict{
			jen.Id("Exit"): jen.Id("exit"), // a call would make the function too large to be inlined
		})))
}

// observer emits the interface of observers and the struct that they receive.
func (e *apiEmitter) observer() {
	e.doc("HookgenPointObserver is notified of every fire of HookgenPoint after it is decided.")
	e.f.Type().Id(anyPoint + "Observer").Types(jen.Id("P").Id("any")).Interface(
		jen.Id("Observe"+anyPoint).Params(ctxParam(), runParam(), jen.Id("fired").Id(anyPoint+"Fired").Types(jen.Id("P"))))
	e.doc("HookgenPointFired describes one fire of HookgenPoint to observers.")
	e.f.Type().Id(anyPoint + "Fired").Types(jen.Id("P").Id("any")).StructFunc(func(g *jen.Group) {
		field := func(has bool, doc, name string, typ *jen.Statement) {
			if has {
				g.Comment("// " + doc)
				g.Id(name).Add(typ)
			}
		}
		field(true, "Payload is the payload as it was passed to Fire.", "Payload", jen.Id("P"))
		field(e.Rewrites(), "Final is the payload after the hooks.", "Final", jen.Id("P"))
		field(e.Leaves(), "Exit is the decision that the fire returned; nil without one.", "Exit", jen.Id(anyPoint+"Exit"))
		field(e.Collects(), "Collected are the contributions in firing order.", "Collected", jen.Index().Id(anyCollect))
		field(e.Around(), "Result is the result that the fire returned.", "Result", jen.Id(anyResult))
		field(e.Vote(), "Ballots are the votes in firing order.", "Ballots", jen.Index().Add(kitType("Ballot")))
		field(e.ReturnsErr(), "Err is the error that the fire returned, or the failure that ended its goroutine.", "Err",
			jen.Error())
		g.Comment("// Verdict names the hook that decided.")
		g.Add(kitType("Verdict"))
	})
}

// next emits the type with which an around hook continues.
func (e *apiEmitter) next() {
	if !e.Around() {
		return
	}
	e.doc("HookgenPointNext runs the inner hooks and the act. It is valid until the hook that received it returns.")
	e.f.Type().Id(anyPoint+"Next").Struct(
		jen.Id("fire").Op("*").Id(lowerFirst(anyPoint)+"Invocation"),
		jen.Id("level").Int())
}

// method starts a method of the point.
func (e *apiEmitter) method(name string) *jen.Statement {
	return e.f.Func().Params(jen.Id("p").Op("*").Id(anyPoint + "Point")).Id(name)
}

// registryAlias is the name under which a point embeds its registry. It is not exported, so that users see only the
// methods of the registry.
const registryAlias = "hookgenRegistry"

// active returns the call that reports whether the point p has something to do in a fire.
func active() *jen.Statement {
	state := jen.Parens(jen.Op("*").Add(implName("State"))).Parens(jen.Op("&").Id("p").Dot(registryAlias))
	return state.Dot("Active").Call()
}

// point emits the type of the point, with the registry that it embeds.
func (e *apiEmitter) point() {
	e.doc("HookgenPointPoint holds the hooks and observers of HookgenPoint. The zero value is ready to use. Do not copy",
		"it. Add and AddFunc register a hook, Observe and ObserveFunc an observer. They panic, naming the place of the",
		"call, if it is nil or the order asked for is impossible. List lists the hooks in firing order, those of outer",
		"layers included.")
	option := "HookOption"
	if e.Decides() {
		option = "GateOption"
	}
	list := jen.Options{Open: "[", Close: "]", Separator: ",", Multi: true}
	e.f.Type().Id(anyPoint + "Point").Struct(jen.Id(registryAlias).Custom(list,
		jen.Id(lowerFirst(anyPoint)+"Point"), hookType(),
		jen.Func().Params(e.params(payloadType())...).Params(e.results()...),
		jen.Id(anyPoint+"Observer").Types(payloadType()),
		jen.Func().Params(jen.Qual("context", "Context"), jen.Op("*").Id("Run"), firedType()),
		kitType(option)))
}

// fire emits Fire and FireBy.
func (e *apiEmitter) fire() {
	if e.Around() {
		e.fireAround()
		return
	}
	payload := payloadType()
	if e.Rewrites() {
		payload = jen.Op("*").Add(payload)
	}
	params := []jen.Code{ctxParam(), runParam(), jen.Id(anyParam).Add(payload)}
	// Small enough to be inlined, with its bare return: a point without hooks costs less than a call.
	emit := func(name string, results []jen.Code, by ...jen.Code) {
		args := append([]jen.Code{jen.Id("ctx"), jen.Id("run"), jen.Id(anyParam)}, append(by, jen.Nil())...)
		call := jen.Id("p").Dot("runHooks").Call(args...)
		active := active()
		if e.Rewrites() {
			active = jen.Id(anyParam).Op("==").Nil().Op("||").Add(active) // runHooks refuses a nil payload
		}
		body := []jen.Code{jen.If(active).Block(call)}
		m := e.method(name).Params(params...)
		if !e.Observe() {
			body = []jen.Code{
				jen.If(active).Block(jen.Op(e.Names()).Op("=").Add(call)),
				jen.Return(),
			}
			m.Params(results...)
		}
		m.Block(body...)
	}
	exit, collected, err := jen.Id("exit").Id(anyPoint+"Exit"), jen.Id("collected").Index().Id(anyCollect),
		jen.Err().Error()
	var results, resultsBy, nils, bys []jen.Code
	if e.Leaves() {
		results = append(results, exit)
		resultsBy = append(resultsBy, exit.Clone())
	}
	if e.DecidedByOne() {
		resultsBy = append(resultsBy, byParam())
		nils, bys = append(nils, jen.Nil()), append(bys, jen.Op("&").Id("by"))
	}
	if e.Collects() {
		results = append(results, collected)
		resultsBy = append(resultsBy, collected.Clone(), jen.Id("bys").Index().Add(kitType("By")))
		nils, bys = append(nils, jen.Nil()), append(bys, jen.Op("&").Id("bys"))
	}
	if e.ReturnsErr() {
		results = append(results, err)
		resultsBy = append(resultsBy, err.Clone())
	}
	e.prose(e.fireDoc()...)
	emit("Fire", results, nils...)
	if !e.Observe() {
		e.prose(e.fireByDoc()...)
		emit("FireBy", resultsBy, bys...)
	}
}

// fireDoc explains the results of Fire.
func (e *apiEmitter) fireDoc() []string {
	sentences := []string{"Fire runs the hooks."}
	if e.Rewrites() {
		sentences = append(sentences, "They may replace the payload; nil panics.")
	}
	if e.Leaves() {
		sentences = append(sentences, "If the exit is nil, no hook decided.")
	}
	switch {
	case e.Decides() && e.Policy == FailClosed:
		sentences = append(sentences, "If err is not nil, a hook failed and the program must refuse the act.")
	case e.Decides():
		sentences = append(sentences, "If err is not nil, a hook that was registered with FailClosed failed and the",
			"program must refuse the act.")
	case e.Check():
		sentences = append(sentences, "The error is a *hookkit.Failure around the first refusal.")
	case e.Policy == FailClosed:
		sentences = append(sentences, "The error is a *hookkit.Failure.")
	}
	return sentences
}

// fireByDoc explains the results that FireBy adds.
func (e *apiEmitter) fireByDoc() []string {
	switch {
	case e.DecidedByOne() && e.Collects():
		return []string{"FireBy is Fire that also returns the hook that decided, or a zero By if every hook continued, and",
			"for each contribution the hook that made it."}
	case e.Collects():
		return []string{"FireBy is Fire that also returns, for each contribution, the hook that made it."}
	}
	return []string{"FireBy is Fire that also returns the hook that decided, or a zero By if every hook continued."}
}

// fireAround emits Fire and FireBy of an around point.
func (e *apiEmitter) fireAround() {
	params := []jen.Code{ctxParam(), runParam(), jen.Id(anyParam).Add(payloadType()),
		jen.Id("act").Func().Params(jen.Qual("context", "Context"), payloadType()).Params(jen.Id(anyResult), jen.Error())}
	run := func(by *jen.Statement) *jen.Statement {
		return jen.Id("p").Dot("runHooks").Call(jen.Id("ctx"), jen.Id("run"), jen.Id(anyParam), jen.Id("act"), by, jen.Nil())
	}
	e.prose("Fire runs the act inside the hooks and returns the answer of the outermost. A panic of a hook or of",
		"the act is returned as a *hookkit.Failure.")
	e.method("Fire").Params(params...).Params(jen.Id("result").Id(anyResult), jen.Err().Error()).Block(
		jen.If(active()).Block(jen.Return(run(jen.Nil()))),
		jen.Id("returned").Op(":=").False(),
		jen.Defer().Func().Params().Block(
			jen.If(jen.Op("!").Id("returned")).Block(
				jen.Err().Op("=").Add(implName("ActCrashed")).Call(jen.Id("ctx"), jen.Id("p"), jen.Recover())),
		).Call(),
		jen.If(jen.List(jen.Id("result"), jen.Err()).Op("=").Id("act").Call(
			jen.Qual(impl, "Background").Call(jen.Id("ctx")), jen.Id(anyParam)),
			jen.Err().Op("!=").Nil()).Block(
			jen.Id("result").Op("=").Op("*").New(jen.Id(anyResult))), // zero, as with hooks
		jen.Id("returned").Op("=").True(),
		jen.Return())
	e.prose("FireBy is Fire that also returns the hook that answered instead of the act, or the hook that failed.",
		"A zero By means that the act answered.")
	e.method("FireBy").Params(params...).Params(jen.Id("result").Id(anyResult), byParam(), jen.Err().Error()).Block(
		jen.If(active()).Block(
			jen.List(jen.Id("result"), jen.Err()).Op("=").Add(run(jen.Op("&").Id("by")))).Else().Block(
			jen.If(jen.List(jen.Id("result"), jen.Err()).Op("=").Id("p").Dot("Fire").Call(
				jen.Id("ctx"), jen.Id("run"), jen.Id(anyParam), jen.Id("act")), jen.Err().Op("!=").Nil()).Block(
				jen.Id("by").Op("=").Add(implName("ErrorBy")).Call(jen.Err()))),
		jen.Return())
}
