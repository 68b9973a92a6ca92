package gen

import (
	"slices"
	"testing"
)

// A qualifier means the import of its own file.
func TestSurfacesResolveTheQualifiersOfEachFile(t *testing.T) {
	spec := mustReadAll(t, map[string]string{
		"spec.go": `package p

import t "time"

//hookgen:points
type Points interface {
	Fired(Payload)
	Ticked(t.Time)
}
`,
		"types.go": `package p

import t "user/other"

type Payload struct {
	A t.Thing
	B int
	C unknown
}
`,
	})
	surface, found := spec.Surface("user", nil)
	if len(found) > 0 {
		t.Fatal(found)
	}
	if got, want := surface.Types["Payload"].Fields[0].Type.Name, "./other.Thing"; got != want {
		t.Errorf("the field has the type %q, want %q", got, want)
	}
	if got, want := surface.Points[1].Payload.Name, "time.Time"; got != want {
		t.Errorf("the payload has the type %q, want %q", got, want)
	}
	if want := []string{"./other.Thing", "unknown"}; !slices.Equal(surface.Unread, want) {
		t.Errorf("the types without a declaration are %q, want %q", surface.Unread, want)
	}
}
