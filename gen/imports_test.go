package gen

import (
	"slices"
	"testing"
)

func TestPackageNames(t *testing.T) {
	for path, want := range map[string][]string{
		"time":                                {"time"},
		"encoding/json":                       {"json"},
		"math/rand/v2":                        {"rand", "v2"},
		"k8s.io/api/core/v1":                  {"v1"},
		"example.com/v2":                      {"v2"},
		"v2":                                  {"v2"},
		"gopkg.in/yaml.v3":                    {"yaml"},
		"gopkg.in/go-playground/validator.v9": {"validator"},
		"github.com/mattn/go-sqlite3":         {"sqlite3"},
		"github.com/hashicorp/golang-lru/v2":  {"lru", "v2"},
		"github.com/stripe/stripe-go/v72":     {"stripe", "v72"},
		"github.com/nats-io/nats.go":          {"nats"},
		"example.com/my-type":                 nil,
		"example.com/func":                    nil,
		"example.com/go-":                     nil,
		"":                                    nil,
		"/":                                   nil,
	} {
		t.Run(path, func(t *testing.T) {
			if got := packageNames(path); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// The path does not determine the package name, but the use in the spec does.
func TestUsedNameDecides(t *testing.T) {
	for qualifier, path := range map[string]string{
		"core":  "example.com/api/core/v2",
		"v2":    "example.com/api/core/v2",
		"store": "example.com/go-store",
		"other": "example.com/store",
	} {
		t.Run(qualifier, func(t *testing.T) {
			line := `"` + path + `"`
			if qualifier == "other" {
				line = "other " + line
			}
			s := mustRead(t, "package p\n\nimport "+line+"\n\n//hookgen:points\n"+
				"type Points interface {\n\tOnStart("+qualifier+".Start)\n}\n")
			if len(s.Imports) != 1 || s.Imports[0].Name != qualifier || s.Imports[0].Path != path {
				t.Errorf("%s from %s: got %v", qualifier, path, s.Imports)
			}
		})
	}
}

// The name of an import is certain, even if the path of another import ends with it.
func TestNamedImportsWin(t *testing.T) {
	for _, lines := range []string{"import x \"example.com/a\"\nimport \"example.com/x\"\n",
		"import \"example.com/x\"\nimport x \"example.com/a\"\n"} {
		s := mustRead(t, "package p\n\n"+lines+"\n//hookgen:points\ntype Points interface {\n\tOnStart(x.T)\n}\n")
		if n := len(s.Imports); n != 2 {
			t.Errorf("%d imports: %v", n, s.Imports)
		}
		for _, i := range s.Imports {
			if i.Path == "example.com/a" && i.Name != "x" {
				t.Errorf("it is called %s", i.Name)
			}
		}
	}
}

// Another file may have an invalid import. The imports after it count.
func TestInvalidImportsAreIgnored(t *testing.T) {
	s, found := readFiles(map[string]string{
		"spec.go":  oneSpec,
		"other.go": "package p\n\nimport (\n\t\"bad\\q\"\n\t\"cmp\"\n)\n\ntype Sorted[K cmp.Ordered] struct{ K K }\n",
	})
	if len(found) > 0 {
		t.Fatal(found)
	}
	if found := CheckOutput(s, Output{Package: "out", SpecPath: "example.com/p"}); len(found) > 0 {
		t.Error(found)
	}
}

func TestMorePackageNames(t *testing.T) {
	for path, want := range map[string][]string{"/x": {"x"}, "x": {"x"}, "example.com/x/v0": {"v0"},
		"example.com/x/v10": {"x", "v10"}, "x/v2": {"x", "v2"}} {
		if got := packageNames(path); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}

func TestAllImportsAreRead(t *testing.T) {
	s := mustRead(t, `package p

import (
	_ "example.com/blank"
	x "example.com/a"
	"example.com/x/v2"
	"time"
)

//hookgen:points
type Points interface {
	OnOne(x.T)
	OnTwo(v2.T)
	OnThree(time.Time)
}
`)
	var got []string
	for _, i := range s.Imports {
		got = append(got, i.Name+" "+i.Path)
	}
	if want := []string{"x example.com/a", "v2 example.com/x/v2", "time time"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
