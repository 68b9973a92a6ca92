package hookimpl

import (
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
)

// A Condition is embedded in the result of a point's When adapter, so that listings show the description and the name
// of the hook inside.
type Condition struct {
	desc string
	when any // a func(run *Run, payload P) bool; perhaps a nil one
	hook any
}

// When returns the Condition of a When adapter for the hook.
func When(desc string, when, hook any) Condition { return Condition{desc, when, hook} }

// holds calls the function of the condition.
func (c Condition) holds(run hookkit.AnyRun, payload any) bool {
	when := reflect.ValueOf(c.when)
	args := []reflect.Value{reflect.ValueOf(run), reflect.ValueOf(payload)}
	for i, arg := range args {
		if !arg.IsValid() { // a nil interface
			args[i] = reflect.Zero(when.Type().In(i))
		}
	}
	return when.Call(args)[0].Bool()
}

// conditional is implemented by the result of a When adapter.
type conditional interface{ condition() Condition }

func (c Condition) condition() Condition { return c }

// conditions returns the conditions around a hook, the outermost first, and the hook itself.
func conditions(hook any) ([]Condition, any) {
	var all []Condition
	for c, ok := hook.(conditional); ok; c, ok = hook.(conditional) {
		all = append(all, c.condition())
		hook = c.condition().hook
	}
	return all, hook
}
