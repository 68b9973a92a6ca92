package hookkit

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

// A Run is one run of the host: its environment, its identity, and the state that hooks keep for it (see
// [PerRun]). Make one with [NewRun] or [Run.Child]; hand its pointer to every fire. It may be used by
// any number of fires at once and must not be copied. Env is read by hooks and never written by hookkit: what
// it shares is for the host to guard.
type Run[E any] struct {
	Env E // what every hook sees beside its payload

	identity
}

// identity is what all runs have, whatever their environment.
type identity struct {
	id, parent, root string

	mu    sync.Mutex
	cells map[any]any // from *PerRun[T] to *cell[T]
}

// NewRun returns a new root run with an identity of its own.
func NewRun[E any](env E) *Run[E] {
	r := &Run[E]{Env: env}
	r.id = newID()
	r.root = r.id
	return r
}

// Child returns a new run that was started by this one. It shares nothing with it but the root's identity.
func (r *Run[E]) Child(env E) *Run[E] {
	c := NewRun(env)
	c.parent, c.root = r.id, r.root
	return c
}

// An AnyRun is any *Run[E]; no other type can be one.
type AnyRun interface {
	ID() string     // 16 hexadecimal digits, random; "" for a Run that NewRun did not make
	Parent() string // the ID of the run that started this one, "" at the root
	Root() string   // the ID of the run at the top, its own at the root
	state() *identity
}

// ID returns the identity of the run: 16 random hexadecimal digits.
func (r *identity) ID() string { return r.id }

// Parent returns the identity of the run that started this one, "" at the root.
func (r *identity) Parent() string { return r.parent }

// Root returns the identity of the run at the top of the tree, its own at the root.
func (r *identity) Root() string { return r.root }

// state is nil for a nil run.
func (r *Run[E]) state() *identity {
	if r == nil {
		return nil
	}
	return &r.identity
}

func newID() string { return fmt.Sprintf("%016x", rand.Uint64()) }
