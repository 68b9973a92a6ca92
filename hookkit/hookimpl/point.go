package hookimpl

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/hookgen/hookgen/hookkit"
)

// A Point describes one fire point to the runtime. Generated code has a variable of this type for each point. The
// runtime uses it for everything that is not the fast path.
type Point struct {
	Name    string // the method's name in the spec
	Payload string // its parameter's type as the spec has it
	Results string // its result list as the spec has it, without the qualifier

	Key     *Key  // nil without one
	Closed  bool  // a failing hook ends the fire, and at a Check point the first error
	All     bool  // CheckAll: every hook runs, and the fire returns all errors
	Reverse bool  // the firing order is mirrored
	Replace any   // the constructor, for example ReplaceBeforeTool; nil without one
	Edit    any   // the constructor, for example EditBeforeShow; nil without one
	Exits   []any // a zero value of each exit
	Fire    any   // the method runHooks of the generated Point, for [Registry.FireAny]
	Func    any   // a nil function of the type of the point's hooks, for example BeforeToolFunc
	Observe Observing
	*Calls

	outcomes              []hookkit.Outcome // that are legal; every AnyPoint of the point has them
	hookType, payloadType reflect.Type      // the interface of the hooks, and the payload
}

// A Description is a type that describes a point. Generated code has one for each point.
type Description interface{ Describe() *Point }

// descriptions caches the results of Describe.
var descriptions sync.Map

// describePoint returns the description of a point. It is the same for all Hooks of the program.
func describePoint(d Description) *Point {
	if p, ok := descriptions.Load(d); ok {
		return p.(*Point)
	}
	p := d.Describe()
	p.outcomes = p.legal()
	method := reflect.TypeOf(p.method)
	p.hookType, p.payloadType = method.In(0), method.In(3)
	made, _ := descriptions.LoadOrStore(d, p)
	return made.(*Point)
}

// hookOf makes a hook of the point from a function with its signature.
func (p *Point) hookOf(f any) any {
	return reflect.ValueOf(f).Convert(reflect.TypeOf(p.Func)).Interface()
}

// hookFor makes a hook of the point from one for any point.
func (p *Point) hookFor(h hookkit.AnyHook) any { return p.hookOf(p.MakeHook(p.Name, h)) }

// at returns the generated Point of a State: a pointer with the type of the receiver of Fire. The State is at the
// beginning of the Point, so that both have the same address.
func (p *Point) at(s *State) any {
	return reflect.NewAt(reflect.TypeOf(p.Fire).In(0).Elem(), unsafe.Pointer(s)).Interface()
}

// stops reports whether a failure of the entry ends the fire.
func (p *Point) stops(e *entry) bool { return p.Closed || p.wraps || p.decides && e.FailClosed }
