package hookimpl

import "testing"

type (
	pointA struct{ _, _ uint64 }
	pointB struct{ _ uint32 }
	pointC struct{ _ byte }
)

func TestPointsOfOneHooksAreRecognized(t *testing.T) {
	type Hooks struct {
		A pointA
		B pointB
	}
	type parent = Hooks
	type unrelated struct{ B pointB }
	HooksType[parent]()
	extension := func() (a *pointA, b *pointB, c *pointC, second *pointC) {
		type Hooks struct {
			Parent parent
			C      pointC
		}
		HooksType[Hooks]()
		h, other := new(Hooks), new(Hooks)
		return &h.Parent.A, &h.Parent.B, &h.C, &other.C
	}
	var one, two parent
	a, b, c, second := extension()
	for name, test := range map[string]struct {
		p, q any
		want bool
	}{
		"the same point":                   {&one.A, &one.A, true},
		"two points of one":                {&one.A, &one.B, true},
		"the same point of two":            {&one.A, &two.A, false},
		"two points of two":                {&one.A, &two.B, false},
		"a point by itself":                {&one.A, new(pointB), false},
		"a point of a struct of a program": {&one.A, &new(unrelated).B, false},
		"points of a parent":               {a, b, true},
		"a parent's and an extension's":    {b, c, true},
		"an extension's and a parent's":    {c, a, true},
		"of another extension":             {a, second, false},
		"of a parent that is not in it":    {&one.A, c, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sameHooks(test.p, test.q); got != test.want {
				t.Errorf("same Hooks: %t, want %t", got, test.want)
			}
		})
	}
}
