package gen

import (
	"strings"
	"testing"
)

// Documentation of Go shows an alias without the fields and methods of its type.
func TestEachAliasListsItsFields(t *testing.T) {
	out := emitted(t, `package p

//hookgen:points
type Points interface {
	OnStart(Message)
}

// A Message is sent.
type Message struct {
	To, From string
	parts    []string
	Tags     map[string][]Bare
	Bare
}

type Bare struct{ N int }

// A Sender sends.
type Sender interface {
	Send(m Message, now bool) (int, error)
	Closer
}

type Closer interface{ Close() error }

// A List has values.
//
//   - one
//   - or two
type List[T any] []T
`, Output{Package: "out", SpecPath: "example.org/p"})
	for _, want := range []string{
		"// A Message is sent.\n//\n// Its fields: To, From string; Tags map[string][]Bare; Bare. See [p.Message].\n" +
			"type Message = p.Message\n",
		"\n\n// Bare is [p.Bare].\n//\n// Its fields: N int.\ntype Bare = p.Bare\n",
		"// Its methods: Send(m Message, now bool) (int, error); Closer. See [p.Sender].\ntype Sender = p.Sender\n",
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
