package gen

import (
	"slices"

	"github.com/hookgen/hookgen/gen/model"
	"github.com/hookgen/hookgen/internal/spelling"
)

// policies returns the policies in the result list of the method.
func (m *member) policies() []*element {
	return slices.DeleteFunc(slices.Clone(m.law), func(e *element) bool { return !e.at(model.Last) })
}

// decides reports whether a hook of the point can decide something.
func (m *member) decides() bool {
	return slices.ContainsFunc(m.law, (*element).decides)
}

// unclear reports whether an invalid element of the list may have been meant as a policy.
func (m *member) unclear() bool {
	for _, e := range m.law {
		switch e.kind {
		case unresolvedElement, wrongImportElement:
			return true
		case unknownMarker, bareMarker:
			meant := spelling.Suggest(e.name, markerNames)
			if slices.Contains(markerNames, e.name) {
				meant = e.name
			}
			if marker, known := markerNamed(meant); !known || marker.Place == model.Last {
				return true
			}
		}
	}
	return false
}

func checkPolicyMissing(r *specInfo, report report) {
	for _, m := range r.members {
		if m.alone() != nil {
			continue
		}
		if m.decides() && len(m.policies()) == 0 && !m.unclear() {
			report(m.Pos, "%s does not say what a failing hook means: "+
				"end its list with spec.FailClosed (the act is refused) or spec.FailOpen (the next hook runs)", m.Name)
		}
	}
}

func checkPolicyMeaningless(r *specInfo, report report) {
	for _, m := range r.members {
		all := m.policies()
		alone := m.alone()
		if len(all) == 0 || alone == nil && m.decides() || alone != nil && len(m.law) > len(all)+m.laws() {
			continue // meaningful, or the list has another mistake to correct first
		}
		pos, name := all[0].expr.Pos(), r.text(all[0].expr)
		switch {
		case alone != nil:
			report(pos, "%s with spec.%s means nothing, for %s: remove it", name, alone.Name, alone.NoPolicy)
		case m.Kind == Observe && !m.doubtful():
			report(pos, "%s at %s means nothing, for its hooks only watch: remove it, or list what a hook may decide before it",
				name, m.Name)
		}
	}
}

// laws counts the markers that are alone, and those that only say how hooks run.
func (m *member) laws() int {
	n := 0
	for _, e := range m.law {
		if e.at(model.Alone) || e.at(model.First) && !e.decides() {
			n++
		}
	}
	return n
}

// doubtful reports whether the list has another element than markers: an exit, or an invalid element, with which the
// intended decisions of the point are unknown.
func (m *member) doubtful() bool {
	return slices.ContainsFunc(m.law, func(e *element) bool { return e.kind != markerElement })
}

func checkPolicyLast(r *specInfo, report report) {
	for _, m := range r.members {
		if m.alone() != nil {
			continue
		}
		var later *element
		for _, e := range slices.Backward(m.law) {
			switch {
			case !e.at(model.Last) && e.kind != errorElement:
				later = e
			case e.at(model.Last) && later != nil:
				report(e.expr.Pos(), "%s comes before %s: the policy is last; move it to the end of the list", r.text(e.expr),
					r.text(later.expr))
			}
		}
	}
}

func checkPolicyOnce(r *specInfo, report report) {
	for _, m := range r.members {
		for i, e := range m.policies() {
			if i > 0 {
				report(e.expr.Pos(), "%s has a second policy, %s: keep one", m.Name, r.text(e.expr))
			}
		}
	}
}
