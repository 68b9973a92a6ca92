package hookkit

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

// A Run is one run of the program, for example one turn of an agent or one request of a server: its environment, its
// identity, and the state that hooks keep for it in [PerRun]. Make one with the generated NewRun or with [Run.Child],
// and pass it to every fire of the run. It may be used by any number of fires at once and must not be copied.
type Run[E any] struct {
	// Env is visible to every hook in addition to its payload. hookkit never writes it; the program guards shared parts.
	Env E

	identity
}

// identity is the part of a Run that does not depend on its environment.
type identity struct {
	id, parent, root string

	mu    sync.Mutex
	cells map[*perRunKey]any // *cell[T] by the key of a PerRun[T]
}

// NewRun returns a new root run with an identity of its own.
func NewRun[E any](env E) *Run[E] {
	return NewRunWithID(newID(), env)
}

// NewRunWithID is NewRun with an identity that the program chose, for example that of the request that it serves. The
// identity must be unique, because hooks keep data of a run under it.
func NewRunWithID[E any](id string, env E) *Run[E] {
	r := &Run[E]{Env: env}
	r.id, r.root = id, id
	return r
}

// ResumeRun returns a run with the identity of one that began elsewhere, for example in the process that asks this one
// for a decision. It has no state of that run.
func ResumeRun[E any](env E, id, parent, root string) *Run[E] {
	r := &Run[E]{Env: env}
	r.id, r.parent, r.root = id, parent, root
	return r
}

// Child returns a new run that r started. It shares nothing with r but the identity of the root.
func (r *Run[E]) Child(env E) *Run[E] { return r.ChildWithID(newID(), env) }

// ChildWithID is Child with an identity that the program chose; see [NewRunWithID].
func (r *Run[E]) ChildWithID(id string, env E) *Run[E] {
	c := NewRunWithID(id, env)
	c.parent, c.root = r.id, r.root
	return c
}

// An AnyRun is a *Run[E] for some E. No other type implements it.
type AnyRun interface {
	ID() string     // as NewRun chose it or the program gave it; "" for a nil Run and for one made in another way
	Parent() string // the ID of the run that started this one; "" at the root
	Root() string   // the ID of the topmost run, its own at the root
	state() *identity
}

// ID returns the identity of the run, or "" for a nil run. NewRun and Child choose 16 random hexadecimal digits.
func (r *Run[E]) ID() string {
	if r == nil {
		return ""
	}
	return r.id
}

// Parent returns the identity of the run that started this one, or "" at the root.
func (r *Run[E]) Parent() string {
	if r == nil {
		return ""
	}
	return r.parent
}

// Root returns the identity of the topmost run, which is its own at the root.
func (r *Run[E]) Root() string {
	if r == nil {
		return ""
	}
	return r.root
}

// state returns nil for a nil run.
func (r *Run[E]) state() *identity {
	if r == nil {
		return nil
	}
	return &r.identity
}

func newID() string { return fmt.Sprintf("%016x", rand.Uint64()) }
