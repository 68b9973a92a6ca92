package tests

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/pointtable"
)

// A firepoint is a point of the fixture, whatever its law, for tests that run on all of them.
type firepoint struct {
	pointtable.Entry
	kind                                 pointKind
	replaces, edits, leaves, collects    bool
	reversed, failClosed, returnsFailure bool
}

// A pointKind is how a point runs its hooks.
type pointKind string

const (
	observeKind pointKind = "observe"
	flowKind    pointKind = "flow"
	voteKind    pointKind = "vote"
	collectKind pointKind = "collect"
	checkKind   pointKind = "check"
	aroundKind  pointKind = "around"
)

// firepoints are all of them, in the order of the spec. What a point's law is, is read from what it says of itself.
var firepoints = readFirepoints()

func readFirepoints() []*firepoint {
	results := map[string]string{}
	for _, info := range new(fixture.Hooks).Points() {
		results[info.Name] = info.Results
	}
	var all []*firepoint
	for _, e := range pointtable.All {
		has := func(word string) bool {
			return slices.Contains(strings.Split(results[e.Name], ", "), word)
		}
		p := &firepoint{
			Entry: e, replaces: has("Replace"), edits: has("Edit[Note]"), leaves: has("Stop") || has("Deny"),
			collects: has("Collect[string]"), reversed: has("Reverse"), failClosed: has("FailClosed"),
		}
		switch {
		case has("Vote"):
			p.kind = voteKind
		case p.replaces || p.edits || p.leaves:
			p.kind = flowKind
		case p.collects:
			p.kind = collectKind
		case has("Check"):
			p.kind = checkKind
		case has("Around[Result]"):
			p.kind = aroundKind
		default:
			p.kind = observeKind
		}
		p.returnsFailure = p.kind != observeKind && (p.kind != collectKind || p.failClosed)
		all = append(all, p)
	}
	return all
}

// pointsWhere are the fire points that have a property. There must be some.
func pointsWhere(has func(*firepoint) bool) []*firepoint {
	some := slices.DeleteFunc(slices.Clone(firepoints), func(p *firepoint) bool { return !has(p) })
	if len(some) == 0 {
		panic("no such point")
	}
	return some
}

func (p *firepoint) String() string { return p.Name }

// decides reports whether hooks of the point return outcomes.
func (p *firepoint) decides() bool { return p.kind == flowKind || p.kind == voteKind }

// A hookCall is one call of a hook.
type hookCall struct {
	ctx  context.Context
	run  *fixture.Run
	item fixture.Item
	next func(context.Context, fixture.Item) (hookkit.Answer[fixture.Result], error) // at an around point
}

// A hookReply is what a hook returns; what the law of its point has no place for is dropped.
type hookReply struct {
	outcome any
	values  []string
	answer  hookkit.Answer[fixture.Result]
	err     error
}

// hook makes a hook of the point: its Func.
func (p *firepoint) hook(do func(hookCall) hookReply) any {
	typ := reflect.TypeOf(p.Func)
	return reflect.MakeFunc(typ, func(in []reflect.Value) []reflect.Value {
		c := hookCall{ctx: in[0].Interface().(context.Context), run: in[1].Interface().(*fixture.Run), item: in[2].Interface().(fixture.Item)}
		if p.kind == aroundKind {
			next := in[3].MethodByName("Call")
			c.next = func(ctx context.Context, item fixture.Item) (hookkit.Answer[fixture.Result], error) {
				out := next.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(item)})
				err, _ := out[1].Interface().(error)
				return out[0].Interface().(hookkit.Answer[fixture.Result]), err
			}
		}
		r := do(c)
		var out []reflect.Value
		for i := range typ.NumOut() {
			out = append(out, r.as(typ.Out(i)))
		}
		return out
	}).Convert(typ).Interface()
}

var errorType = reflect.TypeFor[error]()

// as is the part of the reply that has the type.
func (r hookReply) as(typ reflect.Type) reflect.Value {
	var part any
	switch {
	case typ == errorType:
		part = r.err
	case typ == reflect.TypeFor[[]string]():
		return reflect.ValueOf(r.values)
	case typ == reflect.TypeFor[hookkit.Answer[fixture.Result]]():
		part = r.answer
	default:
		part = r.outcome
	}
	if part == nil {
		return reflect.Zero(typ)
	}
	v := reflect.New(typ).Elem()
	v.Set(reflect.ValueOf(part))
	return v
}

