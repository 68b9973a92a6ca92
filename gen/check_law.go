package gen

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"

	"github.com/hookgen/hookgen/gen/model"
	"github.com/hookgen/hookgen/internal/spelling"
)

// If two elements of a list exclude each other, the rules report the later one.

func checkUnknownMarker(r *specInfo, report report) {
	for _, e := range r.elements() {
		switch e.kind {
		case unknownMarker:
			report(e.expr.Pos(), "%s is not a marker: %s", r.text(e.marker.sel), r.meantMarker(e.name))
		case bareMarker:
			if r.dotLanguage() {
				continue // the dot import is the mistake
			}
			report(e.expr.Pos(), "%s is not declared in this file: did you mean %s.%s?", e.name, r.languageName(), e.name)
		}
	}
	for _, e := range r.embeds {
		if e.kind == markerEmbed && !e.marker.known {
			report(e.expr.Pos(), "%s is not a marker: %s", r.text(e.marker.sel),
				didYouMean(e.marker.Name, []string{"Env"}, r.languageName()+".", "the one that is embedded is spec.Env"))
		}
	}
}

// dotLanguage reports whether the spec language is dot-imported.
func (r *specInfo) dotLanguage() bool {
	return slices.ContainsFunc(r.imports, func(l *importLine) bool { return l.language() && l.name == "." })
}

// meantMarker suggests a marker for an unknown one.
func (r *specInfo) meantMarker(name string) string {
	qualifier := r.languageName() + "."
	var names, all []string
	for _, m := range model.Markers {
		if m.Place != model.Embedded {
			names, all = append(names, m.Name), append(all, qualifier+m.Name)
		}
	}
	return didYouMean(name, names, qualifier, "the markers are "+spelling.Or(all))
}

// languageName returns the qualifier of the spec language in the file.
func (r *specInfo) languageName() string {
	if r.SpecPkg.Name != "" {
		return r.SpecPkg.Name
	}
	return "spec"
}

func checkMarkerType(r *specInfo, report report) {
	checkUse := func(m *markerUse, pos token.Pos) {
		name := r.text(m.sel)
		switch {
		case m.Typed && len(m.args) == 0:
			report(pos, "%s needs a type: write %s[T]", name, name)
		case m.Typed && len(m.args) > 1:
			report(pos, "%s takes one type: put several into a struct", name)
		case !m.Typed && len(m.args) > 0:
			report(pos, "%s takes no type: write %s", name, name)
		}
	}
	for _, e := range r.elements() {
		if e.kind == markerElement {
			checkUse(e.marker, e.expr.Pos())
		}
	}
	for _, e := range r.embeds {
		if e.kind == envEmbed {
			checkUse(e.marker, e.expr.Pos())
		}
	}
}

func checkMarkerPlace(r *specInfo, report report) {
	for _, e := range r.elements() {
		if e.kind == envElement {
			report(e.expr.Pos(), "%s is not a law: embed it in the interface, on a line of its own", r.text(e.marker.sel))
		}
	}
	for _, e := range r.embeds {
		if e.kind == markerEmbed && e.marker.known {
			report(e.expr.Pos(), "%s is a law: list it after the payload of a point, as in OnStart(Start) %s", r.text(e.expr),
				r.text(e.expr))
		}
	}
	r.eachType(func(inside string, node ast.Node) {
		qualified(node, func(x *ast.Ident, sel *ast.SelectorExpr) {
			if r.language(sel) {
				report(sel.Pos(), "%s is used in %s: markers appear only in the result lists of points, so name a type",
					r.text(sel), inside)
			}
		})
	})
	for _, d := range r.idleInterfaces() {
		report(d.pos, "interface %s uses markers, but is not part of %s: embed it there", d.name, r.Interface.Name.Name)
	}
}

// eachType calls visit for every type in the spec file where a marker or an exit is a mistake. These are payloads, type
// arguments of markers, and all declarations except the interfaces with points.
func (r *specInfo) eachType(visit func(inside string, node ast.Node)) {
	for _, m := range r.members {
		for _, p := range m.params {
			visit("the payload of "+m.Name, p.typ)
		}
		for _, e := range m.law {
			if e.marker == nil {
				continue
			}
			for _, arg := range e.marker.args {
				visit(r.text(e.marker.sel)+" of "+m.Name, arg)
			}
		}
	}
	for _, e := range r.embeds {
		if e.marker == nil {
			continue
		}
		for _, arg := range e.marker.args {
			visit(r.text(e.marker.sel), arg)
		}
	}
	idle := map[*declaration]bool{}
	for _, d := range r.idleInterfaces() {
		idle[d] = true
	}
	for _, name := range r.Declared {
		d := r.scope[name]
		if d.file == r.file && d.spec != nil && !r.groups[name] && !idle[d] {
			if d.spec.TypeParams != nil {
				visit("type "+name, d.spec.TypeParams)
			}
			visit("type "+name, d.spec.Type)
		}
	}
}

// idleInterfaces returns the interfaces of the spec file that use markers but are not part of the points interface.
func (r *specInfo) idleInterfaces() []*declaration {
	if r.Interface == nil {
		return nil
	}
	var idle []*declaration
	for _, name := range r.interfaces {
		if r.groups[name] {
			continue
		}
		uses := false
		for _, field := range ast.Unparen(r.scope[name].spec.Type).(*ast.InterfaceType).Methods.List {
			if signature, ok := field.Type.(*ast.FuncType); ok && signature.Results != nil {
				for _, result := range signature.Results.List {
					uses = uses || r.markerUse(result.Type) != nil
				}
			}
		}
		if uses {
			idle = append(idle, r.scope[name])
		}
	}
	return idle
}

