package gen

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const groupedSpec = `package p

import (
	"example.com/base"
	"github.com/hookgen/hookgen/spec"
)

//hookgen:points
type Points interface {
	OnStart(Message)
	base.Points
	Outer
	OnEnd(Message) (Refuse, spec.FailOpen)
}

// Outer has two points.
type Outer interface {
	OnA(int)
	Inner
}

type Inner interface{ OnB(Box[int]) }

// Refuse refuses.
type Refuse struct{ Reason string }
`

func TestGroupsAndParentsKeepTheirPlaces(t *testing.T) {
	s := mustReadAll(t, map[string]string{"spec.go": groupedSpec, "types.go": "package p\ntype Message int\n" +
		"type Box[T any] struct { T T }\n"})
	groups := func(list []*Group) string {
		var names []string
		for _, g := range list {
			names = append(names, g.Name+":"+strings.TrimSpace(g.Doc))
		}
		return strings.Join(names, "/")
	}
	var got []string
	for _, p := range s.Points {
		got = append(got, p.Name+" "+groups(p.Groups))
	}
	want := []string{"OnStart ", "OnA Outer:Outer has two points.", "OnB Outer:Outer has two points./Inner:", "OnEnd "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if len(s.Parents) != 1 || s.Parents[0].Before != 1 || s.Parents[0].Groups != nil {
		t.Errorf("the parents are %+v", s.Parents)
	}
}

func TestTypeDeclFindsTypesOfOtherFiles(t *testing.T) {
	s := mustReadAll(t, map[string]string{
		"spec.go":      groupedSpec,
		"types.go":     "package p\n\n// Message is a message.\ntype Message struct {\n\tA, B int `json:\"a\"` // both\n}\n",
		"box.go":       "package p\ntype Box[T any] struct { T T }\n",
		"p_windows.go": "package p\ntype Handle = uintptr\n",
		"p_test.go":    "package p\ntype Fake int\n",
		"other.go":     "package q\ntype Foreign int\n",
	})
	describe := func(name string) string {
		d := s.TypeDecl(name)
		if d == nil {
			return ""
		}
		text := d.Name + " " + d.Doc
		for _, p := range d.Params {
			text += "[" + p.Name + "]"
		}
		for _, f := range d.Fields {
			text += f.Name + " " + f.Tag + " " + f.Doc
		}
		return text
	}
	for _, test := range []struct{ name, want string }{
		{"Message", "Message Message is a message.\nA `json:\"a\"` both\nB `json:\"a\"` both\n"},
		{"Box", "Box [T]T  "},
		{"Handle", ""},
		{"Refuse", "Refuse Refuse refuses.\nReason  "},
		{"Fake", ""},
		{"Foreign", ""},
		{"int", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := describe(test.name); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// mustReadAll reads a valid spec of several files.
func mustReadAll(t *testing.T, files map[string]string) *Spec {
	t.Helper()
	spec, found := readFiles(files)
	if len(found) > 0 {
		t.Fatal(found)
	}
	return spec
}
