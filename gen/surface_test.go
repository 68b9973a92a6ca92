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

// The environment of a parent is that of its spec, or of the spec that this one extends.
func TestEnvironmentsOfParents(t *testing.T) {
	const head = "package p\n\nimport (\n\t\"github.com/hookgen/hookgen/spec\"\n\t\"m/a\"\n\t\"m/b\"\n)\n\n"
	const points = head + "//hookgen:points\ntype Points "
	for _, c := range []struct {
		name, a, b string
		env        string
		read       bool
	}{
		{"its own", points + "interface{ spec.Env[*E]; OnA(int) }\ntype E struct{}", "", "*./a.E", true},
		{"in parentheses", points + "(interface{ spec.Env[(E)] })\ntype E int", "", "./a.E", true},
		{"of a group", points + "interface{ G }\ntype G interface{ OnA(int); spec.Env[E] }\ntype E int", "", "./a.E", true},
		{"of the spec that it extends", points + "interface{ b.Points; OnA(int) }",
			points + "interface{ spec.Env[int] }", "int", true},
		{"none", points + "interface{ OnA(int) }", "", "", true},
		{"of a circle", points + "interface{ b.Points }", points + "interface{ a.Points }", "", false},
		{"of a package that is elsewhere", points + "interface{ b.Points }", "", "", false},
		{"without a spec", head + "type Points interface{ spec.Env[int] }", "", "", false},
		{"without an interface", points + "struct{}", "", "", false},
		{"of another build", "//go:build none\n\n" + points + "interface{ spec.Env[int] }", "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, found := Outline("s", []File{{Path: "s/spec.go", Text: []byte(points + "interface{ a.Points }")}})
			if len(found) > 0 {
				t.Fatal(found)
			}
			surface, found := spec.Surface("m", func(importPath string) []File {
				text := map[string]string{"m/a": c.a, "m/b": c.b}[importPath]
				if text == "" {
					return nil
				}
				return []File{{Path: importPath + "/spec.go", Text: []byte(text)}}
			})
			if len(found) > 0 {
				t.Fatal(found)
			}
			if p := surface.Parents[0]; p.Env.Name != c.env || p.Read != c.read {
				t.Errorf("the environment is %q, read %v; want %q, %v", p.Env.Name, p.Read, c.env, c.read)
			}
		})
	}
}
