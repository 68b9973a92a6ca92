package model

import "slices"

// A Marker is one name of the spec language. Its entry in Markers decides how a result list with it is read, which
// rules it is under, and the words for it. A new marker also needs a type and a text in package spec, a page section, a
// wrong spec for each of its rules, and a point in tests/fixture; TestEveryMarkerIsKnownEverywhere names the places
// that do not know it.
type Marker struct {
	Name  string
	Typed bool   // it takes one type argument
	Place Place  // in a result list
	Kind  Kind   // of a point that lists it, unless the list selects a stronger one
	Help  string // the line of hookgen -h

	Set  func(law *Law[Type], argument Type)
	Flag func(*Plain) *bool // of a marker without Set: the field of the law that it sets; nil if it selects a kind only

	// Of a marker that means the same at points of every kind: its part of Brief and of LawWords, and the rule of
	// hookgen breaking that it comes or goes.
	Brief, Words, Rule string

	With     []string // of a marker that is alone: the markers that may be listed with it
	NoPolicy string   // of a marker that is alone: the reason why a policy would mean nothing
}

// A Place is where a marker is written.
type Place int

// The places.
const (
	Between  Place = iota // in a result list, with exits and other markers
	First                 // at the beginning of a list: it says how hooks run
	Alone                 // the only entry of a list
	Last                  // at the end of a list: a policy
	Embedded              // in the points interface
)

// Markers are the names of the spec language in the order of its manual.
var Markers = []Marker{
	{Name: "Replace", Kind: Flow, Flag: func(l *Plain) *bool { return &l.Replace },
		Help: "hooks return another payload"},
	{Name: "Edit", Typed: true, Kind: Flow, Set: func(l *Law[Type], t Type) { l.Edit = t },
		Help: "hooks return another value of the payload's one field of type T"},
	{Name: "Vote", Place: First, Kind: Vote, Help: "every hook votes; the exit listed first wins"},
	{Name: "Collect", Typed: true, Kind: Collect, Set: func(l *Law[Type], t Type) { l.Collect = t },
		Help: "hooks contribute values; alone or with decisions"},
	{Name: "Check", Place: Alone, Kind: Check, Help: "hooks return an error, and the first one stops",
		NoPolicy: "a check's error always stops the act"},
	{Name: "CheckAll", Place: Alone, Kind: CheckAll, Help: "the same, but all hooks run and the errors are joined",
		NoPolicy: "every error of a check stops the act"},
	{Name: "Around", Typed: true, Place: Alone, Kind: Around, Set: func(l *Law[Type], t Type) { l.Around = t },
		Help: "hooks wrap an act that returns a T", With: []string{"Reverse"},
		NoPolicy: "errors propagate through the wrapping"},
	{Name: "Reverse", Place: First, Flag: func(l *Plain) *bool { return &l.Reverse },
		Help: "last in, first out; written first", Brief: "reversed",
		Rule:  "order-reversed",
		Words: "The order is reversed: last in, first out, and the inner layer before the outer."},
	{Name: "FailClosed", Place: Last, Set: func(l *Law[Type], _ Type) { l.Policy = FailClosed },
		Help: "a failing hook stops the act; written last"},
	{Name: "FailOpen", Place: Last, Set: func(l *Law[Type], _ Type) { l.Policy = FailOpen },
		Help: "a failing hook is skipped; written last"},
	{Name: "Env", Typed: true, Place: Embedded, Help: "embedded in the interface: every hook sees run.Env, a T"},
}

// Flags returns the markers that mean the same at points of every kind.
func Flags() []Marker {
	return slices.DeleteFunc(slices.Clone(Markers), func(m Marker) bool { return m.Rule == "" })
}

// Usage returns the marker as it is written in a spec, for example spec.Collect[T].
func (m Marker) Usage() string {
	if m.Typed {
		return "spec." + m.Name + "[T]"
	}
	return "spec." + m.Name
}
