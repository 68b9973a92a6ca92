package gen

import (
	"bytes"
	"fmt"

	"github.com/dave/jennifer/jen"
)

// WireFileName is the name of the generated file for hooks of other processes. It is in the directory of [FileName].
const WireFileName = "hooks_wire_gen.go"

// wirePackage is the import path of the messages.
const wirePackage = kit + "/wire"

// EmitWire returns the Go source of the functions that connect hooks of other processes, for a spec marked
// //hookgen:wire. It is as small for many points as for few, because the functions reach the points by the method
// Points of Hooks.
func EmitWire(s *Spec, to Output) ([]byte, error) {
	e := newEmitter(s, to)
	f := jen.NewFile(to.Package)
	f.HeaderComment(header(s, to))
	wire := "wire"
	for e.taken[wire] {
		wire += "_"
	}
	f.ImportName(kit, "hookkit")
	if wire == "wire" {
		f.ImportName(wirePackage, wire)
	} else {
		f.ImportAlias(wirePackage, wire)
	}
	e.wire(f)
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		return nil, fmt.Errorf("%s: cannot emit: %w", s.File, err)
	}
	return b.Bytes(), nil
}

// wire emits Remote, Serve and Record.
func (e *emitter) wire(f *jen.File) {
	const spec = "hookgenWire"
	in := func(name string) *jen.Statement { return jen.Qual(wirePackage, name) }
	hooks, anyRun := jen.Op("*").Id("Hooks"), jen.Qual(kit, "AnyRun")
	ctx := jen.Id("ctx").Qual("context", "Context")

	prose(f, "Remote returns hooks that ask a service for their decisions: one hook at each point that the service",
		"answers. Pass them to Use. The service is asked once which points these are, and Remote fails if it cannot be",
		"reached; the option wire.Points names the points instead.")
	f.Func().Id("Remote").Params(ctx, jen.Id("c").Add(in("Caller")), jen.Id("opts").Op("...").Add(in("RemoteOption"))).
		Params(jen.Id("Hook"), jen.Error()).Block(
		jen.List(jen.Id("h"), jen.Err()).Op(":=").Add(in("Connect")).Types(hooks).
			Call(jen.Id("ctx"), jen.Id(spec), jen.Id("c"), jen.Id("opts")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Id("h"), jen.Nil()))

	prose(f, "Serve answers the requests of other processes by firing h. The function run returns the run that the hooks",
		"see; it is called once for each run of another process, and may be called concurrently. If it is nil, the hooks",
		"see a run with the identity of the caller's and a zero environment.")
	f.Func().Id("Serve").Params(jen.Id("h").Add(hooks),
		jen.Id("run").Func().Params(jen.Qual("context", "Context"),
			in("RunInfo")).Params(jen.Op("*").Id("Run"), jen.Error())).
		Add(in("Handler")).Block(
		jen.If(jen.Id("run").Op("==").Nil()).Block(
			jen.Return(in("Serve").Call(jen.Id(spec), jen.Id("h").Dot("Points").Call(), jen.Nil()))),
		jen.Return(in("Serve").Call(jen.Id(spec), jen.Id("h").Dot("Points").Call(),
			jen.Func().Params(ctx, jen.Id("info").Add(in("RunInfo"))).Params(anyRun, jen.Error()).Block(
				jen.Return(jen.Id("run").Call(jen.Id("ctx"), jen.Id("info")))))))

	prose(f, "Record returns an observer that writes one event for each fire of a wire point. Pass it to ObserveAny.")
	f.Func().Id("Record").Params(jen.Id("s").Add(in("Sink"))).Id("AnyObserver").Block(
		jen.Return(in("NewRecorder").Types(jen.Op("*").Id("Run")).Call(jen.Id(spec), jen.Id("s"))))

	prose(f, spec+" describes the spec to package wire.")
	f.Var().Id(spec).Op("=").Add(in("Spec")).Values(jen.Dict{
		jen.Id("Path"): jen.Lit(e.to.Source),
		jen.Id("Points"): jen.Index().String().ValuesFunc(func(g *jen.Group) {
			for _, p := range e.spec.Points {
				if e.spec.Wired(p) {
					g.Line().Lit(p.Name)
				}
			}
			g.Line()
		}),
		jen.Id("Labels"): jen.Func().Params(jen.Id("run").Add(anyRun)).Map(jen.String()).String().Block(
			jen.Return(in("Labels").Call(jen.Id("run").Assert(jen.Op("*").Id("Run")).Dot("Env")))),
		jen.Id("Resume"): jen.Func().Params(jen.Id("info").Add(in("RunInfo"))).Add(anyRun).Block(
			jen.Return(jen.Qual(kit, "ResumeRun").Call(jen.New(jen.Id("Run")).Dot("Env"),
				jen.Id("info").Dot("ID"), jen.Id("info").Dot("Parent"), jen.Id("info").Dot("Root")))),
	})
}
