package gen

import "testing"

// The comment above a group documents no single declaration. A comment at the end of a line documents that line.
func TestGroupCommentsDocumentNoDeclaration(t *testing.T) {
	s := mustRead(t, `package p

import "github.com/hookgen/hookgen/spec"

// These are types.
type (
	//hookgen:points
	Points interface{ OnOne(int) (A, B, C, spec.FailOpen) }

	A struct{}

	// B is b.
	B struct{} // not told

	C struct{} // C is c.
)

// D is d.
type D struct{}

// These are constants.
const (
	X = 1
	Y = 2 // Y is y.
)
`)
	if s.PointsDoc != "" {
		t.Errorf("the points are said to be %q", s.PointsDoc)
	}
	want := map[string]string{"A": "", "B": "B is b.\n", "C": "C is c.\n", "D": "D is d.\n", "X": "", "Y": "Y is y.\n"}
	for _, x := range s.Exits {
		if x.Doc != want[x.Name] {
			t.Errorf("exit %s is said to be %q", x.Name, x.Doc)
		}
	}
	for _, x := range s.Exports {
		if doc, known := want[x.Name]; known && x.Doc != doc {
			t.Errorf("%s is said to be %q", x.Name, x.Doc)
		}
	}
}
