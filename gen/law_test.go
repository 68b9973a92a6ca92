package gen

import "testing"

// An exit may have the name of a marker, because only the marker has a qualifier.
func TestExitsMayHaveNamesOfMarkers(t *testing.T) {
	s := mustRead(t, "package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n//hookgen:points\n"+
		"type Points interface {\n\tOnOne(int) (Replace, Vote, Check, Around, Collect, Reverse, Edit, spec.FailOpen)\n}\n"+
		"\ntype Replace struct{}\n\ntype Vote struct{}\n\ntype Check struct{}\n\ntype Around struct{}\n\n"+
		"type Collect struct{}\n\ntype Reverse struct{}\n\ntype Edit struct{}\n")
	p := s.List[0]
	if len(p.Exits) != 7 || p.Replace || p.Reverse || p.Kind != Flow || p.Policy != FailOpen || p.Edit.Expr != nil ||
		p.Collect.Expr != nil {
		t.Errorf("it is read as %+v", p)
	}
}
