package gen

import (
	"testing"

	"github.com/hookgen/hookgen/gen/model"
)

// A type parameter hides the type of the same name in the package.
func TestTypeParametersHideTypesOfThePackage(t *testing.T) {
	s := mustRead(t, "package p\n\n//hookgen:points\ntype Points interface {\n\tOnOne(Pair[int, []int])\n}\n\n"+
		"type item struct{}\n\ntype Pair[item any, items interface{ ~[]item }] struct {\n\tA item\n\tB items\n}\n")
	if found := CheckOutput(s, Output{Package: "out", SpecPath: "example.com/p"}); len(found) > 0 {
		t.Error(found)
	}
}

func TestSpecMadeByHandIsRefused(t *testing.T) {
	for _, to := range []Output{{Package: "p"}, {Package: "out", SpecPath: "example.com/p"}} {
		t.Run(to.Package, func(t *testing.T) {
			found := CheckOutput(&Spec{Spec: model.Spec{File: "dir/spec.go"}}, to)
			if len(found) != 1 || found[0].Rule != ruleNotRead || found[0].Pos.Filename != "dir/spec.go" {
				t.Errorf("%+v: %v", to, found)
			}
		})
	}
}

// A name after a dot belongs to another package.
func TestQualifiedTypesAreNotThePackages(t *testing.T) {
	s := mustRead(t, "package p\n\nimport (\n\t\"time\"\n\n\t\"github.com/hookgen/hookgen/spec\"\n)\n\n"+
		"//hookgen:points\ntype Points interface {\n\tOnOne(time.Time) (Time, spec.FailOpen)\n}\n\n"+
		"type Time struct{ Reason string }\n")
	if found := CheckOutput(s, Output{Package: "out", SpecPath: "example.com/p"}); len(found) > 0 {
		t.Error(found)
	}
}
