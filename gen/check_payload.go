package gen

import (
	"go/ast"
)

func checkPointName(r *specInfo, report report) {
	for _, m := range r.members {
		switch {
		case m.Name == "_":
			report(m.Pos, "a point has no name: give it an exported one, such as OnStart")
		case !m.ident.IsExported():
			report(m.Pos, "point %s is not exported, so no other package could hook it: %s", m.Name, exportedForm(m.Name))
		}
	}
}

// exportedForm suggests how to export a name.
func exportedForm(name string) string {
	if c := name[0]; 'a' <= c && c <= 'z' {
		return "rename it " + string(c-'a'+'A') + name[1:]
	}
	return "begin its name with a capital letter"
}

func checkPayloadCount(r *specInfo, report report) {
	for _, m := range r.members {
		var payloads []*parameter
		contexts := 0
		for i := range m.params {
			if p := &m.params[i]; r.isContext(p.typ) {
				contexts++
			} else {
				payloads = append(payloads, p)
			}
		}
		switch {
		case len(payloads) > 1:
			report(payloads[1].Pos(), "point %s has %d payloads: "+
				"declare one struct with these as its fields and make it the one parameter", m.Name, len(payloads))
		case len(payloads) == 0 && contexts == 0:
			report(m.Pos, "point %s has no payload: "+
				"declare a struct, empty if there is nothing to say yet, and make it the one parameter", m.Name)
		}
	}
}

func checkPayloadVariadic(r *specInfo, report report) {
	for _, m := range r.members {
		for _, p := range m.params {
			if e, ok := p.typ.(*ast.Ellipsis); ok {
				report(e.Pos(), "the payload of %s is variadic: "+
					"declare a struct with a field of type []%s and make it the one parameter", m.Name, r.text(e.Elt))
			}
		}
	}
}

func checkPayloadContext(r *specInfo, report report) {
	for _, m := range r.members {
		for _, p := range m.params {
			if r.isContext(p.typ) {
				report(p.Pos(), "point %s declares a context: every hook gets one anyway; leave the payload as the one parameter",
					m.Name)
			}
		}
	}
}
