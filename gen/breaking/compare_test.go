package breaking

import (
	"fmt"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/gen"
	"pgregory.net/rapid"
)

// versionOf reads a version of a spec from the text of one file. It returns nil if the text has none.
func versionOf(text string) *Version {
	spec, found := gen.Outline("p", []gen.File{{Path: "p/spec.go", Text: []byte(text)}})
	if len(found) > 0 {
		return nil
	}
	surface, found := spec.Surface("example.com/m", nil)
	if len(found) > 0 {
		return nil
	}
	return &Version{Surface: surface, Output: spec.Package}
}

// drawnSpec draws the text of a spec. Names and types are few, so that two drawn specs have much in common.
func drawnSpec(t *rapid.T) string {
	var b strings.Builder
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	b.WriteString("package " + pick("package", "p", "p", "q") + "\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n" +
		"//hookgen:points\n" + pick("wire", "", "//hookgen:wire\n") + "type Points interface {\n" +
		pick("env", "", "\tspec.Env[*Env]\n", "\tspec.Env[Env]\n"))
	names := rapid.Permutation([]string{"OnA", "OnB", "OnC", "OnD"}).Draw(t, "points")
	for _, name := range names[:rapid.IntRange(1, 4).Draw(t, "number of points")] {
		b.WriteString(pick("comment", "", "\t// "+name+" fires.\n", "\t// "+name+" fires.\n\t//\n\t// Deprecated: yes.\n"))
		b.WriteString(pick("local", "", "", "\t//hookgen:local\n"))
		b.WriteString("\t" + name + "(" + pick("payload", "A", "A", "B", "*A") + ") " + pick("law", "", "spec.Check",
			"spec.CheckAll", "spec.Around[B]", "spec.Collect[string]", "(spec.Collect[B], spec.FailClosed)",
			"(X, spec.FailClosed)",
			"(spec.Replace, spec.FailOpen)", "(spec.Replace, X, Y, spec.FailOpen)", "(spec.Edit[int], Y, X, spec.FailOpen)",
			"(spec.Vote, X, Y, spec.FailOpen)", "(spec.Vote, spec.Reverse, Y, X, spec.FailClosed)",
			"(Y, spec.Collect[B], spec.FailOpen)") + "\n")
	}
	hidden := pick("type that is not exported", "j", "k")
	b.WriteString("}\n\ntype Env struct{ Name " + pick("type of a field", "string", "int") + " }\n\ntype " + hidden +
		" struct{ F int }\n")
	for _, name := range []string{"A", "B", "X", "Y"} {
		fmt.Fprintf(&b, "\ntype %s struct {\n", name)
		fields := rapid.Permutation([]string{"F", "G", "h", "i"}).Draw(t, "fields")
		for _, field := range fields[:rapid.IntRange(0, 4).Draw(t, "number of fields")] {
			b.WriteString("\t" + field + " " + pick("type of a field", "string", "int", "[]string", hidden) +
				pick("tag", "", "", " `json:\"f\"`") + "\n")
		}
		b.WriteString("}\n")
	}
	b.WriteString(pick("constants", "", "\nconst C = 1\n", "\nconst (\n\tC = iota\n\tD\n)\n"))
	return b.String()
}

// sound reports findings that are incomplete or in the wrong order.
func sound(t interface{ Errorf(string, ...any) }, findings []Finding) {
	for _, f := range findings {
		if !slices.ContainsFunc(Rules, func(r Rule) bool { return r.ID == f.Rule }) {
			t.Errorf("there is no rule %s", f.Rule)
		}
		if !slices.Contains(Verdicts, f.Verdict) || !f.Pos.IsValid() || !strings.Contains(f.Message, " ") {
			t.Errorf("%s: no verdict, position or message", f)
		}
		if f.Verdict == Safe && strings.Contains(f.Message, "not compile") {
			t.Errorf("%s: the message contradicts the verdict", f)
		}
	}
	if !slices.IsSortedFunc(findings, func(a, b Finding) int {
		return slices.Index(Verdicts, a.Verdict) - slices.Index(Verdicts, b.Verdict)
	}) {
		t.Errorf("the worst finding is not the first: %v", findings)
	}
}

