package hookkit

// Condition is embedded in what a point's When adapter makes, so that listings show the description and the
// name of the hook inside. It is for generated code.
type Condition struct {
	desc  string
	given bool
	hook  any
}

// When is for generated code: the Condition of a When adapter of a hook, and whether it was given a function.
func When(desc string, given bool, hook any) Condition { return Condition{desc, given, hook} }

// conditional is a hook behind a When adapter.
type conditional interface{ condition() Condition }

func (c Condition) condition() Condition { return c }

// conditions returns the conditions that a hook stands behind, the outermost first, and the hook itself.
func conditions(hook any) ([]Condition, any) {
	var all []Condition
	for c, ok := hook.(conditional); ok; c, ok = hook.(conditional) {
		all = append(all, c.condition())
		hook = c.condition().hook
	}
	return all, hook
}
