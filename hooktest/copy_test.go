package hooktest

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/tests/fixture"
)

// tree has every kind of field that a payload may have.
type tree struct {
	Text    string
	Numbers []float64
	Bytes   []byte
	Pairs   map[string][]int
	Next    *tree
	Any     any
	Array   [2]*int
	Call    func()
	Out     chan int
	Builder *strings.Builder
	Complex complex64
	Small   int8
	Bits    uint16
	private []int
}

func cyclic() *tree {
	t := &tree{Text: "a"}
	t.Next = t
	t.Any = map[string]any{"self": t}
	return t
}

func TestDeepCopiesAreEqualAndShareNothing(t *testing.T) {
	n := 1
	for name, value := range map[string]any{
		"nil":     (*tree)(nil),
		"zero":    tree{},
		"cyclic":  cyclic(),
		"private": tree{private: []int{1}},
		"full": &tree{Text: "a", Numbers: []float64{
			math.NaN(),
			1,
		}, Bytes: []byte("a"), Pairs: map[string][]int{"a": {1}}, Next: &tree{},
			Any: []any{
				map[int]string{1: "a"},
			}, Array: [2]*int{&n}, Call: func() {}, Out: make(chan int), Builder: new(strings.Builder)},
		"not a number as key": map[float64]int{math.NaN(): 1},
	} {
		t.Run(name, func(t *testing.T) {
			v := reflect.ValueOf(value)
			if where := difference("value", v, deepCopy(v), false); where != "" {
				t.Errorf("the copy differs at %s", where)
			}
		})
	}
	full := &tree{
		Numbers: []float64{1},
		Pairs:   map[string][]int{"a": {1}},
		Next:    &tree{Text: "a"},
		Any:     []any{"a"},
		Array:   [2]*int{&n},
	}
	for want, change := range map[string]func(*tree){
		"value.Numbers[0]":  func(c *tree) { c.Numbers[0]++ },
		"value.Pairs[a][0]": func(c *tree) { c.Pairs["a"][0]++ },
		"value.Pairs[a]":    func(c *tree) { delete(c.Pairs, "a"); c.Pairs["b"] = nil },
		"value.Pairs":       func(c *tree) { c.Pairs["b"] = nil },
		"value.Next.Text":   func(c *tree) { c.Next.Text = "b" },
		"value.Next":        func(c *tree) { c.Next = nil },
		"value.Any[0]":      func(c *tree) { c.Any.([]any)[0] = 7 },
		"value.Array[0]":    func(c *tree) { *c.Array[0]++ },
		"value.Call":        func(c *tree) { c.Call = func() {} },
		"value.Complex":     func(c *tree) { c.Complex = 1 },
	} {
		t.Run(want, func(t *testing.T) {
			before := reflect.ValueOf(full)
			changed := deepCopy(before)
			change(changed.Interface().(*tree))
			if where := difference("value", before, changed, false); where != want {
				t.Errorf("the change is found at %q", where)
			}
		})
	}
}

func TestMadePayloadsAreTheSameEachTime(t *testing.T) {
	for _, p := range new(fixture.Hooks).Points() {
		for _, f := range fillings {
			a, b := f.payload(p), f.payload(p)
			if where := difference(p.Name, a.value, b.value, false); where != "" {
				t.Errorf("%s: the payload differs at %s", f.name, where)
			}
		}
	}
}

func TestFillingsFillEveryPossibleKind(t *testing.T) {
	made := map[string]tree{}
	for _, f := range fillings {
		var v tree
		if !f.zero {
			f.fill(reflect.ValueOf(&v).Elem(), 0)
		}
		made[f.name] = v
		if v.Call != nil || v.Out != nil || v.Any != nil || v.private != nil {
			t.Errorf("%s: a field that cannot be made is %+v", f.name, v)
		}
	}
	for name, ok := range map[string]bool{
		"zero values": reflect.DeepEqual(made["zero values"], tree{}),
		"ordinary values": made["ordinary values"].Text == "look" && made["ordinary values"].Next.Next == nil &&
			len(made["ordinary values"].Pairs) == 2,
		"empty texts and lists": made["empty texts and lists"].Numbers != nil &&
			len(made["empty texts and lists"].Numbers) == 0,
		"nil elements": made["nil elements"].Pairs["look"] == nil && len(made["nil elements"].Pairs) == 2,
		"long lists": len(made["long lists"].Numbers) == 1000 && len(made["long lists"].Pairs) == 1000 &&
			len(made["long lists"].Pairs["look"]) == 2,
		"negative numbers": made["negative numbers"].Small == -7 && made["negative numbers"].Bits == 0 &&
			made["negative numbers"].Numbers[0] == -1.5,
		"largest numbers":  made["largest numbers"].Small == math.MaxInt8 && made["largest numbers"].Bits == math.MaxUint16,
		"smallest numbers": made["smallest numbers"].Small == math.MinInt8 && math.IsNaN(made["smallest numbers"].Numbers[0]),
	} {
		if !ok {
			t.Errorf("%s: %+v", name, made[name])
		}
	}
}

func TestAccessNamesTheObserverOfAnyPoint(t *testing.T) {
	h := new(fixture.Hooks)
	for _, p := range h.Points() {
		if reg := p.ObserveAny(new(Recorder).observe); !strings.HasPrefix(reg.Site(), "hooktest/copy_test.go:") {
			t.Fatalf("%s is registered at %s", p.Name, reg.Site())
		}
	}
	defer func() {
		if r := recover(); !strings.Contains(r.(string), "the observer is nil") {
			t.Errorf("a nil observer panics with %v", r)
		}
	}()
	h.Points()[0].ObserveAny(nil)
}
