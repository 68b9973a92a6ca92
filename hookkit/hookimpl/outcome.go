package hookimpl

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
)

// A Replacing is the underlying type of the outcomes that Replace and Edit constructors make.
type Replacing[T any] struct {
	replacement
	To T
}

type replacement struct{ kind, reason string }

// Replaced returns the outcome of a Replace constructor.
func Replaced[T any](to T, reason string) Replacing[T] {
	return Replacing[T]{replacement{hookkit.DecisionReplace, reason}, to}
}

// Edited returns the outcome of an Edit constructor.
func Edited[T any](to T, reason string) Replacing[T] {
	return Replacing[T]{replacement{hookkit.DecisionEdit, reason}, to}
}

// decision describes a decision of the entry's hook.
func (e *entry) decision(outcome any) hookkit.By {
	decision, reason := describe(outcome)
	return hookkit.By{Hook: e.Name, Site: e.Site, Decision: decision, Reason: reason}
}

// answered describes the answer of the entry's hook at an around point. It does not refer to the entry, because an
// answer may outlive its fire.
func (e *entry) answered() any {
	return hookkit.By{Hook: e.Name, Site: e.Site, Decision: hookkit.DecisionAnswered}
}

// describe names an outcome and its reason. The reason of an exit is its field Reason, if that is a string. A method of
// the outcomes would be in the program once for each point.
func describe(outcome any) (decision, reason string) {
	v := reflect.ValueOf(outcome)
	if !v.IsValid() {
		return "", ""
	}
	t := v.Type()
	if t.Kind() == reflect.Struct {
		if t.NumField() > 0 && t.Field(0).Type == reflect.TypeFor[replacement]() {
			made := v.Field(0)
			return made.Field(0).String(), made.Field(1).String()
		}
		if f, ok := t.FieldByName("Reason"); ok && f.Type.Kind() == reflect.String {
			if r, err := v.FieldByIndexErr(f.Index); err == nil { // not inside a nil pointer
				reason = r.String()
			}
		}
	}
	return cmp.Or(t.Name(), t.String()), reason
}

// legal returns the outcomes that are legal at the point.
func (p *Point) legal() (all []hookkit.Outcome) {
	if p.Replace != nil {
		all = append(all, outcomeOf(hookkit.DecisionReplace, reflect.TypeOf(p.Replace).In(0), p.Replace))
	}
	if p.Edit != nil {
		all = append(all, outcomeOf(hookkit.DecisionEdit, reflect.TypeOf(p.Edit).In(0), p.Edit))
	}
	for _, x := range p.Exits {
		t := reflect.TypeOf(x)
		all = append(all, outcomeOf(t.Name(), t, nil))
	}
	return slices.Clip(all)
}

// outcomeOf describes an outcome that is made of a value of type t: by a Replace or Edit constructor or, for nil, an
// exit.
func outcomeOf(name string, t reflect.Type, construct any) hookkit.Outcome {
	return hookkit.Outcome{Name: name, Type: t, New: func(value any, reason string) (any, error) {
		v, ok := valueOf(t, value)
		if !ok {
			return nil, fmt.Errorf("hookkit: the value for %s is a %T; pass a %v", name, value, t)
		}
		if construct != nil {
			v = reflect.ValueOf(construct).Call([]reflect.Value{v, reflect.ValueOf(reason)})[0]
		}
		return v.Interface(), nil
	}}
}

// valueOf returns the value as a t. It reports false if the value has another type; nil is a value of any interface.
func valueOf(t reflect.Type, value any) (reflect.Value, bool) {
	v := reflect.ValueOf(value)
	if !v.IsValid() {
		return reflect.Zero(t), t.Kind() == reflect.Interface
	}
	return v, v.Type() == t || t.Kind() == reflect.Interface && v.Type().Implements(t)
}

// An UnmatchedError is the panic value of a Match function that was given an exit of no known type, for example one
// embedded in another struct. No fire returns such an exit. E is the interface of the point's exits. It names the
// point, so that a Match function with two exits is small enough to be inlined.
type UnmatchedError[E any] struct{ Exit E }

// Error names the Match function and the type of the exit.
func (u UnmatchedError[E]) Error() string {
	point := strings.TrimSuffix(reflect.TypeFor[E]().Name(), "Exit")
	return "hookkit: Match" + point + ": " + Illegal(u.Exit).Error()
}