// at is the point's registry.
func (p *firepoint) at(h *fixture.Hooks) reflect.Value {
	return reflect.ValueOf(h).Elem().FieldByName(p.Name).Addr()
}

// add adds a hook that [firepoint.hook] made. Options that are not legal at the point make it panic.
func (p *firepoint) add(h *fixture.Hooks, hook any, opts ...any) *hookkit.Registration {
	return p.register(h, "Add", hook, opts)
}

// observe adds an observer of the point.
func (p *firepoint) observe(h *fixture.Hooks, o *watcher, opts ...any) *hookkit.Registration {
	return p.register(h, "Observe", o, opts)
}

func (p *firepoint) register(h *fixture.Hooks, method string, hook any, opts []any) *hookkit.Registration {
	in := []reflect.Value{reflect.ValueOf(hook)}
	for _, o := range opts {
		in = append(in, reflect.ValueOf(o))
	}
	return p.at(h).MethodByName(method).Call(in)[0].Interface().(*hookkit.Registration)
}

// list lists the point's hooks.
func (p *firepoint) list(h *fixture.Hooks) []hookkit.Info {
	return p.at(h).MethodByName("List").Call(nil)[0].Interface().([]hookkit.Info)
}

// names are the names of the hooks in a listing.
func names(infos []hookkit.Info) []string {
	all := make([]string, len(infos))
	for i, info := range infos {
		all[i] = info.Name
	}
	return all
}

// A fireResult is what a fire came back with.
type fireResult struct {
	left      fixture.Item // the payload as the fire left it
	exit      any
	collected []string
	result    fixture.Result
	err       error
}

// An actFunc is what an around point wraps.
type actFunc = func(context.Context, fixture.Item) (fixture.Result, error)

// fire fires the point. act is for around points.
func (p *firepoint) fire(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item, act actFunc) fireResult {
	r := fireResult{left: item}
	in := []reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(run), reflect.ValueOf(item)}
	if p.replaces || p.edits {
		in[2] = reflect.ValueOf(&r.left)
	}
	if p.kind == aroundKind {
		in = append(in, reflect.ValueOf(act))
	}
	for _, v := range p.at(h).MethodByName("Fire").Call(in) {
		switch {
		case v.Type() == errorType:
			r.err, _ = v.Interface().(error)
		case v.Type() == reflect.TypeFor[[]string]():
			r.collected = v.Interface().([]string)
		case v.Type() == reflect.TypeFor[fixture.Result]():
			r.result = v.Interface().(fixture.Result)
		default:
			r.exit = v.Interface()
		}
	}
	return r
}

// replacement is the outcome that Replace makes; reason is its reason.
func (p *firepoint) replacement(item fixture.Item, reason string) any {
	return construct(p.Replace, item, reason)
}

// amendment is the outcome that Edit makes.
func (p *firepoint) amendment(note fixture.Note, reason string) any {
	return construct(p.Edit, note, reason)
}

func construct(constructor, value any, reason string) any {
	return reflect.ValueOf(constructor).Call([]reflect.Value{reflect.ValueOf(value), reflect.ValueOf(reason)})[0].Interface()
}

// A bundle is a Hook that binds what a function says.
type bundle struct{ bind func(*fixture.Hooks) }

func (b *bundle) Bind(h *fixture.Hooks) { b.bind(h) }

// newRun is a run for one fire.
func newRun() *fixture.Run { return fixture.NewRun(&fixture.World{Name: "test"}) }

// part returns a field of what an observer was told, nil if its law has none.
func (t told) part(field string) any {
	if v := reflect.ValueOf(t.fired).FieldByName(field); v.IsValid() {
		return v.Interface()
	}
	return nil
}

// verdict is the verdict that an observer was told.
func (t told) verdict() hookkit.Verdict { return t.part("Verdict").(hookkit.Verdict) }

// panicOf calls f and returns what it panicked with, as text; "" if it returned.
func panicOf(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

func TestFirepointsAreAllPointsWithAnItem(t *testing.T) {
	var have, want []string
	for _, p := range firepoints {
		have = append(have, p.Name)
		if p.replaces != (p.Replace != nil) || p.edits != (p.Edit != nil) {
			t.Errorf("%s: the table has other constructors than the law", p)
		}
	}
	for _, info := range new(fixture.Hooks).Points() {
		if info.Payload == "Item" {
			want = append(want, info.Name)
		}
	}
	if !slices.Equal(have, want) {
		t.Errorf("the table has %v, the fixture %v", have, want)
	}
}