// A version has no difference to itself. Two versions differ in both directions or in none.
func TestCompareDrawnSpecs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, now := versionOf(drawnSpec(t)), versionOf(drawnSpec(t))
		if found := Compare(*old, *old); len(found) > 0 {
			t.Fatalf("a version differs from itself: %v", found)
		}
		forth, back := Compare(*old, *now), Compare(*now, *old)
		sound(t, forth)
		sound(t, back)
		if (len(forth) == 0) != (len(back) == 0) {
			t.Fatalf("a difference in one direction only:\n%v\n%v", forth, back)
		}
	})
}

// Every pair of texts is compared without a panic, whatever the rules of the language say about it.
func FuzzCompare(f *testing.F) {
	const spec = "package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n//hookgen:points\ntype Points interface {\n"
	for _, body := range []string{
		"\tOnA(A)\n}\n\ntype A struct{ F []A }\n",
		"\tOnB(B) (spec.Replace, X, spec.FailOpen)\n}\n\ntype B = map[string]X\n\ntype X struct{ E }\n\ntype E struct{}\n",
		"\tspec.Env[E[int]]\n\tOnC(a, b C) (spec.Vote, Y, *Y)\n}\n\ntype E[T any] struct{ F T }\n\ntype C = C\n",
		"\tOnD() (spec.Edit[int])\n}\n\ntype D interface{ D; M() }\n\nconst K, L = iota, 1\n\nfunc (d *D) M() {}\n",
	} {
		f.Add(spec+body, spec+"\tOnA(A)\n}\n")
		f.Add(spec+"\tOnA(A)\n}\n\ntype A (A)\n\nvar V = A{}\n\nconst K = len(A{})\n", spec+body)
		f.Add(spec+"\tOnA(B)\n\tOnB(A)\n}\n\ntype A struct{ F, G int `a`; *B }\n\ntype B = A\n", spec+body)
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		old, now := versionOf(one), versionOf(other)
		if old == nil || now == nil {
			t.Skip("no spec")
		}
		for _, f := range Compare(*old, *now) {
			if !f.Pos.IsValid() || f.Message == "" {
				t.Errorf("%s: no position or no message", f)
			}
		}
		if found := Compare(*now, *now); slices.ContainsFunc(found, func(f Finding) bool {
			return f.Rule != ruleUnusedIgnore && f.Rule != ruleUnknownRule
		}) {
			t.Errorf("a version differs from itself: %v", found)
		}
	})
}

