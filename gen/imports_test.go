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
		if got := packageNames(path); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}

// TestUsedNameDecides shows that the spec says what a path does not.
func TestUsedNameDecides(t *testing.T) {
	for qualifier, path := range map[string]string{
		"core":  "example.com/api/core/v2",
		"v2":    "example.com/api/core/v2",
		"store": "example.com/go-store",
		"other": "example.com/store",
	} {
		line := `"` + path + `"`
		if qualifier == "other" {
			line = "other " + line
		}
		s := mustRead(t, "package p\n\nimport "+line+"\n\n//hookgen:points\ntype Points interface {\n\tOnStart("+qualifier+".Start)\n}\n")
		if len(s.Imports) != 1 || s.Imports[0].Name != qualifier || s.Imports[0].Path != path {
			t.Errorf("%s from %s: got %v", qualifier, path, s.Imports)
		}
	}
}
