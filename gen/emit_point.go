package gen

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"
)

// A pointEmitter emits one point: its public face here, its loop in emit_fire.go and emit_around.go.
type pointEmitter struct {
	*emitter
	p     *Point
	n     string // the point's name
	param string // what the payload is called in exported signatures
	stand bool   // the names are stand-ins; see emit_mold.go
}

func newPointEmitter(e *emitter, p *Point) *pointEmitter {
	pe := &pointEmitter{emitter: e, p: p, n: p.Name, param: p.Param}
	if pe.param == "" || pe.param == "_" || slices.Contains(locals, pe.param) || e.paths[pe.param] != "" {
		pe.param = "payload"
	}
	return pe
}

// The shapes of a point.
func (p *pointEmitter) decides() bool    { return p.p.Kind == Flow || p.p.Kind == Vote }
func (p *pointEmitter) rewrites() bool   { return p.p.Replace || p.p.Edit.Expr != nil }
func (p *pointEmitter) exits() bool      { return len(p.p.Exits) > 0 }
func (p *pointEmitter) collects() bool   { return p.p.Collect.Expr != nil }
func (p *pointEmitter) failClosed() bool { return p.p.Policy == FailClosed }

// returnsErr reports whether Fire can come back with an error.
func (p *pointEmitter) returnsErr() bool {
	return p.decides() || p.p.Kind == Check || p.p.Kind == Around || p.failClosed()
}

// The types of the point.
func (p *pointEmitter) payload() *jen.Statement { return p.typeOr(anyPayload, p.p.Payload) }
func (p *pointEmitter) collected() *jen.Statement {
	return jen.Index().Add(p.typeOr(anyCollect, p.p.Collect))
}
func (p *pointEmitter) result() *jen.Statement { return p.typeOr(anyResult, p.p.Around) }
func (p *pointEmitter) edit() *jen.Statement   { return p.typeOr(anyEdit, p.p.Edit) }

func (p *pointEmitter) typeOr(standIn string, t Type) *jen.Statement {
	switch {
	case p.stand:
		return jen.Id(standIn)
	case t.Expr == nil:
		return jen.Null() // asked for where the law has none, and not used
	}
	return p.typ(t.Expr)
}

// word returns a text of the point, or its stand-in.
func (p *pointEmitter) word(standIn string, text func() string) string {
	if p.stand {
		return standIn
	}
	return text()
}

func (p *pointEmitter) legalWords() string {
	return p.word(anyLegal, func() string { return or(p.legal()) })
}
func (p *pointEmitter) editField() string {
	return p.word(anyField, func() string { return p.p.EditField })
}

func (p *pointEmitter) hook() *jen.Statement { return jen.Id(p.n).Types(p.payload()) }
func (p *pointEmitter) plan() *jen.Statement {
	return jen.Op("*").Qual(kit, "Plan").Types(p.hook())
}
func (p *pointEmitter) lawType() string { return lowerFirst(p.n) + "Law" }

// kitType is a type of the runtime.
func kitType(name string) *jen.Statement { return jen.Qual(kit, name) }

// legal lists what a hook of the point may return, for people.
func (p *pointEmitter) legal() []string {
	var words []string
	if p.p.Replace {
		words = append(words, "Replace"+p.n)
	}
	if p.p.Edit.Expr != nil {
		words = append(words, "Edit"+p.n)
	}
	for _, x := range p.p.Exits {
		words = append(words, x.Name)
	}
	return words
}

// results are what a hook of the point returns.
func (p *pointEmitter) results() []jen.Code {
	switch {
	case p.p.Kind == Around:
		return []jen.Code{p.answer(), jen.Error()}
	case p.decides() && p.collects():
		return []jen.Code{jen.Id(p.n + "Outcome"), p.collected(), jen.Error()}
	case p.decides():
		return []jen.Code{jen.Id(p.n + "Outcome"), jen.Error()}
	case p.collects():
		return []jen.Code{p.collected(), jen.Error()}
	}
	return []jen.Code{jen.Error()}
}

// params are the parameters of a hook of the point, with the payload under its name in the spec.
func (p *pointEmitter) params(payload jen.Code) []jen.Code {
	ps := []jen.Code{ctxParam(), runParam(), jen.Id(p.param).Add(payload)}
	if p.p.Kind == Around {
		ps = append(ps, jen.Id("next").Id(p.n+"Next"))
	}
	return ps
}

// args are what a hook of the point is called with, by code that has it under the same names.
func (p *pointEmitter) args() []jen.Code {
	as := []jen.Code{jen.Id("ctx"), jen.Id("run"), jen.Id(p.param)}
	if p.p.Kind == Around {
		as = append(as, jen.Id("next"))
	}
	return as
}

