package gen_test

import (
	"encoding/json"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/breaking"
	"github.com/hookgen/hookgen/gen/model"
	"github.com/hookgen/hookgen/gen/page"
	"github.com/hookgen/hookgen/gen/summary"
)

// TestEveryMarkerIsKnownEverywhere compares a spec that has a marker with one that has it not. The code of both
// compiles, and every place that depends on the law of a point sees a difference.
func TestEveryMarkerIsKnownEverywhere(t *testing.T) {
	universe := newUniverse(t)
	for _, name := range gen.MarkerNames {
		t.Run(name, func(t *testing.T) {
			mustBeWritten(t, name)
			if name == "Env" {
				return // not in a result list
			}
			with, without := specsWith(t, name)
			for _, own := range []bool{false, true} {
				mustCompile(t, universe, with, own)
			}
			a, b := with.spec.Points[0], without.spec.Points[0]
			if a.LawWords()+a.FailureWords() == b.LawWords()+b.FailureWords() {
				t.Errorf("Law.LawWords and Law.FailureWords do not know it: %s", a.LawWords())
			}
			if a.Brief()+a.PolicyBrief() == b.Brief()+b.PolicyBrief() && name != "Vote" {
				t.Errorf("Law.Brief does not know it: %s", a.Brief())
			}
			if modelOf(t, with.spec) == modelOf(t, without.spec) {
				t.Error("the model that hookgen export prints does not know it")
			}
			if pageOfSpec(t, with.spec) == pageOfSpec(t, without.spec) {
				t.Error("the page does not know it")
			}
			for _, versions := range [][2]markedSpec{{with, without}, {without, with}} {
				found := breaking.Compare(versionOf(t, versions[0].spec), versionOf(t, versions[1].spec))
				if len(found) == 0 {
					t.Error("breaking.Compare does not know it")
				}
			}
		})
	}
}

// A markedSpec is a spec with its source.
type markedSpec struct {
	source string
	spec   *gen.Spec
}

// specsWith returns the first two specs that are accepted and differ in the marker only.
func specsWith(t *testing.T, name string) (with, without markedSpec) {
	t.Helper()
	marker := "spec." + name
	if gen.TypedMarker(name) {
		marker += "[Text]"
	}
	for _, lists := range [][2][]string{
		{{marker}, nil},
		{{marker, "Refuse", "spec.FailClosed"}, {"Refuse", "spec.FailClosed"}},
		{{"Refuse", marker}, {"Refuse", "spec.FailOpen"}},
		{{"Refuse", marker}, {"Refuse", "spec.FailClosed"}},
		{{"Refuse", marker, "spec.FailClosed"}, {"Refuse", "spec.FailClosed"}},
	} {
		if slices.Equal(lists[0], lists[1]) {
			continue
		}
		with, without = specOfList(t, lists[0]), specOfList(t, lists[1])
		if with.spec != nil && without.spec != nil {
			return with, without
		}
	}
	t.Fatalf("no spec with the marker is accepted: add a list with it to this test")
	return with, without
}

// specOfList reads a spec with a point that has the result list. The spec is nil if the rules refuse it.
func specOfList(t *testing.T, list []string) markedSpec {
	t.Helper()
	m := markedSpec{source: "// Package p has one law.\npackage p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n" +
		"//hookgen:points\ntype Points interface {\n\tOn(Item) (" + strings.Join(list, ", ") + ")\n" +
		"\tOther(int) (Refuse, spec.FailOpen)\n}\n\n" +
		"type Item struct{ Body Text }\n\ntype Text string\n\ntype Refuse struct{ Reason string }\n"}
	m.source = strings.Replace(m.source, " ()\n", "\n", 1)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "spec.go"), []byte(m.source), 0o600); err != nil {
		t.Fatal(err)
	}
	m.spec, _ = gen.Read(dir)
	return m
}

// mustBeWritten checks the texts of people and the specs of other tests, which have every marker.
func mustBeWritten(t *testing.T, name string) {
	t.Helper()
	drawn, compared := "\""+name, "spec."+name
	if slices.ContainsFunc(model.Flags(), func(m model.Marker) bool { return m.Name == name }) {
		drawn, compared = "model.Flags()", "model.Flags()"
	}
	for _, place := range []struct{ file, text string }{
		{"spec/doc.go", "[" + name + "]"},
		{"docs/hooks/language.md", "spec." + name},
		{"tests/fixture/spec.go", "spec." + name},
		{"tests/breaking/drawn_test.go", compared},
		{"gen/drawspec_test.go", drawn},
	} {
		mustContain(t, place.file, place.text)
	}
}

func mustContain(t *testing.T, file, text string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), text) {
		t.Errorf("%s does not have %s", file, text)
	}
}

// mustCompile checks that the code for a spec compiles.
func mustCompile(t *testing.T, u *universe, m markedSpec, own bool) {
	t.Helper()
	text, err := gen.Emit(m.spec, outputOf(own))
	if err != nil {
		t.Fatal(err)
	}
	if !own {
		if _, err := u.check("user/p", nil, m.source, string(text)); err != nil {
			t.Fatalf("the generated code does not compile: %v\n%s", err, text)
		}
		return
	}
	spec, err := u.check("user/p", nil, m.source)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.check("user/out", map[string]*types.Package{"user/p": spec}, string(text)); err != nil {
		t.Fatalf("the generated code does not compile: %v\n%s", err, text)
	}
}

// modelOf returns the law of the first point as hookgen export prints it, without the result list as written.
func modelOf(t *testing.T, s *gen.Spec) string {
	t.Helper()
	point := summary.Of(s, "user/p").Points[0]
	point.List = ""
	text, err := json.Marshal(point)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func pageOfSpec(t *testing.T, s *gen.Spec) string {
	t.Helper()
	return string(page.Write(summary.Of(s, "user/p"), "user/p"))
}

func versionOf(t *testing.T, s *gen.Spec) breaking.Version {
	t.Helper()
	surface, found := s.Surface("user", nil)
	if len(found) > 0 {
		t.Fatal(found)
	}
	return breaking.Version{Surface: surface, Output: "p"}
}
