package emit

import (
	"bytes"
	"strings"

	"github.com/dave/jennifer/jen"
	"github.com/hookgen/hookgen/gen/model"
)

// The packages of the messages, of records, and of the functions that only generated code uses.
const (
	wirePackage     = kit + "/wire"
	logPackage      = kit + "/hooklog"
	wireimplPackage = wirePackage + "/wireimpl"
)

// Wire returns the source of the file with the functions that connect hooks of other processes. It is as small for many
// points as for few, because the functions reach the points by the method Points of Hooks.
func Wire(s *model.Spec, to model.Output, header string) ([]byte, error) {
	e := newEmitter(s, to)
	f := jen.NewFile(to.Package)
	f.HeaderComment(header)
	names := map[string]string{kit: "hookkit"}
	for _, path := range []string{wirePackage, logPackage, wireimplPackage} {
		name := path[strings.LastIndexByte(path, '/')+1:]
		for e.taken[name] {
			name += "_"
		}
		names[path] = name
	}
	importNames(f, names)
	e.wire(f)
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// wire emits Remote, Serve and Record.
func (e *emitter) wire(f *jen.File) {
	const spec = "hookgenWire"
	in := func(name string) *jen.Statement { return jen.Qual(wirePackage, name) }
	impl := func(name string) *jen.Statement { return jen.Qual(wireimplPackage, name) }
	hooks := jen.Op("*").Id("Hooks")
	ctx := jen.Id("ctx").Qual("context", "Context")

	prose(f, "Remote returns hooks that ask a service for their decisions: one hook at each point that the service",
		"answers. Pass them to Use. The service is asked once which points these are, and Remote fails if it cannot be",
		"reached; the option wire.Points names the points instead.")
	f.Func().Id("Remote").Params(ctx, jen.Id("c").Add(in("Caller")), jen.Id("opts").Op("...").Add(in("RemoteOption"))).
		Params(jen.Id("Hook"), jen.Error()).Block(
		jen.List(jen.Id("h"), jen.Err()).Op(":=").Add(impl("Connect")).Types(hooks).
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
		jen.Return(impl("Serve").Call(jen.Id(spec), jen.Id("h").Dot("Points").Call(), jen.Id("run"))))

	prose(f, "Record returns an observer that writes one event for each fire of a wire point. Pass it to ObserveAny.")
	f.Func().Id("Record").Params(jen.Id("s").Qual(logPackage, "Sink")).Id("AnyObserver").Block(
		jen.Return(impl("NewRecorder").Types(jen.Op("*").Id("Run")).Call(jen.Id(spec), jen.Id("s"))))

	prose(f, spec+" describes the spec to package wireimpl.")
	f.Var().Id(spec).Op("=").Add(impl("Spec")).Values(jen.Dict{
		jen.Id("Path"): jen.Lit(e.to.Source),
		jen.Id("Points"): jen.Index().String().ValuesFunc(func(g *jen.Group) {
			for _, p := range e.spec.Points {
				if e.spec.Wired(p) {
					g.Line().Lit(p.Name)
				}
			}
			g.Line()
		}),
	})
}