func TestGitHubEscapes(t *testing.T) {
	got := GitHub([]Finding{{Rule: "const-changed", Verdict: Safe, Message: "100%\nof a,b: c",
		Pos: token.Position{Filename: "a,b:c%.go", Line: 1, Column: 2}}})
	want := "::notice file=a%2Cb%3Ac%25.go,line=1,col=2,title=safe (const-changed)::100%25%0Aof a,b: c\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A finding that concerns many points names some of them as text, and has an element for each in JSON.
func TestManyPoints(t *testing.T) {
	f := Finding{Rule: "field-added", Verdict: Safe, Message: "m", Points: []string{"A", "B", "C", "D"},
		Pos: token.Position{Filename: "f.go", Line: 1, Column: 1}}
	if got, want := f.String(), "f.go:1:1: safe: m [A, B and 2 more] (field-added)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	text, err := JSON([]Finding{f})
	if err != nil || strings.Count(string(text), "\"rule\"") != 4 {
		t.Errorf("%v\n%s", err, text)
	}
}

// Declarations that are written in another way, but mean the same, are not changes.
func TestSameMeaning(t *testing.T) {
	const point = "package p\n\n//hookgen:points\ntype Points interface{ OnA(A) }\n\n"
	const group = "package p\n\n//hookgen:points\ntype Points interface{ G }\n\ntype A int\n\n"
	for name, texts := range map[string][2]string{
		"length of an array": {
			point + "type A struct{ F [n]int }\nconst n = 4\n",
			point + "type A struct{ F [2 * n]int }\nconst n = 2\n",
		},
		"constant": {
			point + "type A int\nconst C, D A = 0, 1\n",
			point + "type A int\nconst (\n\tC A = iota\n\tD\n)\n",
		},
		"alias": {
			point + "type A struct{ F string }\n",
			point + "type A struct{ F text }\ntype text = string\n",
		},
		"group": {
			group + "type G interface{ OnA(A) }\n",
			group + "type G interface{ H }\ntype H interface{ OnA(A) }\n",
		},
		"type that holds itself": { // which does not compile, but must not keep hookgen busy
			point + "type A struct{ F B }\ntype B struct{ G B }\n",
			point + "type A struct{ F B }\n\ntype B struct{ G B }\n",
		},
		"type parameter": {
			point + "type A struct{ F G[int] }\ntype G[T any] struct{ F []T }\n",
			point + "type A struct{ F G[int] }\ntype G[U any] struct{ F []U }\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if found := Compare(*versionOf(texts[0]), *versionOf(texts[1])); len(found) > 0 {
				t.Error(found)
			}
		})
	}
}

// inModule reads a version of a spec with the payload A, in a module that has the package other, too.
func inModule(t *testing.T, own, other string) Version {
	t.Helper()
	spec, found := gen.Outline("p", []gen.File{{Path: "p/spec.go", Text: []byte("package p\n\nimport (\n" +
		"\t\"example.com/m/other\"\n\n\t\"github.com/hookgen/hookgen/spec\"\n)\n\n//hookgen:points\n//hookgen:wire\n" +
		"type Points interface{ OnA(A) }\n\n" + own)}})
	if len(found) > 0 {
		t.Fatal(found)
	}
	surface, found := spec.Surface("example.com/m", func(importPath string) []gen.File {
		if importPath != "example.com/m/other" {
			return nil
		}
		return []gen.File{{Path: "other/other.go", Text: []byte("package other\n\n" + other)}}
	})
	if len(found) > 0 {
		t.Fatal(found)
	}
	return Version{Surface: surface, Output: spec.Package}
}

// A constant is a part of the API if hooks can reach its type, also by an alias and in another package.
func TestConstantsOfReachedTypes(t *testing.T) {
	const own = "type A struct{ F other.Level; G other.Text }\n"
	const other = "type Level int\n\ntype Text = string\n\n"
	for _, test := range []struct{ name, old, now, want string }{
		{"another value", "const High Level = 2", "const High Level = 3", "breaks-wire const-changed"},
		{"a value of an alias", "const T Text = \"a\"", "const T Text = \"b\"", "breaks-wire const-changed"},
		{"a converted value", "const High = Level(2)", "const High = Level(3)", "breaks-wire const-changed"},
		{"removed", "const High Level = 2", "", "breaks-hooks const-removed"},
		{"added", "", "const High Level = 2", "safe const-added"},
		{"another comment", "// High is.\nconst High Level = 2", "// High was.\nconst High Level = 2", ""},
		{"a deprecated group", "const (\n\tHigh Level = 2\n)", "// Deprecated: no.\nconst (\n\tHigh Level = 2\n)",
			"safe deprecated"},
		{"without the type", "const High = 2", "const High = 3", ""},
		{"of another type", "type Other int\nconst O Other = 1", "type Other int\nconst O Other = 2", ""},
		{"not exported", "const high Level = 2", "const high Level = 3", ""},
		{"after one that is not exported", "const low, High Level = 1, 2", "const low, High Level = 1, 3",
			"breaks-wire const-changed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := Compare(inModule(t, own, other+test.old), inModule(t, own, other+test.now))
			if got := verdictsOf(found); got != test.want {
				t.Errorf("got %q, want %q\n%v", got, test.want, found)
			}
		})
	}
}

