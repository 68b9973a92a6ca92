package gen

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTypesAreBounded(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[]", n) + "int" }
	sum := func(n int) string { return "[" + strings.Repeat("1+", n) + "1]int" }
	wide := func(n int) string { return "struct{" + many(n, "A# int;") + "}" }
	for name, c := range map[string]struct {
		typ  string
		fits bool
	}{
		"deep slices":     {nested(maxTypeDepth - 1), true},
		"deeper slices":   {nested(maxTypeDepth), false},
		"long sum":        {sum(maxTypeDepth - 2), true},
		"longer sum":      {sum(maxTypeDepth - 1), false},
		"wide struct":     {wide(maxTypeNodes/3 - 1), true},
		"wider struct":    {wide(maxTypeNodes / 3), false},
		"struct in slice": {"[]" + wide(maxTypeNodes/3), false},
	} {
		for place, text := range map[string]string{
			"payload": specOf("On("+c.typ+")", ""),
			"collect": specOf("On(int) spec.Collect["+c.typ+"]", ""),
			"around":  specOf("On(int) spec.Around["+c.typ+"]", ""),
			"exit":    specOf("On(int) (Stop, spec.FailOpen)", "type Stop struct { A "+c.typ+" }"),
			"env":     specOf("spec.Env["+c.typ+"]\nOn(int)", ""),
		} {
			t.Run(name+" in "+place, func(t *testing.T) {
				_, found := readFiles(map[string]string{"spec.go": text})
				if c.fits && len(found) > 0 || !c.fits && (len(found) != 1 || found[0].Rule != "type-size") {
					t.Errorf("%.300v", found)
				}
			})
		}
	}
}

// TestLargestTypesAreEmittedQuickly emits the largest types that are accepted: the bound is there for the emitter.
func TestLargestTypesAreEmittedQuickly(t *testing.T) {
	structs := func(n int) string { return strings.Repeat("struct{ A ", n) + "int" + strings.Repeat("}", n) }
	for name, typ := range map[string]string{
		"sum":     "[" + strings.Repeat("1+", maxTypeDepth-2) + "1]int",
		"structs": structs((maxTypeDepth - 1) / 3),
		"wide":    "struct{" + many(maxTypeNodes/3-1, "A# int;") + "}",
	} {
		t.Run(name, func(t *testing.T) {
			s := mustRead(t, specOf("On("+typ+")", ""))
			start := time.Now()
			if _, err := Emit(s, Output{Package: "p"}); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > patience {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestImportsAreBounded(t *testing.T) {
	for n, fits := range map[int]bool{maxImports: true, maxImports + 1: false} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			_, found := readFiles(map[string]string{"spec.go": "package p\n" + many(n, "import \"example.com/a#\"\n") +
				"\n//hookgen:points\ntype Points interface {\n\tOnStart(int)\n}\n"})
			if fits && len(found) > 0 || !fits && (len(found) != 1 || found[0].Rule != "import-count" ||
				found[0].Pos.Line != n+1) {
				t.Errorf("%.300v", found)
			}
		})
	}
}

func TestEditedStructsAreBounded(t *testing.T) {
	for n, fits := range map[int]bool{maxEditable: true, maxEditable + 1: false} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			_, found := readFiles(map[string]string{"spec.go": specOf("On(M) (spec.Edit[T], spec.FailOpen)",
				"type T int\n\ntype M struct {\n\tX T\n"+many(n-1, "\tA# int\n")+"}\n")})
			if fits && len(found) > 0 || !fits && (len(found) != 1 || found[0].Rule != "edit-payload") {
				t.Errorf("%.300v", found)
			}
		})
	}
}

// TestDeclaredTypesAreFound reads specs whose payload is declared elsewhere in the package, or may be.
func TestDeclaredTypesAreFound(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"another file": {"mail.go": "package p\n\ntype Message struct{}\n"},
		"alias":        {"mail.go": "package p\n\nimport \"time\"\n\ntype Message = time.Time\n"},
		"group":        {"mail.go": "package p\n\ntype (\n\tOther int\n\tMessage int\n)\n"},
		"file with cgo": {"mail.go": "package p\n\n// struct message {};\nimport \"C\"\n\n" +
			"type Message C.struct_message\n"},
		"broken file":           {"mail.go": "package p\n\nfunc broken( {\n\ntype Message struct{}\n"},
		"broken package clause": {"mail.go": "pakage p\n\ntype Message struct{}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			files["spec.go"] = specOf("On(*Message)", "")
			if _, found := readFiles(files); len(found) > 0 {
				t.Error(found)
			}
		})
	}
}

// TestGeneratedTypesMayBeMentioned names types that only generated code declares, in the package that it is part of.
func TestGeneratedTypesMayBeMentioned(t *testing.T) {
	for _, payload := range []string{"*Run", "*Hooks", "Hook", "AnyObserver", "OnFunc", "OnOtherFired[int]"} {
		t.Run(payload, func(t *testing.T) {
			s := mustRead(t, specOf("On("+payload+")\nOnOther(int)", ""))
			if found := CheckOutput(s, Output{Package: "p"}); len(found) > 0 {
				t.Error(found)
			}
		})
	}
}

func TestUndefinedTypeMayBeInUnreadFile(t *testing.T) {
	dir := folder(t, map[string]string{"spec.go": "package p\n\n//hookgen:points\n" +
		"type Points interface {\n\tOnStart(Message)\n}\n"})
	if err := os.Symlink("loop.go", filepath.Join(dir, "loop.go")); err != nil {
		t.Skip(err)
	}
	if _, found := Read(dir); len(found) != 1 || !found.Trouble() {
		t.Error(found)
	}
}

func TestUndefinedTypesAreReadQuickly(t *testing.T) {
	files := map[string]string{"spec.go": pointsOf(10_000, "On#(Type#)", ""),
		"other.go": "package p\n" + many(100_000, "type Other# int\n")}
	start := time.Now()
	if _, found := readFiles(files); len(found) != 10_000 {
		t.Errorf("%d findings", len(found))
	}
	if took := time.Since(start); took > patience {
		t.Errorf("it took %v", took)
	}
}

func TestTypeArgumentsAreTypes(t *testing.T) {
	for argument, fine := range map[string]bool{
		"(int)": true, "*int": true, "Box[int]": true, "Box[Pair[int, string]]": true, "(*Pair[int, (string)])": true,
		"time.Time": true, "[]int": true,
		"map[string]int": true, "chan int": true, "func()": true, "struct{}": true, "any": true, "interface{ A() }": true,
		"1": false, "(1)": false, "*1": false, "1 + 2": false,
	} {
		t.Run(argument, func(t *testing.T) {
			s, found := readFiles(map[string]string{"spec.go": "package p\n\nimport \"time\"\n\n//hookgen:points\n" +
				"type Points interface {\n\tOnOne(Box[" + argument + "])\n\tOnTwo(time.Time)\n}\n\n" +
				"type Box[T any] struct{ V T }\n\ntype Pair[A, B any] struct{ A A; B B }\n"})
			if fine != (s != nil) || !fine && (len(found) != 1 || found[0].Rule != "type-form") {
				t.Errorf("Box[%s]: %v", argument, found)
			}
		})
	}
}
