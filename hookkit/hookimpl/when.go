package hookimpl

// A Condition is embedded in the result of a point's When adapter, so that listings show the description and the name
// of the hook inside.
type Condition struct {
	desc  string
	given bool
	hook  any
}

// When returns the Condition of a When adapter for the hook. given is false if the condition's function is nil.
func When(desc string, given bool, hook any) Condition { return Condition{desc, given, hook} }

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
