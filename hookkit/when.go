package hookkit

// Condition is embedded in what a point's When adapter makes, so that listings show the description and the
// name of the hook inside. It is for generated code.
type Condition struct {
	desc string
	hook any
}

// When is for generated code: the Condition of a When adapter.
func When(desc string, hook any) Condition { return Condition{desc, hook} }

// conditional is a hook behind a When adapter.
type conditional interface {
	condition() string
	inner() any
}

func (c Condition) condition() string { return c.desc }

func (c Condition) inner() any { return c.hook }