// A payload has the name under which hooks know it, and the meaning of that name.
func TestNamesAndMeanings(t *testing.T) {
	version := versionOf("package p\n\n//hookgen:points\ntype Points interface{ OnA(A) }\n\ntype A = []string\n")
	if p := version.Points[0].Payload; p.Name != "A" || p.Meaning != "[]string" {
		t.Errorf("got the name %s and the meaning %s", p.Name, p.Meaning)
	}
}

// A directive with a blank marks no interface. That is reported, and so is a file that does not parse.
func TestOutlineWithoutASpec(t *testing.T) {
	for text, rule := range map[string]string{
		"package p\n\n// hookgen:points\ntype Points interface{ OnA(int) }\n": "directive-form",
		"package p\n\n//hookgen:points\ntype Points interface{ OnA(int }\n":   "syntax",
	} {
		t.Run(rule, func(t *testing.T) {
			_, found := gen.Outline("p", []gen.File{{Path: "p/spec.go", Text: []byte(text)}})
			if len(found) == 0 || found[0].Rule != rule {
				t.Errorf("got %v", found)
			}
		})
	}
}

// Values of a generic type can be compared if those of its type arguments can.
func TestIncomparableTypeArguments(t *testing.T) {
	const point = "package p\n\n//hookgen:points\ntype Points interface{ OnA(A) }\n\n" +
		"type A struct{ F G[E, string] }\ntype G[T, U any] struct{ First T; Second U }\n"
	old, now := versionOf(point+"type E = int\n"), versionOf(point+"type E = []int\n")
	for _, f := range Compare(*old, *now) {
		if f.Rule == "not-comparable" && strings.HasPrefix(f.Message, "A holds a slice") {
			return
		}
	}
	t.Errorf("got %v", Compare(*old, *now))
}

// Hooks import the packages of the types that they use, so the names of these packages are a part of the API.
func TestPackagesOfReachedTypes(t *testing.T) {
	version := inModule(t, "type A struct{ F other.Level }\n", "type Level int\n")
	if want := map[string]string{"./other": "other"}; !maps.Equal(version.Packages, want) {
		t.Errorf("got %v, want %v", version.Packages, want)
	}
}

// A file that ends in the middle of an expression is reported, although its constants are read.
func TestFileThatEndsInAConstant(t *testing.T) {
	spec, found := gen.Outline("p", []gen.File{
		{Path: "p/spec.go", Text: []byte("package p\n\n//hookgen:points\ntype Points interface{ OnA(int) }\n")},
		{Path: "p/b.go", Text: []byte("package p\n\nconst C = f(")},
	})
	if len(found) > 0 {
		t.Fatal(found)
	}
	if _, found := spec.Surface("example.com/m", nil); len(found) == 0 || found[0].Pos.Filename != "p/b.go" {
		t.Errorf("got %v", found)
	}
}

// A tag that encodes a field as before is safe.
func TestTags(t *testing.T) {
	for _, test := range []struct{ name, old, now, want string }{
		{"the name of the field", "", "json:\"F\"", "safe field-retagged"},
		{"and of another encoding", "xml:\"f\"", "xml:\"f\" json:\"F\"", "safe field-retagged"},
		{"with another encoding", "", "json:\"F\" xml:\"f\"", "changes-behaviour field-retagged"},
		{"a key that ends like json", "xjson:\"a\"", "xjson:\"b\"", "changes-behaviour field-retagged"},
		{"an option", "json:\"F\"", "json:\",omitempty\"", "breaks-wire field-retagged"},
		{"left out", "", "json:\"-\"", "breaks-wire field-retagged"},
		{"the name of a dash", "json:\"-\"", "json:\"-,\"", "breaks-wire field-retagged"},
		{"another case", "json:\"f\"", "json:\"F\"", "breaks-wire field-retagged"},
	} {
		t.Run(test.name, func(t *testing.T) {
			own := func(tag string) string { return "type A struct{ F int `" + tag + "` }\n" }
			found := Compare(inModule(t, own(test.old), ""), inModule(t, own(test.now), ""))
			if got := verdictsOf(found); got != test.want {
				t.Errorf("got %q, want %q\n%v", got, test.want, found)
			}
		})
	}
	// Without the tag, JSON has neither of the two fields.
	const two = "type A struct{ B; C }\ntype B struct{ F int }\ntype C struct{ F int "
	if got := verdictsOf(Compare(inModule(t, two+"}", ""), inModule(t, two+"`json:\"F\"` }", ""))); got !=
		"breaks-wire field-retagged" {
		t.Errorf("a field of an embedded struct: %s", got)
	}
}

