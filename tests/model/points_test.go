package model

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/pointtable"
)

// A law is what the model must know of a point.
type law struct {
	kind                                        string // observe, flow, vote, collect, check or around
	replaces, edits, collects, reversed, closed bool
	exits                                       []string
}

// decides reports whether FailClosed is legal at the point.
func (l law) decides() bool { return l.kind == "flow" || l.kind == "vote" }

// reports reports whether a fire returns an error.
func (l law) reports() bool { return l.kind != "observe" && (l.kind != "collect" || l.closed) }

// A point is a point of the fixture.
type point struct {
	pointtable.Entry
	law
}

// points are the points of the table by name, pointNames their names in the order of the spec.
var points, pointNames = readPoints()

// readPoints reads what a point's law is from what it says of itself.
func readPoints() (map[string]point, []string) {
	results := map[string][]string{}
	for _, info := range new(fixture.Hooks).Points() {
		results[info.Name] = strings.Split(info.Results, ", ")
	}
	all, names := map[string]point{}, []string{}
	for _, e := range pointtable.All {
		has := func(word string) bool { return slices.Contains(results[e.Name], word) }
		l := law{replaces: has("Replace"), edits: has("Edit[Note]"), collects: has("Collect[string]"), reversed: has("Reverse"), closed: has("FailClosed")}
		for _, exit := range []string{"Stop", "Skip", "Deny", "Ask", "Allow"} {
			if has(exit) {
				l.exits = append(l.exits, exit)
			}
		}
		switch {
		case has("Vote"):
			l.kind = "vote"
		case l.replaces || l.edits || len(l.exits) > 0:
			l.kind = "flow"
		case l.collects:
			l.kind = "collect"
		case has("Check"):
			l.kind, l.closed = "check", true
		case has("Around[Result]"):
			l.kind, l.closed = "around", true
		default:
			l.kind = "observe"
		}
		all[e.Name] = point{e, l}
		names = append(names, e.Name)
	}
	return all, names
}

func TestEveryPointWithAnItemIsPlayed(t *testing.T) {
	var want []string
	for _, info := range new(fixture.Hooks).Points() {
		if info.Payload == "Item" {
			want = append(want, info.Name)
		}
	}
	if !slices.Equal(pointNames, want) {
		t.Errorf("the table has %v, the fixture %v", pointNames, want)
	}
}

// A next is the rest of the way, for a hook that wraps.
type next = func(context.Context, fixture.Item) (hookkit.Answer[fixture.Result], error)

// A reply is what a hook returns; what the law of its point has no place for is dropped.
type reply struct {
	outcome any
	values  []string
	answer  hookkit.Answer[fixture.Result]
	err     error
}

// hook makes a hook of the point: its Func.
func (p point) hook(do func(context.Context, *fixture.Run, fixture.Item, next) reply) any {
	typ := reflect.TypeOf(p.Func)
	return reflect.MakeFunc(typ, func(in []reflect.Value) []reflect.Value {
		var rest next
		if p.kind == "around" {
			rest = in[3].MethodByName("Call").Interface().(next)
		}
		r := do(in[0].Interface().(context.Context), in[1].Interface().(*fixture.Run), in[2].Interface().(fixture.Item), rest)
		var out []reflect.Value
		for i := range typ.NumOut() {
			out = append(out, r.as(typ.Out(i)))
		}
		return out
	}).Interface()
}

// as is the part of the reply that has the type.
func (r reply) as(typ reflect.Type) reflect.Value {
	var part any
	switch typ {
	case reflect.TypeFor[error]():
		part = r.err
	case reflect.TypeFor[[]string]():
		part = r.values
	case reflect.TypeFor[hookkit.Answer[fixture.Result]]():
		part = r.answer
	default:
		part = r.outcome
	}
	v := reflect.New(typ).Elem()
	if part != nil {
		v.Set(reflect.ValueOf(part))
	}
	return v
}

// construct makes an outcome.
func construct(constructor, value any) any {
	return reflect.ValueOf(constructor).Call([]reflect.Value{reflect.ValueOf(value), reflect.ValueOf(because)})[0].Interface()
}

// because is the reason of everything.
const because = "because"

// exit makes an exit by its name.
func exit(name string) any {
	switch name {
	case "Stop":
		return fixture.Stop{Reason: because}
	case "Skip":
		return fixture.Skip{Reason: because}
	case "Deny":
		return fixture.Deny{Reason: because}
	case "Ask":
		return fixture.Ask{Reason: because}
	}
	panic("no exit is called " + name)
}

// lie makes an exit by pointer, which the compiler lets pass.
func lie(name string) any {
	if name == "Stop" {
		return &fixture.Stop{}
	}
	return &fixture.Deny{}
}

// at is the point's registry.
func (p point) at(h *fixture.Hooks) reflect.Value {
	return reflect.ValueOf(h).Elem().FieldByName(p.Name).Addr()
}

// register calls Add or Observe.
func (p point) register(h *fixture.Hooks, method string, hook any, opts []any) *hookkit.Registration {
	in := []reflect.Value{reflect.ValueOf(hook)}
	for _, o := range opts {
		in = append(in, reflect.ValueOf(o))
	}
	return p.at(h).MethodByName(method).Call(in)[0].Interface().(*hookkit.Registration)
}

// list lists the point's hooks.
func (p point) list(h *fixture.Hooks) []hookkit.Info {
	return p.at(h).MethodByName("List").Call(nil)[0].Interface().([]hookkit.Info)
}

// fire fires the point, and notes in c what comes back. act is for around points.
func (p point) fire(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item, act func(context.Context, fixture.Item) (fixture.Result, error)) (c came) {
	in := []reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(run), reflect.ValueOf(item)}
	if p.replaces || p.edits {
		in[2] = reflect.ValueOf(&item)
	}
	if p.kind == "around" {
		in = append(in, reflect.ValueOf(act))
	}
	for _, v := range p.at(h).MethodByName("Fire").Call(in) {
		switch v := v.Interface().(type) {
		case error:
			c.Err = inWords(v)
		case []string:
			c.Collected = v
		case fixture.Result:
			c.Result = v
		case nil: // no error, or no exit
		default:
			c.Exit = nameOf(v)
		}
	}
	c.Left = payload(item)
	return c
}
