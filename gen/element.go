package gen

import (
	"go/ast"
	"go/types"
	"iter"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen/model"
)

// An elementKind classifies an element of a result list. Some kinds are mistakes, for which a rule has the message.
type elementKind int

const (
	markerElement      elementKind = iota // a marker that is allowed in a list
	exitElement                           // an exit, perhaps with a mistake in its declaration
	unknownMarker                         // spec.Foo
	bareMarker                            // Replace without its qualifier
	envElement                            // spec.Env
	errorElement                          // error
	payloadElement                        // the payload of a point
	foreignElement                        // a type of another package
	wrongImportElement                    // spec.Replace where spec is another package
	unresolvedElement                     // a qualifier that names no import; reported as such
	undeclaredElement                     // a name that nothing declares
	otherFileElement                      // a type of another file of the package
	notStructElement                      // a type of the spec file that is not written as a struct
	genericElement                        // an instantiated type, or one that should be
	pointerElement                        // *Exit
	unnamedElement                        // a type without a name
)

// An element is one entry of a result list.
type element struct {
	expr    ast.Expr
	kind    elementKind
	name    string // of the marker or the type; "" for one without a name
	marker  *markerUse
	decl    *declaration // of a type of the package
	payload *member      // the point whose payload it is
}

// decides reports whether the element lets a hook decide something. A point with such an element needs a policy for
// hooks that fail.
func (e *element) decides() bool {
	kind := e.selects()
	return kind == Flow || kind == Vote
}

// selects returns the kind of a point that lists the element and nothing stronger.
func (e *element) selects() Kind {
	switch {
	case e.isExit():
		return Flow
	case e.kind == markerElement:
		return e.marker.Kind
	}
	return Observe
}

// isExit reports whether the element is an exit, or a mistaken attempt at one.
func (e *element) isExit() bool {
	switch e.kind {
	case exitElement, undeclaredElement, otherFileElement, notStructElement, genericElement,
		pointerElement, foreignElement:
		return true
	}
	return false
}

// is reports whether the element is the given marker.
func (e *element) is(marker string) bool { return e.kind == markerElement && e.name == marker }

// at reports whether the element is a marker with the given place.
func (e *element) at(p model.Place) bool { return e.kind == markerElement && e.marker.Place == p }

// argument returns the type argument of a marker, or zero unless it has exactly one.
func (e *element) argument() Type {
	if e.marker == nil || len(e.marker.args) != 1 {
		return Type{}
	}
	return typeOf(e.marker.args[0])
}

// elements yields every element of every result list, with its method.
func (r *specInfo) elements() iter.Seq2[*member, *element] {
	return func(yield func(*member, *element) bool) {
		for _, m := range r.members {
			for _, e := range m.law {
				if !yield(m, e) {
					return
				}
			}
		}
	}
}

// readLaws reads the payload and the result list of every member.
func (r *specInfo) readLaws() {
	payloads := map[string]*member{}
	for _, m := range r.members {
		if p := m.payload(r); p != nil {
			if p.name != nil && !r.hides(p.name.Name) {
				m.Param = p.name.Name
			}
			m.Payload = typeOf(p.typ)
			if name := baseName(p.typ); name != nil && payloads[name.Name] == nil {
				payloads[name.Name] = m
			}
		}
	}
	for _, m := range r.members {
		var list []string
		for _, expr := range m.Results {
			m.law = append(m.law, r.element(m, expr, payloads))
			list = append(list, strings.TrimPrefix(types.ExprString(expr), r.SpecPkg.Name+"."))
		}
		m.List = strings.Join(list, ", ")
		m.readLaw()
	}
}

// payload returns the parameter that is the payload: the first that is not a context. It returns nil if there is no
// such parameter, or if the parameter is variadic.
func (m *member) payload(r *specInfo) *parameter {
	for i := range m.params {
		p := &m.params[i]
		if _, variadic := p.typ.(*ast.Ellipsis); variadic {
			return nil
		}
		if !r.isContext(p.typ) {
			return p
		}
	}
	return nil
}

// hides reports whether a parameter of that name would shadow a name that the generated code needs. For example, in
// OnSend(Message Message) the parameter would hide the type. Blank hides nothing, but cannot be used as a name either.
func (r *specInfo) hides(name string) bool {
	return name == "_" || r.scope[name] != nil || predeclared[name] || builtins[name]
}

// isContext reports whether a type is context.Context.
func (r *specInfo) isContext(expr ast.Expr) bool {
	sel, ok := ast.Unparen(expr).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Context" {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	line := r.qualifiers[x.Name]
	return line != nil && line.path == "context" || line == nil && x.Name == "context"
}

// element classifies one entry of a result list.
func (r *specInfo) element(m *member, expr ast.Expr, payloads map[string]*member) *element {
	e := &element{expr: expr}
	if e.marker = r.markerUse(expr); e.marker != nil {
		e.name = e.marker.Name
		switch {
		case !e.marker.known:
			e.kind = unknownMarker
		case e.marker.Place == model.Embedded:
			e.kind = envElement
		}
		return e
	}
	base, args := instance(expr)
	pointer := false
	for {
		star, ok := base.(*ast.StarExpr)
		if !ok {
			break
		}
		base, args = instance(star.X)
		pointer = true
	}
	switch base := base.(type) {
	case *ast.Ident:
		e.name = base.Name
		e.kind = r.named(e, m, payloads)
	case *ast.SelectorExpr:
		e.name = r.text(base)
		e.kind = foreignElement
		x, ok := base.X.(*ast.Ident)
		switch {
		case !ok || r.qualifiers[x.Name] == nil:
			e.kind = unresolvedElement
		case pointer && x.Name == r.SpecPkg.Name:
			e.kind = pointerElement
		case x.Name == "spec" && slices.Contains(markerNames, base.Sel.Name):
			e.kind = wrongImportElement
		}
		return e
	default:
		e.kind = unnamedElement
		return e
	}
	if e.kind == exitElement && (len(args) > 0 || e.decl.generic()) {
		e.kind = genericElement
	}
	if pointer && e.kind == exitElement {
		e.kind = pointerElement
	}
	return e
}

// named classifies an unqualified name in a result list.
func (r *specInfo) named(e *element, m *member, payloads map[string]*member) elementKind {
	e.decl = r.scope[e.name]
	if e.decl == nil {
		switch {
		case e.name == "error":
			return errorElement
		case predeclared[e.name]:
			return unnamedElement
		case slices.Contains(markerNames, e.name):
			return bareMarker
		}
		return undeclaredElement
	}
	if e.decl.spec == nil {
		return unnamedElement
	}
	if other := payloads[e.name]; other != nil {
		e.payload = other
		if name := baseName(m.Payload.Expr); name != nil && name.Name == e.name {
			e.payload = m
		}
		return payloadElement
	}
	switch {
	case e.decl.file != r.file:
		return otherFileElement
	case e.decl.structure() == nil || e.decl.spec.Assign.IsValid():
		return notStructElement
	}
	return exitElement
}

// readLaw sets the fields of the point that its result list determines.
func (m *member) readLaw() {
	for _, e := range m.law {
		m.Kind = max(m.Kind, e.selects())
		if e.kind != markerElement {
			continue
		}
		if e.marker.Set != nil {
			e.marker.Set(&m.Law, e.argument())
		}
		if e.marker.Flag != nil {
			*e.marker.Flag(&m.Plain) = true
		}
	}
	if m.Kind == Collect && m.Policy == NoPolicy {
		m.Policy = FailOpen
	}
}
