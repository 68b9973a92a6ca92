package gen

import (
	"strings"
	"testing"
)

// Documentation of Go shows an alias without the fields and methods of its type.
func TestEachAliasLinksItsType(t *testing.T) {
	out := emitted(t, `package p

//hookgen:points
type Points interface {
	OnStart(Message)
}

// A Message is sent.
type Message struct{ To string }

type Bare struct{ N int }

// A List has values.
//
//   - one
//   - or two
type List[T any] []T
`, Output{Package: "out", SpecPath: "example.org/p"})
	for _, want := range []string{
		"// A Message is sent.\n//\n// Its fields and methods are those of [p.Message].\ntype Message = p.Message\n",
		"\n\n// Bare is [p.Bare].\ntype Bare = p.Bare\n",
		"//   - one\n//   - or two\n//\n// Its fields and methods are those of [p.List].\ntype List[T any] = p.List[T]\n",
		" Its methods are those of [hookkit.Run].\ntype Run = hookkit.Run[",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks\n%s", want)
		}
	}
}

func TestTypeParametersHideNoImport(t *testing.T) {
	out := emitted(t, `package p

//hookgen:points
type Points interface {
	OnStart(Pair[int, string])
}

type Pair[p any, p2 any] struct {
	First  p
	Second p2
}
`, Output{Package: "out", SpecPath: "example.org/p"})
	for _, want := range []string{"p3 \"example.org/p\"\n", "type Pair[p any, p2 any] = p3.Pair[p, p2]\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks\n%s", want)
		}
	}
}