// meaning says what a hook may do, in a sentence or two.
func (p *pointEmitter) meaning() []string {
	var lines []string
	switch p.p.Kind {
	case Observe:
		lines = append(lines, "Every hook runs; an error is reported and changes nothing.")
	case Flow:
		lines = append(lines, "Hooks run in order.")
	case Vote:
		lines = append(lines, "Every hook is asked; the strongest outcome counts.")
	case Collect:
		lines = append(lines, "Every hook is asked; what they return is put together in firing order.")
	case Check:
		lines = append(lines, "Hooks run in order; the first error stops and is what the fire returns.")
	case Around:
		lines = append(lines, "The first hook is the outermost; each calls next or answers itself.")
	}
	switch p.p.Policy {
	case FailClosed:
		lines = append(lines, "A failing hook ends the fire.")
	case FailOpen:
		lines = append(lines, "A failing hook is reported; the next one runs.")
	}
	return lines
}

func or(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// head is the comment on the hook's interface, as far as the spec's own goes.
func (p *pointEmitter) head() []string {
	doc := docLines(p.p.Doc)
	if len(doc) > 0 {
		doc = append(doc, "//")
	}
	if !strings.HasPrefix(p.p.Doc, p.n+" ") {
		name := []string{"// " + p.n + " is a hook of that point."}
		if len(doc) > 0 {
			name = append(name, "//")
		}
		doc = append(name, doc...)
	}
	return doc
}

// hookTypes emits the hook's interface and its adapters.
func (p *pointEmitter) hookTypes(f *jen.File) {
	if p.stand {
		comment(f, anyDoc)
	} else {
		comment(f, p.head()...)
	}
	comment(f, p.meaning()...)
	f.Type().Id(p.n).Types(jen.Id("P").Id("any")).Interface(
		jen.Id(p.n).Params(p.params(jen.Id("P"))...).Params(p.results()...))

	comment(f, p.n+"Func is a function as a hook.")
	f.Type().Id(p.n + "Func").Func().Params(p.params(p.payload())...).Params(p.results()...)
	comment(f, p.n+" calls f.")
	f.Func().Params(jen.Id("f").Id(p.n + "Func")).Id(p.n).Params(p.params(p.payload())...).Params(p.results()...).Block(
		jen.Return(jen.Id("f").Call(p.args()...)))
	comment(f, "Bind adds f to its point.")
	f.Func().Params(jen.Id("f").Id(p.n + "Func")).Id("Bind").Params(jen.Id("h").Op("*").Id("Hooks")).Block(
		jen.Id("h").Dot(p.n).Dot("Add").Call(jen.Id("f")))

	adapter := lowerFirst(p.n) + "When"
	continues := make([]jen.Code, len(p.results()))
	for i := range continues {
		continues[i] = jen.Nil()
	}
	pass := jen.Return(continues...)
	if p.p.Kind == Around {
		pass = jen.Return(jen.Id("next").Dot("Call").Call(jen.Id("ctx"), jen.Id(p.param)))
	}
	comment(f, p.n+"When is h where when holds; Explain shows desc.")
	f.Func().Id(p.n+"When").Params(jen.Id("desc").String(), jen.Id("when").Func().Params(jen.Op("*").Id("Run"), p.payload()).Bool(),
		jen.Id("h").Add(p.hook())).Add(p.hook()).Block(
		jen.Return(jen.Id(adapter).Values(kitType("When").Call(jen.Id("desc"), jen.Id("when").Op("!=").Nil(), jen.Id("h")),
			jen.Func().Params(p.params(p.payload())...).Params(p.results()...).Block(
				jen.If(jen.Op("!").Id("when").Call(jen.Id("run"), jen.Id(p.param))).Block(pass),
				jen.Return(jen.Id("h").Dot(p.n).Call(p.args()...))))))
	f.Type().Id(adapter).Struct(kitType("Condition"), jen.Id(p.n+"Func"))
}

// outcomes emits the sealed set of outcomes.
func (p *pointEmitter) outcomes(f *jen.File) {
	if !p.decides() {
		return
	}
	comment(f, p.n+"Outcome is what a hook may decide: "+p.legalWords()+". Nil continues.")
	f.Type().Id(p.n + "Outcome").Interface(jen.Id("legalAt" + p.n).Params())
	if p.p.Replace {
		comment(f, "Replace"+p.n+" makes another payload go on.")
		p.constructor(f, "Replace", p.param, p.payload())
	}
	if p.p.Edit.Expr != nil {
		comment(f, "Edit"+p.n+" makes the payload go on with another "+p.editField()+".")
		p.constructor(f, "Edit", "value", p.edit())
	}
	if p.exits() {
		comment(f, p.n+"Exit is what a fire can end with: "+p.word(anyLeaving, func() string { return or(exitNames(p.p.Exits)) })+".")
		f.Type().Id(p.n+"Exit").Interface(jen.Id(p.n+"Outcome"), jen.Id("isExit").Params())
	}
}

func exitNames(exits []*Exit) []string {
	names := make([]string, len(exits))
	for i, x := range exits {
		names[i] = x.Name
	}
	return names
}

func (p *pointEmitter) constructor(f *jen.File, verb, param string, typ *jen.Statement) {
	made := p.made(verb)
	f.Func().Id(verb+p.n).Params(jen.Id(param).Add(typ), jen.Id("reason").String()).Id(p.n + "Outcome").Block(
		jen.Return(jen.Id(made).Values(
			kitType(map[string]string{"Replace": "Replaced", "Edit": "Edited"}[verb]).Call(jen.Id("reason")), jen.Id(param))))
	f.Type().Id(made).Struct(kitType("Replacement"), jen.Id("to").Add(typ))
	f.Func().Params(jen.Id(made)).Id("legalAt" + p.n).Params().Block()
}

// made is the type that Replace and Edit constructors make.
func (p *pointEmitter) made(verb string) string { return lowerFirst(p.n) + verb }

// observers emits the observer's interface and what it is told.
func (p *pointEmitter) observers(f *jen.File) {
	comment(f, p.n+"Observer is told of every firing, once it is decided.")
	f.Type().Id(p.n + "Observer").Types(jen.Id("P").Id("any")).Interface(
		jen.Id("Observe"+p.n).Params(ctxParam(), runParam(), jen.Id("fired").Id(p.n+"Fired").Types(jen.Id("P"))))
	comment(f, p.n+"Fired is one firing; see hookkit.AnyFired.")
	f.Type().Id(p.n + "Fired").Types(jen.Id("P").Id("any")).StructFunc(func(g *jen.Group) {
		field := func(has bool, name string, typ *jen.Statement) {
			if has {
				g.Id(name).Add(typ)
			}
		}
		field(true, "Payload", jen.Id("P"))
		field(p.rewrites(), "Left", jen.Id("P"))
		field(p.exits(), "Exit", jen.Id(p.n+"Exit"))
		field(p.collects(), "Collected", p.collected())
		field(p.p.Kind == Around, "Result", p.result())
		field(p.p.Kind == Vote, "Ballots", jen.Index().Add(kitType("Ballot")))
		field(p.returnsErr(), "Err", jen.Error())
		g.Add(kitType("Verdict"))
	})
}

// point emits the registry of the point and its methods.
func (p *pointEmitter) point(f *jen.File) {
	recv := func() *jen.Statement { return f.Func().Params(jen.Id("p").Op("*").Id(p.n + "Point")) }
	option := "HookOption"
	if p.decides() {
		option = "GateOption"
	}
	comment(f, p.n+"Point holds the hooks; do not copy it.")
	f.Type().Id(p.n + "Point").Struct(kitType("Registry").Types(p.hook(), jen.Id(p.n+"Observer").Types(p.payload()), kitType(option), jen.Id(p.lawType())))
	if p.p.Kind == Around {
		p.aroundFire(f)
		return
	}

	comment(f, p.fireDoc()...)
	payload := p.payload()
	if p.rewrites() {
		payload = jen.Op("*").Add(payload)
	}
	// Small enough to be inlined, with its bare return: a point without hooks costs less than a call.
	recv().Id("Fire").Params(ctxParam(), runParam(), jen.Id(p.param).Add(payload)).Add(p.fireResults(true)).BlockFunc(func(g *jen.Group) {
		fire := jen.Id("p").Dot("fire").Call(jen.Id("ctx"), jen.Id("run"), jen.Id(p.param), jen.Nil())
		if p.p.Kind != Observe {
			fire = jen.List(p.resultNames()...).Op("=").Add(fire)
		}
		g.If(jen.Id("p").Dot("Armed").Dot("Load").Call()).Block(fire)
		if p.p.Kind != Observe {
			g.Return()
		}
	})
}

// fireDoc says what Fire returns.
func (p *pointEmitter) fireDoc() []string {
	lines := []string{"Fire runs the hooks."}
	if p.rewrites() {
		lines = append(lines, "They may change the payload.")
	}
	if p.exits() {
		lines = append(lines, "A nil exit means go on.")
	}
	switch {
	case p.decides():
		lines = append(lines, "An error means: refuse the act.")
	case p.p.Kind == Check:
		lines = append(lines, "An error is a *hookkit.Failure around the first refusal.")
	case p.failClosed():
		lines = append(lines, "An error is a *hookkit.Failure.")
	}
	return []string{strings.Join(lines, " ")}
}

// fireResults are what Fire returns.
func (p *pointEmitter) fireResults(named bool) *jen.Statement {
	var rs []jen.Code
	add := func(name string, typ *jen.Statement) {
		if named {
			typ = jen.Id(name).Add(typ)
		}
		rs = append(rs, typ)
	}
	if p.exits() {
		add("exit", jen.Id(p.n+"Exit"))
	}
	if p.collects() {
		add("collected", p.collected())
	}
	if p.returnsErr() {
		add("err", jen.Error())
	}
	if len(rs) == 0 {
		return jen.Null()
	}
	if len(rs) == 1 && !named {
		return jen.Add(rs[0])
	}
	return jen.Params(rs...)
}