// A declaration with another name is a removal and an addition, whatever its contents.
func TestRenames(t *testing.T) {
	const head = "package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n//hookgen:points\ntype Points interface {\n"
	const gone = "\n// Deprecated: yes.\n"
	for _, test := range []struct{ name, old, now, want string }{
		{"a point", "OnA(A)\n}\ntype A struct{ F int }", "OnB(A)\n}\ntype A struct{ F int }",
			"breaks-hooks point-removed-undeprecated, safe point-added"},
		{"a deprecated point", gone + "OnA(A)\n}\ntype A struct{ F int }", "OnB(A)\n}\ntype A struct{ F int }",
			"breaks-hooks point-removed, safe point-added"},
		{"a point that remains deprecated", gone + "OnA(int)\n}", gone + "OnB(int)\n}",
			"breaks-hooks point-removed, safe point-added"},
		{"a point, its payload and its exits",
			"OnA(A) (X, Y, spec.FailOpen)\n}\ntype A struct{ F int }\ntype X struct{ G int }\ntype Y struct{ H int }",
			"OnB(B) (V, W, spec.FailOpen)\n}\ntype B struct{ F int }\ntype V struct{ G int }\ntype W struct{ H int }",
			"breaks-hooks point-removed-undeprecated, safe point-added"},
		{"a point, and another exit", "OnA(int) (X, spec.FailOpen)\n}\ntype X struct{ G int }",
			"OnB(int) (Y, spec.FailOpen)\n}\ntype Y struct{ G string }",
			"breaks-hooks point-removed-undeprecated, safe point-added"},
		{"a deprecated exit", "OnA(int) (X, spec.FailOpen)\n}\n" + gone + "type X struct{ G int }",
			"OnA(int) (Y, spec.FailOpen)\n}\ntype Y struct{ G int }", "breaks-hooks exit-removed, breaks-loops exit-added"},
		{"a field", "OnA(A)\n}\ntype A struct{ F int }", "OnA(A)\n}\ntype A struct{ G int }",
			"breaks-hooks field-removed, safe field-added"},
		{"a deprecated field", "OnA(A)\n}\ntype A struct {" + gone + "F int }", "OnA(A)\n}\ntype A struct{ G int }",
			"breaks-hooks field-removed, safe field-added"},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := Compare(*versionOf(head + test.old + "\n"), *versionOf(head + test.now + "\n"))
			if got := verdictsOf(found); got != test.want {
				t.Errorf("got %q, want %q\n%v", got, test.want, found)
			}
		})
	}
}

