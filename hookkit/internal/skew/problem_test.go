package skew

import (
	"math/big"
	"net/netip"
	"reflect"
	"testing"
	"time"
)

type tree []tree

// Types of other packages are checked when a program connects, because hookgen does not read them.
func TestTypesThatJSONCannotHold(t *testing.T) {
	type nested struct {
		Deep []map[string]*struct{ At chan int }
	}
	type fine struct {
		Next  *fine
		At    time.Time
		Price *big.Int
		By    map[netip.Addr]map[uint8]any
		Done  func() `json:"-"`
		_     func()
	}
	for name, c := range map[string]struct {
		typ  reflect.Type
		want string
	}{
		"a type that JSON can hold": {reflect.TypeFor[fine](), ""},
		"a func":                    {reflect.TypeFor[struct{ Done func() }](), "T.Done is a func()"},
		"a complex number":          {reflect.TypeFor[[]complex128](), "T[] is a complex128"},
		"an error":                  {reflect.TypeFor[struct{ Err error }](), "T.Err is a error"},
		"a nested chan":             {reflect.TypeFor[nested](), "T.Deep[][].At is a chan int"},
		"keys that are numbers":     {reflect.TypeFor[map[float64]string](), "T is a map with keys of type float64"},
		"keys that are structs":     {reflect.TypeFor[map[struct{}]int](), "T is a map with keys of type struct {}"},
		"keys of any type":          {reflect.TypeFor[map[any]int](), "T is a map with keys of type interface {}"},
		"a list of itself":          {reflect.TypeFor[tree](), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := problemOf(c.typ); got != c.want {
				t.Errorf("the reason is %q, want %q", got, c.want)
			}
		})
	}
}

func problemOf(t reflect.Type) string {
	b := newBuilder("")
	b.expr(t, "T")
	return b.problem
}
