package hookimpl

import (
	"cmp"
	"context"
	"errors"
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
)

// An Invocation is the state of one fire while its hooks run. Generated code keeps it on the stack; its deferred
// function reads it after a panic.
type Invocation struct {
	Ctx  context.Context
	Hook uint // the running hook, counted from 1; 0 while none runs

	Snapshot *Snapshot

	rank    int      // of the exit that leads a vote, 1 for the strongest; 0 while no hook has voted
	refused *[]error // at a CheckAll point; nil while no hook has refused
}

// Context returns the context of the hooks in a fire with ctx.
func (s *Snapshot) Context(ctx context.Context) context.Context {
	if s.recording != nil && s.watched() {
		return s.recording
	}
	return Background(ctx)
}

// Background returns ctx, or the background context for a nil one.
func Background(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

func (inv *Invocation) entry() *entry { return inv.Snapshot.entries[inv.Snapshot.first+inv.Hook-1] }

// Fail records that the running hook failed: with err or, if err is nil, because the outcome is not legal. It returns
// the failure if that ends the fire, or nil if the next hook runs.
func (inv *Invocation) Fail(outcome any, err error, by *hookkit.By) error {
	if err == nil {
		err = Illegal(outcome)
	}
	return inv.failed(err, false, by)
}

// Crashed records, in the deferred function of a fire, that the running hook did not return. It takes the result of
// recover and returns as Fail does.
func (inv *Invocation) Crashed(recovered any, by *hookkit.By) error {
	return inv.failed(crashed(recovered), recovered == nil, by)
}

// failed records a failure of the running hook. At a CheckAll point it is a refusal. After a crash, the fires of the
// other hooks share the list of refusals.
func (inv *Invocation) failed(err error, gone bool, by *hookkit.By) error {
	e, hook := inv.entry(), inv.Hook
	inv.Hook = 0 // a failure handler that ends the goroutine, as testing's FailNow does, is no crash of the hook
	f, ends := inv.Snapshot.failed(inv.Ctx, e, err, gone, by)
	if inv.Snapshot.point.All {
		if inv.refused = cmp.Or(inv.refused, inv.Snapshot.refused); inv.refused == nil {
			inv.refused = new([]error)
		}
		for _, earlier := range *inv.refused {
			if ends { // and with the fire its goroutine, so that nobody receives the earlier refusals
				inv.Snapshot.report(inv.Ctx, earlier.(*hookkit.Failure))
			}
		}
		*inv.refused = append(*inv.refused, f)
	}
	if ends {
		return f
	}
	inv.Hook = hook
	return nil
}

// Refused returns the joined refusals at a CheckAll point, and sets bys to the hooks that made them. It is nil in the
// fire of a single hook, which is a part of another fire.
func (inv *Invocation) Refused(bys *[]hookkit.By) error {
	if inv.refused == nil || inv.Snapshot.single {
		return nil
	}
	if bys != nil {
		for _, f := range *inv.refused {
			*bys = append(*bys, failedBy(f.(*hookkit.Failure)))
		}
	}
	return errors.Join(*inv.refused...)
}

// Decided records the decision of the running hook.
func (inv *Invocation) Decided(outcome any, by *hookkit.By) {
	s := inv.Snapshot
	if by == nil && s.recording == nil {
		return
	}
	decided := inv.entry().decision(outcome)
	if by != nil {
		*by = decided
	}
	if s.recording != nil {
		s.recording.verdict.By = decided
	}
}

// Left records that the running hook left with an exit, which ends the fire.
func (inv *Invocation) Left(outcome any, by *hookkit.By) {
	inv.Decided(outcome, by)
	inv.Hook = 0
}

// Voted records the running hook's vote for the exit of that rank, and reports whether it leads now.
func (inv *Invocation) Voted(outcome any, rank int, by *hookkit.By) bool {
	leading := &inv.rank
	if inv.Snapshot.single {
		leading = &inv.Snapshot.rank
	}
	leads := *leading == 0 || rank < *leading
	if leads {
		*leading = rank
		inv.Decided(outcome, by)
	}
	if r := inv.Snapshot.recording; r != nil {
		r.ballots = append(r.ballots, hookkit.Ballot{By: inv.entry().decision(outcome), Exit: outcome})
	}
	return leads
}

// Contributed records that the running hook contributed n values. It is inlined, because most hooks contribute nothing.
func (inv *Invocation) Contributed(n int, by *[]hookkit.By) {
	if by != nil && n > 0 {
		inv.contributed(n, by)
	}
}

//go:noinline
func (inv *Invocation) contributed(n int, by *[]hookkit.By) {
	e := inv.entry()
	for range n {
		*by = append(*by, hookkit.By{Hook: e.Name, Site: e.Site, Decision: hookkit.DecisionCollect})
	}
}

// Rest returns, after a hook crashed at a FailOpen point, the snapshot of the next hook alone, or nil after the last.
// The generated code runs the hooks one by one then, so that each crash costs the same, however many there are. last is
// the previous result of Rest, nil at first.
func (inv *Invocation) Rest(last *Snapshot) *Snapshot {
	s := inv.Snapshot
	if last != nil {
		inv.rank = last.rank
	}
	i := inv.Hook
	if s.single || i >= uint(len(s.entries)) {
		return nil
	}
	inv.Hook++
	next := *s
	next.Hooks = reflect.ValueOf(s.Hooks).Slice(int(i), int(i+1)).Interface()
	next.single, next.first, next.rank, next.refused = true, i, inv.rank, inv.refused
	return &next
}