// An interface is compared by its method set, and a struct by the methods that its values have.
func TestMethodSets(t *testing.T) {
	for _, test := range []struct{ name, old, now, want string }{
		{"a method moves into an embedded interface", "interface{ R(); W() }", "interface{ E; W() }; type E interface{ R() }",
			""},
		{"an embedded interface is written out", "interface{ E; W() }; type E interface{ R() }",
			"interface{ R(); W() }; type E interface{ R() }", ""},
		{"in another order", "interface{ E; error }; type E interface{ R() }",
			"interface{ error; E }; type E interface{ R() }", ""},
		{"by an alias", "interface{ E }; type E interface{ R() }", "interface{ F }; type E interface{ R() }; type F = E", ""},
		{"a new method of an embedded interface", "interface{ E }; type E interface{ R() }",
			"interface{ E }; type E interface{ R(); W() }", "breaks-hooks method-added"},
		{"another embedded interface", "interface{ R() }", "interface{ R(); E }; type E interface{ W() }",
			"breaks-hooks method-added"},
		{"a method is gone with its interface", "interface{ E }; type E interface{ R(); W() }",
			"interface{ R() }; type E interface{ R(); W() }", "breaks-hooks method-removed"},
		{"another signature", "interface{ E }; type E interface{ R() }", "interface{ R(int) }; type E interface{ R() }",
			"breaks-hooks method-changed"},
		{"an interface of another module", "interface{ R() }", "interface{ R(); error }", "breaks-hooks type-changed"},
		{"sealed by an embedded interface", "interface{ e; M() }; type e interface{ x() }",
			"interface{ e; M(); N() }; type e interface{ x() }", "safe method-added"},
		{"no longer sealed", "interface{ x(); M() }", "interface{ M() }", "safe method-removed"},
		{"sealed now", "interface{ M() }", "interface{ x(); M() }", "breaks-hooks method-added"},
		{"an embedded method of a struct", "struct{ I }; type I interface{ R() }",
			"struct{ I }; type I interface{ E }; type E interface{ R() }", ""},
		{"an embedded method of a struct is written out", "struct{ I }; type I interface{ E }; type E interface{ R() }",
			"struct{ I }; type I interface{ R() }; type E interface{ R() }", ""},
		{"a method of a struct hides that of a value", "struct{ B }; type B struct{}; func (B) M() {}",
			"struct{ B }; type B struct{}; func (B) M() {}; func (*A) M() {}", "breaks-hooks member-hidden, safe method-added"},
		{"a method of a struct hides that of a pointer", "struct{ *B }; type B struct{}; func (*B) M() {}",
			"struct{ *B }; type B struct{}; func (*B) M() {}; func (*A) M() {}",
			"breaks-hooks member-hidden, safe method-added"},
		{"both methods need a pointer", "struct{ B }; type B struct{}; func (*B) M() {}",
			"struct{ B }; type B struct{}; func (*B) M() {}; func (*A) M() {}",
			"changes-behaviour member-hidden, safe method-added"},
		{"an embedded interface adds no depth",
			"struct{ I; S }; type I interface{ R() }; type S struct{ T }; type T struct{ R int }",
			"struct{ I; S }; type I interface{ E }; type S struct{ T }; type T struct{ R int }; type E interface{ R() }", ""},
		{"an interface that two embed is once in a third", "struct{ I }; type I interface{ E }; type E interface{ R() }",
			"struct{ I }; type I interface{ J; K }; type J interface{ E }; type K interface{ E }; type E interface{ R() }", ""},
		{"an embedded method of a struct becomes ambiguous",
			"struct{ I; S }; type I interface{ R() }; type S struct{}",
			"struct{ I; S }; type I interface{ R() }; type S struct{ R int }", "breaks-hooks member-hidden, safe field-added"},
	} {
		t.Run(test.name, func(t *testing.T) {
			const head = "package p\n\n//hookgen:points\ntype Points interface{ OnA(A) }\n\ntype A "
			found := Compare(*versionOf(head + test.old + "\n"), *versionOf(head + test.now + "\n"))
			if got := verdictsOf(found); got != test.want {
				t.Errorf("got %q, want %q\n%v", got, test.want, found)
			}
		})
	}
}

// verdictsOf returns the verdicts and the rules of findings.
func verdictsOf(found []Finding) string {
	var all []string
	for _, f := range found {
		all = append(all, string(f.Verdict)+" "+f.Rule)
	}
	return strings.Join(all, ", ")
}
