package gen

import "testing"

// An exit may have the name of a marker, because only the marker has a qualifier. Markers that are decisions are
// refused by exit-name.
func TestExitsMayHaveNamesOfMarkers(t *testing.T) {
	s := mustRead(t, "package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n//hookgen:points\n"+
		"type Points interface {\n\tOnOne(int) (Vote, Check, Around, Reverse, spec.FailOpen)\n}\n"+
		"\ntype Vote struct{}\n\ntype Check struct{}\n\ntype Around struct{}\n\ntype Reverse struct{}\n")
	p := s.Points[0]
	if len(p.Exits) != 4 || p.Replace || p.Reverse || p.Kind != Flow || p.Policy != FailOpen || p.Edit.Expr != nil ||
		p.Collect.Expr != nil {
		t.Errorf("it is read as %+v", p)
	}
}
