package gen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// twoFields reads a payload with two fields and an Edit of the first field's type. It returns the number of matching
// fields.
func twoFields(t *testing.T, a, b string) int {
	t.Helper()
	s, found := readFiles(map[string]string{"spec.go": fmt.Sprintf(`package p

import (
	one "time"
	"time"
	other "example.com/time"

	"github.com/hookgen/hookgen/spec"
)

//hookgen:points
type Points interface {
	OnOne(Payload) (spec.Edit[%s], spec.FailOpen)
}

type Payload struct {
	A %s
	B %s
}

type Box[T any] struct{ V T }

type Case[T any] struct{ V T }

type Pair[A, B any] struct{ A A; B B }

type Both[A, B any] struct{ A A; B B }

type Key = string

type List = []Key

type Generic[T any] = []T

type Text string

type (
	X  int
	XX int
	XY int
	Y  int
)

const Width = 2
`, a, a, b)})
	switch {
	case s != nil:
		return 1
	case len(found) == 1 && found[0].Rule == "edit-field":
		return 2
	}
	t.Fatalf("%s and %s: %v", a, b, found)
	return 0
}

func TestDifferentTypesDiffer(t *testing.T) {
	for _, c := range [][2]string{
		{"time.Time", "other.Time"}, {"time.Time", "time.Duration"}, {"int", "string"}, {"*int", "int"}, {"[]int", "[2]int"},
		{"[3]int", "[2]int"},
		{"[]int", "[]string"}, {"[Width]int", "[2]int"}, {"func(...int)", "func(int)"}, {"func(...int)", "func(...string)"},
		{"func(...int)", "func([]int)"},
		{"map[int]string", "map[bool]string"}, {"map[int]string", "map[int]bool"}, {"chan int", "chan string"},
		{"chan int", "<-chan int"},
		{"chan int", "chan<- int"}, {"<-chan int", "chan<- int"}, {"Box[int]", "Case[int]"}, {"Box[int]", "Box[string]"},
		{"Pair[int, string]", "Both[int, string]"},
		{"Pair[int, string]", "Pair[string, int]"}, {"func() int", "func() string"}, {"func() int", "func()"},
		{"func(int)", "func() int"},
		{"func(int, string)", "func(int) string"}, {"func(a, b int)", "func(a int)"}, {"struct{ A int }", "struct{ B int }"},
		{"struct{ A int }", "struct{ A string }"},
		{"struct{ A, B int }", "struct{ A int }"}, {"struct{ A int }", "struct{ A int `json:\"a\"` }"},
		{"struct{ Text }", "struct{ Text Text }"}, {"struct{}", "interface{}"},
		{"struct{ A func() }", "interface{ A() }"}, {"interface{ A() }", "interface{ B() }"},
		{"interface{ A() }", "interface{ A() int }"}, {"any", "error"},
		{"Text", "string"}, {"Generic[int]", "[]int"}, {"[2 * Width]int", "[4 * Width]int"}, {"[]List", "List"},
		{"[Width + 1]int", "[Width]int"},
		{"byte", "int8"}, {"rune", "int64"}, {"[0x2]int", "[2]int"}, {"*Box[int]", "Box[*int]"},
		{"interface{ Text }", "interface{ error }"},
		{"Pair[X, XY]", "Pair[XX, Y]"}, {"func(X, XY)", "func(XX, Y)"}, {"func(X) XY", "func(XX) Y"},
	} {
		t.Run(c[0]+" and "+c[1], func(t *testing.T) {
			if n := twoFields(t, c[0], c[1]); n != 1 {
				t.Errorf("%s and %s are taken for one type", c[0], c[1])
			}
			if n := twoFields(t, c[1], c[0]); n != 1 {
				t.Errorf("%s and %s are taken for one type", c[1], c[0])
			}
		})
	}
}

func TestIdenticalTypesAreIdentical(t *testing.T) {
	for _, c := range [][2]string{
		{"time.Time", "one.Time"}, {"(int)", "int"}, {"Key", "string"}, {"List", "[]string"}, {"[]byte", "[]uint8"},
		{"rune", "int32"}, {"any", "interface{}"},
		{"[]List", "[][]string"}, {"func(a, b int)", "func(int, int)"}, {"func(a int) (b error)", "func(int) error"},
		{"func(a, b int)", "func(x int, y int)"},
		{"struct{ A, B int }", "struct{ A int; B int }"}, {"Box[Key]", "Box[string]"},
		{"Pair[Key, byte]", "Pair[string, uint8]"}, {"map[Key]List", "map[string][]string"},
		{"chan (Key)", "chan string"}, {"*Key", "*string"}, {"[Width]Key", "[Width]string"},
		{"interface{ A(x Key) }", "interface{ A(string) }"},
		{"Pair[Key, Key]", "Pair[string, Key]"}, {"func(...Key)", "func(...string)"},
		{"struct{ A List; B List }", "struct{ A, B []string }"},
	} {
		t.Run(c[0]+" and "+c[1], func(t *testing.T) {
			if n := twoFields(t, c[0], c[1]); n != 2 {
				t.Errorf("%s and %s are taken for two types", c[0], c[1])
			}
			if n := twoFields(t, c[1], c[0]); n != 2 {
				t.Errorf("%s and %s are taken for two types", c[1], c[0])
			}
		})
	}
}

// Aliases in a cycle denote no type, but checking them terminates.
func TestCyclicAliasesAreRefused(t *testing.T) {
	_, found := readFiles(map[string]string{"spec.go": "package p\n\nimport \"github.com/hookgen/hookgen/spec\"\n\n" +
		"//hookgen:points\ntype Points interface {\n\tOnOne(Payload) (spec.Edit[A], spec.FailOpen)\n}\n\n" +
		"type Payload struct{ X, Y A }\n\ntype A = B\n\ntype B = A\n"})
	if len(found) != 1 || found[0].Rule != "edit-field" {
		t.Error(found)
	}
}

func TestLongTypesAreTruncatedInMessages(t *testing.T) {
	for n, cut := range map[int]bool{48: false, 49: true} {
		typ := "[]" + strings.Repeat("T", n-2)
		want := typ + " is nothing"
		if cut {
			want = typ[:45] + "... is nothing"
		}
		_, found := readFiles(map[string]string{"spec.go": pointsOf(1, "On#(int) ("+typ+", spec.FailOpen)", "")})
		if len(found) != 1 || !strings.HasPrefix(found[0].Message, want) {
			t.Errorf("%d letters: %v", n, found)
		}
	}
}

// For example, hookgen makes an identifier for each exit, and a message about it has no text of the file to show.
func TestExpressionsOfOtherFilesHaveNoText(t *testing.T) {
	parsed := func(text string) *file {
		tree, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0)
		if err != nil {
			t.Fatal(err)
		}
		return &file{source: source{text: []byte(text)}, tree: tree}
	}
	short, long := parsed("package p"), parsed("package longer")
	for name, expr := range map[string]ast.Expr{"made": ast.NewIdent("T"), "of a longer file": long.tree.Name} {
		t.Run(name, func(t *testing.T) {
			if got := short.line(expr); got != "this" {
				t.Errorf("got %q", got)
			}
		})
	}
}
