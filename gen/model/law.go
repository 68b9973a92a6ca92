package model

import "strings"

// A Law says how the hooks of a point run, what they may decide, and the consequence of a failing hook. The model of a
// spec, its surface and its summary have the same law, and T is the form in which they have types.
type Law[T TypeForm] struct {
	Plain
	Edit    T      `json:"edit,omitzero"`    // T of Edit[T]; zero without Edit
	Collect T      `json:"collect,omitzero"` // T of Collect[T], alone or beside decisions; zero without it
	Around  T      `json:"around,omitzero"`  // R of Around[R]
	Key     Key[T] `json:"key,omitzero"`     // hooks may be registered for some keys only; zero without a key
}

// Plain is the part of a law that has no types.
type Plain struct {
	Kind      Kind     `json:"law"`
	Policy    Policy   `json:"policy,omitempty"`  // Collect alone without a policy is FailOpen
	List      string   `json:"results,omitempty"` // the result list as written, without the qualifier of the markers
	Reverse   bool     `json:"reverse,omitempty"`
	Replace   bool     `json:"replace,omitempty"`
	EditField string   `json:"editField,omitempty"` // the payload's field that Edit changes
	Exits     []string `json:"exits,omitempty"`     // in the order of the list: the first is the strongest in a vote
}

// A Key is the key of a point: a field of its payload, by which hooks may be registered.
type Key[T TypeForm] struct {
	Name  string `json:"name"`  // points with the same key share the name
	Field string `json:"field"` // the field of the payload, for example Name or Call.Name
	Type  T      `json:"type"`
}

// IsZero reports whether the point has no key.
func (k Key[T]) IsZero() bool { return k.Name == "" }

// A TypeForm is a form of a type, for example its expression or its text. The zero value is no type.
type TypeForm interface {
	IsZero() bool
	String() string
}

// LawWith returns the same law with its types in another form.
func LawWith[To, From TypeForm](l Law[From], convert func(From) To) Law[To] {
	return Law[To]{
		Plain: l.Plain, Edit: convert(l.Edit), Collect: convert(l.Collect), Around: convert(l.Around),
		Key: Key[To]{Name: l.Key.Name, Field: l.Key.Field, Type: convert(l.Key.Type)},
	}
}

// A Kind is the way in which the hooks of a point run.
type Kind int

// The kinds, with the entries of a result list that select them. A list with several selects the last of them here.
const (
	Observe  Kind = iota // nothing
	Collect              // Collect alone
	Flow                 // Replace, Edit, exits
	Vote                 // Vote and exits
	Around               // Around
	Check                // Check
	CheckAll             // CheckAll
)

var kindNames = []string{"observe", "collect", "flow", "vote", "around", "check", "check-all"}

// String returns the kind in lower case, for example "observe".
func (k Kind) String() string { return kindNames[k] }

// MarshalText returns the kind as String does.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// A Policy decides the consequence of a failing hook.
type Policy int

// The policies. Points of the kinds Observe, Check, CheckAll and Around have NoPolicy, because a policy would have no
// effect there.
const (
	NoPolicy Policy = iota
	FailClosed
	FailOpen
)

var policyNames = []string{"", "fail-closed", "fail-open"}

// String returns "fail-closed", "fail-open", or "" for NoPolicy.
func (p Policy) String() string { return policyNames[p] }

// MarshalText returns the policy as String does.
func (p Policy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Edits reports whether hooks may change one field of the payload.
func (l Law[T]) Edits() bool { return !l.Edit.IsZero() }

// Rewrites reports whether hooks may change the payload in some way. Fire then takes a pointer.
func (l Law[T]) Rewrites() bool { return l.Replace || l.Edits() }

// Leaves reports whether hooks may end a fire with an exit.
func (l Law[T]) Leaves() bool { return len(l.Exits) > 0 }

// Collects reports whether hooks contribute values, alone or beside decisions.
func (l Law[T]) Collects() bool { return !l.Collect.IsZero() }

// Decides reports whether hooks return an outcome.
func (l Law[T]) Decides() bool { return l.Kind == Flow || l.Kind == Vote }

// DecidedByOne reports whether a single hook can decide a fire.
func (l Law[T]) DecidedByOne() bool { return l.Decides() || l.Kind == Check || l.Kind == Around }

// FailureEnds reports whether every failure ends the fire.
func (l Law[T]) FailureEnds() bool { return l.Policy == FailClosed || l.Kind == Check }

// ReturnsErr reports whether Fire returns an error.
func (l Law[T]) ReturnsErr() bool { return l.DecidedByOne() || l.FailureEnds() || l.Kind == CheckAll }

// CreditsMany reports whether FireBy returns a list of hooks: one for each contribution, or for each refusal.
func (l Law[T]) CreditsMany() bool { return l.Collects() || l.Kind == CheckAll }

// Brief returns the law in a few words, for example "flow: replace, edit Text". Exits are left out.
func (l Law[T]) Brief() string {
	brief := l.Kind.String()
	switch l.Kind {
	case Collect:
		brief += " " + l.Collect.String()
	case Around:
		brief += " " + l.Around.String()
	default:
		var may []string
		if l.Replace {
			may = append(may, "replace")
		}
		if l.Edits() {
			may = append(may, "edit "+l.EditField)
		}
		if l.Collects() {
			may = append(may, "collect "+l.Collect.String())
		}
		if len(may) > 0 {
			brief += ": " + strings.Join(may, ", ")
		}
	}
	for _, m := range Flags() {
		if *m.Flag(&l.Plain) {
			brief += ", " + m.Brief
		}
	}
	if !l.Key.IsZero() {
		brief += ", key " + l.Key.Name
	}
	return brief
}

// PolicyBrief returns the policy in two words, or "" at a point without one.
func (l Law[T]) PolicyBrief() string {
	switch l.Policy {
	case FailClosed:
		return "fails closed"
	case FailOpen:
		return "fails open"
	}
	return ""
}
