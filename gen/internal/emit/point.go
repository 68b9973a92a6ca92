package emit

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"
	"github.com/hookgen/hookgen/gen/model"
	"github.com/hookgen/hookgen/internal/spelling"
)

// A pointEmitter emits the code of one point. Its exported fields and methods are those of the template.
type pointEmitter struct {
	*emitter
	*model.Point
	Lower string // Name with a lower-case first letter
	param string // the name of the payload parameter

	payload, edited, collected, result, key         typeCode
	PayloadType, CollectedType, ResultType, KeyType string     // the same as text
	aliases                                         []jen.Code // declarations of types that a local name would hide
}

// point returns the code of a point.
func (e *emitter) point(p *model.Point) (pointText, error) {
	pe := &pointEmitter{emitter: e, Point: p, Lower: LowerFirst(p.Name), param: e.paramName(p)}
	pe.payload, pe.edited = pe.local("Payload", p.Payload), pe.local("Edited", p.Edit)
	pe.collected, pe.result = pe.local("Collected", p.Collect), pe.local("Result", p.Around)
	pe.key = pe.local("Key", p.Key.Type)
	var text pointText
	raw, err := e.render(pe.api)
	if err == nil {
		text.api, err = formatted(raw)
	}
	if err == nil {
		text.machinery, err = pe.machinery()
	}
	return text, err
}

// local returns a type as the functions of the point write it. If a local name of the functions would hide a part of
// it, this is an alias of the type. For example, a spec may have a type hook, and the loop has a variable of that name.
func (p *pointEmitter) local(what string, t model.Type) typeCode {
	if t.IsZero() {
		return typeCode{}
	}
	if p.hidden(t) {
		alias := "hookgen" + what + "Of" + p.Name
		p.aliases = append(p.aliases, jen.Type().Id(alias).Op("=").Add(p.typ(t.Expr)))
		return named(alias)
	}
	return typeCode{p.typ(t.Expr), len(t.String())}
}

// api emits the public part of the point.
func (p *pointEmitter) api(f *jen.File) {
	p.hook(f)
	p.outcomes(f)
	p.match(f)
	p.observer(f)
	p.next(f)
	p.registry(f)
	if p.IsAround() {
		p.fireAround(f)
	} else {
		p.fire(f)
	}
	for _, alias := range p.aliases {
		f.Add(alias)
	}
}

func kitType(name string) *jen.Statement { return jen.Qual(kit, name) }

func implName(name string) *jen.Statement { return jen.Qual(impl, name) }

func registration() *jen.Statement { return jen.Op("*").Add(kitType("Registration")) }

// doc adds a comment to a declaration of the point, followed by the deprecation of the point.
func (p *pointEmitter) doc(f *jen.File, sentences ...string) {
	prose(f, sentences...)
	p.deprecate(f)
}

// deprecate adds the deprecation of the point to a comment.
func (p *pointEmitter) deprecate(f *jen.File) {
	if _, deprecated := splitDoc(p.Doc); len(deprecated) > 0 {
		comment(f, append([]string{"//"}, deprecated...)...)
	}
}

// hookParams returns the parameters of a hook with a payload of the type.
func (p *pointEmitter) hookParams(payload typeCode) []param {
	ps := []param{ctxParam(), runParam(), {p.param, payload}}
	if p.IsAround() {
		ps = append(ps, param{"next", named(p.Name + "Next")})
	}
	return ps
}

// hookResults returns the results of a hook.
func (p *pointEmitter) hookResults() []param {
	var rs []param
	switch {
	case p.IsAround():
		rs = append(rs, param{"", typeCode{kitType("Answer").Types(p.result), len("hookkit.Answer[]") + p.result.width}})
	case p.Decides():
		rs = append(rs, param{"", named(p.Name + "Outcome")})
	}
	if p.Collects() {
		rs = append(rs, param{"", typeCode{jen.Index().Add(p.collected), p.collected.width + 2}})
	}
	return append(rs, errorResult(""))
}

// hookFunc returns the type of a function that is a hook.
func (p *pointEmitter) hookFunc() *jen.Statement {
	return signature(jen.Func(), len("type  func")+len(p.Name), p.hookParams(p.payload), p.hookResults())
}

