// Package points gives tests access to every point of package fixture, regardless of its law and its types. It
// converts all payloads from and to [fixture.Item], so that a property is written once and checked at all points.
// The properties of a point come from [hookkit.AnyPoint]. Only Fire and FireBy are called by reflection.
package points

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// A Kind is the way in which a point runs its hooks.
type Kind string

// The kinds.
const (
	Observe  Kind = "observe"
	Flow     Kind = "flow"
	Vote     Kind = "vote"
	Collect  Kind = "collect"
	Check    Kind = "check"
	CheckAll Kind = "check all"
	Around   Kind = "around"
)

// Kinds has all kinds.
var Kinds = []Kind{Observe, Flow, Vote, Collect, Check, CheckAll, Around}

// A Point is one point of the fixture.
type Point struct {
	Name     string
	Kind     Kind
	Replaces bool
	Edits    bool
	Collects bool
	Reversed bool
	Closed   bool     // the policy is FailClosed
	Exits    []string // in the order of the result list
	Key      string   // the name of the key; "" without one
	Blank    bool     // the payload is an empty struct, so hooks get a zero Item

	index    int
	list     []string // the result list
	outcomes map[string]hookkit.Outcome
	payload  codec
	result   codec
	values   codec
	typ      reflect.Type // of a pointer to the payload
	methods  map[string]int
}

// All has the points in the order of the spec.
var All = readAll()

func readAll() []*Point {
	var all []*Point
	hooks := new(fixture.Hooks)
	for i, info := range hooks.Points() {
		p := &Point{Name: info.Name, Key: info.Key, index: i, outcomes: map[string]hookkit.Outcome{},
			methods: map[string]int{}}
		p.typ = reflect.TypeOf(info.New())
		for _, o := range info.Outcomes {
			p.outcomes[o.Name] = o
			switch o.Name {
			case "Replace":
				p.Replaces = true
			case "Edit":
				p.Edits = true
			default:
				p.Exits = append(p.Exits, o.Name)
			}
		}
		p.list = strings.Split(info.Results, ", ")
		p.readLaw()
		p.readTypes(info)
		registry := p.registry(hooks)
		for m := range registry.NumMethod() {
			p.methods[registry.Type().Method(m).Name] = m
		}
		all = append(all, p)
	}
	return all
}

// Lists reports whether the result list of the point has a marker.
func (p *Point) Lists(marker string) bool {
	return slices.ContainsFunc(p.list, func(r string) bool { return r == marker || strings.HasPrefix(r, marker+"[") })
}

// readLaw reads the result list.
func (p *Point) readLaw() {
	p.Collects, p.Reversed, p.Closed = p.Lists("Collect"), p.Lists("Reverse"), p.Lists("FailClosed")
	switch {
	case p.Lists("Vote"):
		p.Kind = Vote
	case len(p.outcomes) > 0:
		p.Kind = Flow
	case p.Collects:
		p.Kind = Collect
	case p.Lists("Check"):
		p.Kind = Check
	case p.Lists("CheckAll"):
		p.Kind = CheckAll
	case p.Lists("Around"):
		p.Kind = Around
	default:
		p.Kind = Observe
	}
}

// Named returns the point of that name.
func Named(name string) *Point {
	i := slices.IndexFunc(All, func(p *Point) bool { return p.Name == name })
	if i < 0 {
		panic("the fixture has no point " + name)
	}
	return All[i]
}

// Where returns the points with a property. It panics without a match.
func Where(has func(*Point) bool) []*Point {
	some := slices.DeleteFunc(slices.Clone(All), func(p *Point) bool { return !has(p) })
	if len(some) == 0 {
		panic("no point has the property")
	}
	return some
}

// Of returns the points of a kind.
func Of(kinds ...Kind) []*Point {
	return Where(func(p *Point) bool { return slices.Contains(kinds, p.Kind) })
}

// String returns the name.
func (p *Point) String() string { return p.Name }

// Decides reports whether hooks of the point return outcomes.
func (p *Point) Decides() bool { return p.Kind == Flow || p.Kind == Vote }

// Rewrites reports whether hooks may change the payload, so that Fire takes a pointer.
func (p *Point) Rewrites() bool { return p.Replaces || p.Edits }

// Stops reports whether any failing hook ends a fire.
func (p *Point) Stops() bool { return p.Closed || p.Kind == Check || p.Kind == Around }

// Refuses reports whether a fire returns the failure of any hook.
func (p *Point) Refuses() bool { return p.Stops() && p.ReturnsError() || p.Kind == CheckAll }

// ReturnsError reports whether a fire returns an error.
func (p *Point) ReturnsError() bool {
	return p.Kind != Observe && (p.Kind != Collect || p.Closed)
}

// HasFireBy reports whether there is a method FireBy.
func (p *Point) HasFireBy() bool { return p.Kind != Observe }

// In returns the point in infos, the result of Points. Points is slow, so tests keep its result.
func (p *Point) In(infos []hookkit.AnyPoint) hookkit.AnyPoint { return infos[p.index] }

// At returns the access to the point of some Hooks.
func (p *Point) At(h *fixture.Hooks) hookkit.AnyPoint { return p.In(h.Points()) }

// Replace returns the outcome that replaces the payload.
func (p *Point) Replace(item fixture.Item, reason string) any {
	return p.outcome("Replace", p.payload.to(item), reason)
}

// Edit returns the outcome that edits the note.
func (p *Point) Edit(note fixture.Note, reason string) any { return p.outcome("Edit", note, reason) }

// Exit returns an exit by its name. One exit has no field for the reason.
func (p *Point) Exit(name, reason string) any {
	x := reflect.New(p.outcomes[name].Type).Elem()
	if f := x.FieldByName("Reason"); f.IsValid() {
		f.SetString(reason)
	}
	return p.outcome(name, x.Interface(), "")
}

func (p *Point) outcome(name string, value any, reason string) any {
	o, err := p.outcomes[name].New(value, reason)
	if err != nil {
		panic(err)
	}
	return o
}

// NameOf returns the name of an exit, or "" for nil.
func NameOf(exit any) string {
	if exit == nil {
		return ""
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", exit), "fixture.")
}

// Pointer returns a pointer to an exit, which compiles as an outcome but is illegal.
func (p *Point) Pointer(exit string) any { return reflect.New(p.outcomes[exit].Type).Interface() }
