package hookkit

import "context"

// A Flight is one fire under way. It is for generated code, which keeps in it what its deferred function needs: to
// capture little costs little.
type Flight struct {
	Ctx    context.Context
	Firing *Firing
	Hook   uint // the hook that is running, from 1; 0 for none
	Rank   int  // of the exit that leads a vote, from 1, the strongest; 0 for none
}

// Fail is for generated code: the hook failed with err, or, if that is nil, by an outcome that is not legal. It
// returns the failure if that ends the fire, nil if the next hook runs.
func (f *Flight) Fail(outcome any, err error) error {
	if err == nil {
		err = Illegal(outcome)
	}
	stop := f.Firing.Fail(f.Ctx, int(f.Hook-1), err)
	if stop != nil {
		f.Hook = 0
	}
	return stop
}

// Crashed is for generated code, for its deferred function: the hook did not return. recovered is what recover
// returned. The result is that of Fail.
func (f *Flight) Crashed(recovered any) error {
	return f.Firing.Crashed(f.Ctx, int(f.Hook-1), recovered)
}

// Rest is for generated code: the firing of the hooks behind the one that crashed.
func (f *Flight) Rest() *Firing {
	rest := *f.Firing
	rest.entries, rest.Rank = f.Firing.entries[f.Hook:], f.Rank
	return &rest
}

// Decided is for generated code: it notes that the hook decided.
func (f *Flight) Decided(outcome any) {
	if f.Firing.watch != nil {
		f.Firing.watch.decided(f.Firing.entries[f.Hook-1], outcome)
	}
}

// Voted is for generated code: it notes the hook's ballot for the exit of the rank, and reports whether that leads now.
func (f *Flight) Voted(outcome any, rank int) bool {
	leads := f.Rank == 0 || rank < f.Rank
	if leads {
		f.Rank = rank
	}
	if f.Firing.watch != nil {
		f.Firing.watch.voted(f.Firing.entries[f.Hook-1], outcome, leads)
	}
	return leads
}