// hook emits the interface of hooks and its function type.
func (p *pointEmitter) hook(f *jen.File) {
	head, _ := splitDoc(p.Doc)
	if !strings.HasPrefix(p.Doc, p.Name+" ") {
		comment(f, p.Name+" is a hook of the point "+p.Name+".", "//")
	}
	if len(head) > 0 {
		comment(f, append(head, "//")...)
	}
	p.doc(f, lawDoc(p.Point))
	f.Type().Id(p.Name).Types(jen.Id("P").Any()).Interface(
		signature(jen.Id(p.Name), len(p.Name), p.hookParams(named("P")), p.hookResults()))

	p.doc(f, p.Name+"Func is a function that is a hook.")
	f.Type().Id(p.Name + "Func").Add(p.hookFunc())
	prose(f, p.Name+" calls f.")
	method := f.Func().Params(jen.Id("f").Id(p.Name + "Func"))
	signature(method.Id(p.Name), len("func (f Func)  {")+2*len(p.Name), p.hookParams(p.payload), p.hookResults()).Block(
		jen.Return(jen.Id("f").Call(names(p.hookParams(p.payload))...)))
	prose(f, "Bind adds f to its point.")
	f.Func().Params(jen.Id("f").Id(p.Name+"Func")).Id("Bind").Params(jen.Id("h").Op("*").Id("Hooks")).Custom(oneLine,
		jen.Id("h").Dot(p.Name).Dot("Add").Call(jen.Id("f")))
}

// outcomes emits the sealed interface of outcomes, and their constructors.
func (p *pointEmitter) outcomes(f *jen.File) {
	if !p.Decides() {
		return
	}
	p.doc(f, p.Name+"Outcome is "+spelling.Or(p.legal())+"; nil continues.")
	f.Type().Id(p.Name+"Outcome").Id("interface").Custom(oneLine, jen.Id("legalAt"+p.Name).Params())
	if p.Replace {
		p.doc(f, "Replace"+p.Name+" gives the next hooks, and the program, another payload.")
		p.constructor(f, "Replace", "Replaced", param{p.param, p.payload})
	}
	if p.Edits() {
		p.doc(f, "Edit"+p.Name+" gives the payload another "+p.EditField+".")
		p.constructor(f, "Edit", "Edited", param{"value", p.edited})
	}
	if p.Leaves() {
		p.doc(f, p.Name+"Exit is an outcome that ends the fire, which returns it; see Match"+p.Name+".")
		comment(f, "//", "//sumtype:decl")
		f.Type().Id(p.Name+"Exit").Interface(jen.Id(p.Name+"Outcome"), jen.Id("isExit").Params())
	}
}

// legal returns the outcomes that a hook may return: constructors and exits.
func (p *pointEmitter) legal() []string {
	var all []string
	if p.Replace {
		all = append(all, "Replace"+p.Name)
	}
	if p.Edits() {
		all = append(all, "Edit"+p.Name)
	}
	return append(all, p.Exits...)
}

func (p *pointEmitter) constructor(f *jen.File, verb, made string, value param) {
	outcome := p.Lower + verb
	signature(f.Func().Id(verb+p.Name), len("func  {")+len(verb+p.Name), []param{value, {"reason", named("string")}},
		[]param{{"", named(p.Name + "Outcome")}}).Block(
		jen.Return(jen.Id(outcome).Parens(implName(made).Call(jen.Id(value.name), jen.Id("reason")))))
	f.Type().Id(outcome).Add(implName("Replacing").Types(value.typ))
	f.Func().Params(jen.Id(outcome)).Id("legalAt" + p.Name).Params().Block()
}

// match emits the function that handles each exit.
func (p *pointEmitter) match(f *jen.File) {
	if !p.Leaves() {
		return
	}
	result := "R"
	for slices.Contains(p.Exits, result) {
		result += "_"
	}
	names := p.matchParams(p.Exits)
	params := []param{{"exit", named(p.Name + "Exit")},
		{"none", typeCode{jen.Func().Params().Id(result), len("func() ") + len(result)}}}
	cases := []jen.Code{jen.Case(jen.Nil()).Block(jen.Return(jen.Id("none").Call()))}
	for i, x := range p.Exits {
		params = append(params, param{names[i],
			typeCode{jen.Func().Params(jen.Id(x)).Id(result), len("func() ") + len(x+result)}})
		cases = append(cases, jen.Case(jen.Id(x)).Block(jen.Return(jen.Id(names[i]).Call(jen.Id("x")))))
	}
	p.doc(f, "Match"+p.Name+" calls the function for the exit, or none if it is nil; each call handles all.")
	signature(f.Func().Id("Match"+p.Name).Types(jen.Id(result).Any()), len("func Match[R any] {")+len(p.Name), params,
		[]param{{"", named(result)}}).Block(
		jen.Switch(jen.Id("x").Op(":=").Id("exit").Assert(jen.Type())).Block(cases...),
		jen.Panic(implName("UnmatchedError").Types(jen.Id(p.Name+"Exit")).Values(jen.Dict{
			jen.Id("Exit"): jen.Id("exit"), // a call would make the function too large to be inlined
		})))
}