func checkErrorResult(r *specInfo, report report) {
	for m, e := range r.elements() {
		if e.kind != errorElement {
			continue
		}
		if check := m.alone(); check != nil && check.Kind != Around {
			report(e.expr.Pos(), "error with spec.%s at %s: a check returns one anyway; remove it", check.Name, m.Name)
			continue
		}
		if len(m.law) == 1 {
			report(e.expr.Pos(), "error in the list of %s: every hook may return one; "+
				"to let it stop the act, list spec.Check; to let hooks watch, list nothing", m.Name)
			continue
		}
		report(e.expr.Pos(), "error in the list of %s: every hook may return one, and the policy says what it means; "+
			"remove it", m.Name)
	}
}

func checkPayloadResult(r *specInfo, report report) {
	for m, e := range r.elements() {
		if e.kind != payloadElement {
			continue
		}
		if e.payload == m {
			report(e.expr.Pos(), "%s is the payload of %s, not something to leave it with: "+
				"to let hooks return another one, list spec.Replace", e.name, m.Name)
			continue
		}
		report(e.expr.Pos(), "%s is the payload of %s and cannot be an exit: "+
			"declare a struct type for the exit, with a field that holds it", e.name, e.payload.Name)
	}
}

func checkRepeated(r *specInfo, report report) {
	for _, m := range r.members {
		seen := map[string]bool{}
		for _, e := range m.law {
			if e.kind != markerElement && e.kind != exitElement || e.at(model.Last) {
				continue
			}
			name := e.name
			if e.kind == markerElement {
				name = r.languageName() + "." + e.name
			}
			if seen[name] {
				report(e.expr.Pos(), "%s is listed twice at %s: remove one", name, m.Name)
			}
			seen[name] = true
		}
	}
}

func checkOrder(r *specInfo, report report) {
	for _, m := range r.members {
		if m.alone() != nil {
			continue
		}
		decided := false
		for _, e := range m.law {
			rewrites := e.is("Vote") && m.Rewrites() // has a rule of its own
			if decided && e.at(model.First) && !rewrites {
				report(e.expr.Pos(), "%s comes too late in the list: it says how hooks run; put it first", r.text(e.expr))
			}
			decided = decided || !e.at(model.First) && !e.at(model.Last)
		}
	}
}

// checkAlone returns the check that the marker of that name is listed alone.
func checkAlone(name string) func(*specInfo, report) {
	return func(r *specInfo, report report) {
		for _, m := range r.members {
			if marker := m.alone(); marker != nil && marker.Name == name {
				r.aloneIn(m, marker, report)
			}
		}
	}
}

// alone returns the marker that selects the kind of the point and has to be alone in its list, or nil.
func (m *member) alone() *model.Marker {
	for _, e := range m.law {
		if e.at(model.Alone) && e.marker.Kind == m.Kind {
			return &e.marker.Marker
		}
	}
	return nil
}

// aloneIn reports the first element that cannot be combined with the marker.
func (r *specInfo) aloneIn(m *member, marker *model.Marker, report report) {
	but := ""
	if len(marker.With) > 0 {
		but = ", or with spec." + spelling.Or(marker.With)
	}
	var own, intruder *element
	for _, e := range m.law {
		switch fits := e.kind == markerElement && slices.Contains(marker.With, e.name); {
		case e.is(marker.Name):
			own = cmp.Or(own, e)
		case !fits && !e.at(model.Last) && e.kind != errorElement:
			intruder = cmp.Or(intruder, e)
		}
	}
	if intruder == nil {
		return
	}
	later := own
	if intruder.expr.Pos() > own.expr.Pos() {
		later = intruder
	}
	report(later.expr.Pos(), "spec.%s is listed alone%s, and %s also lists %s: make two points of it, or choose one",
		marker.Name, but, m.Name, r.text(intruder.expr))
}

func checkVoteRewrites(r *specInfo, report report) {
	for _, m := range r.members {
		if m.Kind != Vote {
			continue
		}
		voted, rewrites := false, false
		for _, e := range m.law {
			rewrite := e.is("Replace") || e.is("Edit")
			if e.is("Vote") && rewrites || rewrite && voted {
				report(e.expr.Pos(), "%s with spec.Vote at %s: in a vote every hook judges the same payload; "+
					"declare a flow for rewriting, and then a vote for judging", r.rewriteOf(m), m.Name)
			}
			voted, rewrites = voted || e.is("Vote"), rewrites || rewrite
		}
	}
}

// rewriteOf returns the marker with which a point changes its payload.
func (r *specInfo) rewriteOf(m *member) string {
	if m.Replace {
		return "spec.Replace"
	}
	return "spec.Edit"
}

func checkVoteExits(r *specInfo, report report) {
	for _, m := range r.members {
		if m.Kind != Vote {
			continue
		}
		if !m.doubtful() { // an exit, or a mistaken attempt at one, is no marker
			report(m.Pos, "%s votes on nothing: list the exits after spec.Vote, the strongest first", m.Name)
		}
	}
}