// observer emits the interface of observers and the struct that they receive.
func (p *pointEmitter) observer(f *jen.File) {
	p.doc(f, p.Name+"Observer is notified of every fire after it is decided.")
	fired := jen.Id(p.Name + "Fired").Types(jen.Id("P"))
	f.Type().Id(p.Name + "Observer").Types(jen.Id("P").Any()).Interface(
		signature(jen.Id("Observe"+p.Name), len("Observe")+len(p.Name),
			[]param{ctxParam(), runParam(), {"fired", typeCode{fired, len("Fired[P]") + len(p.Name)}}}, nil))
	p.doc(f, p.Name+"Fired describes one fire to observers.")
	f.Type().Id(p.Name + "Fired").Types(jen.Id("P").Any()).StructFunc(func(g *jen.Group) {
		field := func(has bool, doc, name string, typ *jen.Statement) {
			if has {
				g.Comment("// " + doc)
				g.Id(name).Add(typ)
			}
		}
		field(true, "Payload is as it was passed to Fire.", "Payload", jen.Id("P"))
		field(p.Rewrites(), "Final is the payload after the hooks.", "Final", jen.Id("P"))
		field(p.Leaves(), "Exit is the decision that the fire returned; nil without one.", "Exit", jen.Id(p.Name+"Exit"))
		field(p.Collects(), "Collected are the contributions in firing order.", "Collected", jen.Index().Add(p.collected))
		field(p.IsAround(), "Result is the result that the fire returned.", "Result", p.result.Statement)
		field(p.IsVote(), "Ballots are the votes in firing order.", "Ballots", jen.Index().Add(kitType("Ballot")))
		field(p.ReturnsErr(), "Err is the error that the fire returned, or the failure that ended its goroutine.", "Err",
			jen.Error())
		g.Comment("// Verdict names the hook that decided.")
		g.Add(kitType("Verdict"))
	})
}

// next emits the type with which an around hook continues.
func (p *pointEmitter) next(f *jen.File) {
	if !p.IsAround() {
		return
	}
	p.doc(f, p.Name+"Next runs the inner hooks and the act. It is valid until the hook that received it returns.")
	f.Type().Id(p.Name+"Next").Struct(
		jen.Id("fire").Op("*").Id(p.Lower+"Invocation"),
		jen.Id("level").Int())
}

// registryAlias is the name under which a point embeds its registry. It is not exported, so that users see only the
// methods of the registry.
const registryAlias = "hookgenRegistry"

// registry emits the type of the point, with the registry that it embeds.
func (p *pointEmitter) registry(f *jen.File) {
	p.doc(f, p.Name+"Point holds the hooks and observers. Its methods are also Add, AddFunc, Observe, ObserveFunc",
		"and List. Do not copy it.")
	option := "HookOption"
	if p.Decides() {
		option = "GateOption"
	}
	registry := []jen.Code{jen.Id(p.Lower + "Point"), jen.Id(p.Name).Types(p.payload),
		jen.Id(p.Name + "Observer").Types(p.payload), kitType(option)}
	if len("Point, , Observer[], [], hookkit.GateOption")+3*len(p.Name)+2*p.payload.width < maxColumns {
		registry = []jen.Code{jen.Custom(jen.Options{Separator: ","}, registry...)}
	}
	registry = append(registry, p.hookFunc(), jen.Id(p.Name+"Fired").Types(p.payload))
	f.Type().Id(p.Name + "Point").Struct(jen.Id(registryAlias).Custom(
		jen.Options{Open: "[", Close: "]", Separator: ",", Multi: true}, registry...))
}

// oneLine keeps a body or a list of members on the line of its braces.
var oneLine = jen.Options{Open: "{", Close: "}"}
