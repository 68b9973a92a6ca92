package session

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// WriteGate delays writes that would disturb active runs until no run is active.
//
// For example, the model improves a file of instructions that is part of the system prompt. A change during the run
// would break prompt caching. The tool calls [WriteGate.Write] with the context of its call, and the file changes after
// the last active run of the conversation has ended:
//
//	gate.Write(ctx, func(ctx context.Context) error { return os.WriteFile(path, text, 0o600) })
//
// A program must use one WriteGate for all agents that the writes concern. Each conversation has its own gate; the
// writes of a user, a tenant or everyone wait for all their runs if Share says so. Sub-runs count as runs. A run that
// starts during a write does not wait for it, so a write that takes long should replace its file at once.
//
// WriteGate adds to OnRunStart before all other hooks, and observes OnRunEnd after all other observers. The zero value
// is ready to use and safe for concurrent use; do not copy it after first use. Do not remove the hook while a run is
// active, because its writes would wait forever. Bind panics if Share is invalid.
type WriteGate struct {
	Share   share.Scope // the runs for which a write waits
	OnError func(error) // receives failures of delayed writes; nil: they are logged

	mu     sync.Mutex
	gates  map[agent.Identity]*gate // with active runs or writes
	runs   hookkit.PerRun[bool]     // the run is counted
	failed kit.Reporter
}

// A gate is the state of one owner.
type gate struct {
	active  int            // runs
	waiting []delayedWrite // until active is 0
	writing bool           // a goroutine makes the writes
}

// A delayedWrite is a write with the context of the caller.
type delayedWrite struct {
	ctx   context.Context
	write func(context.Context) error
}

// maxDelayed bounds the delayed writes of an owner.
const maxDelayed = 1000

// gatePriority is higher than all tiers.
const gatePriority = 10 * hookkit.Safety

// Bind adds the hook to its points.
func (g *WriteGate) Bind(h *agent.Hooks) {
	kit.MustConfig("session.WriteGate", g.Share.Check())
	h.OnRunStart.Add(g, hookkit.Priority(gatePriority))
	h.OnRunEnd.Observe(g, hookkit.Priority(kit.LastPriority))
}

// OnRunStart counts the run once.
func (g *WriteGate) OnRunStart(_ context.Context, run *agent.Run, _ agent.RunStart) (agent.OnRunStartOutcome, error) {
	owner := g.Share.Owner(run)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs.Do(run, func(counted *bool) {
		if !*counted {
			*counted = true
			g.gate(owner).active++
		}
	})
	return nil, nil
}

// gate returns the gate of an owner. The caller holds the lock.
func (g *WriteGate) gate(owner agent.Identity) *gate {
	if g.gates == nil {
		g.gates = make(map[agent.Identity]*gate)
	}
	if g.gates[owner] == nil {
		g.gates[owner] = new(gate)
	}
	return g.gates[owner]
}

// ObserveOnRunEnd makes the delayed writes after the last run. It also fires for runs that another hook ended at their
// start, and that were therefore not counted.
func (g *WriteGate) ObserveOnRunEnd(
	_ context.Context, run *agent.Run, _ agent.OnRunEndFired[agent.AgentResult],
) {
	owner := g.Share.Owner(run)
	g.mu.Lock()
	defer g.mu.Unlock()
	ended := false
	g.runs.Do(run, func(counted *bool) { ended, *counted = *counted, false })
	if ended {
		g.gate(owner).active--
		g.makeWrites(owner)
	}
}

// makeWrites makes the delayed writes of an owner until a run is active. The caller holds the lock.
func (g *WriteGate) makeWrites(owner agent.Identity) {
	at := g.gate(owner)
	for !at.writing && at.active == 0 && len(at.waiting) > 0 {
		next := at.waiting[0]
		at.waiting = at.waiting[1:]
		g.unlocked(at, func() { g.failed.Report("session.WriteGate", g.OnError, next.make()) })
	}
	if at.active == 0 && !at.writing {
		delete(g.gates, owner)
	}
}

// unlocked makes a write without the lock.
func (g *WriteGate) unlocked(at *gate, write func()) {
	at.writing = true
	g.mu.Unlock()
	write()
	g.mu.Lock()
	at.writing = false
}

// make makes the write, and converts a panic to an error.
func (w delayedWrite) make() error {
	_, err := kit.Recover(func() (struct{}, error) { return struct{}{}, w.write(w.ctx) })
	if err != nil {
		return fmt.Errorf("a write failed: %w", err)
	}
	return nil
}

// Write calls write now if no run of the owner is active, and returns its error. Otherwise it returns nil at once, and
// write is called after the last run has ended, in the order of the calls of Write. Then its error goes to OnError, and
// its context is no longer cancelled with that of the caller.
//
// The owner is that of the run that called the tool; outside a run, name it with agentspec.WithIdentity. Write returns
// an error if the context does not name the owner, or if 1000 writes are waiting.
func (g *WriteGate) Write(ctx context.Context, write func(context.Context) error) error {
	owner, err := g.Share.Address(agentspec.IdentityOf(ctx))
	if err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.gate(owner)
	if at.active == 0 && !at.writing {
		g.unlocked(at, func() { err = delayedWrite{ctx, write}.make() })
		g.makeWrites(owner)
		return err
	}
	if len(at.waiting) >= maxDelayed {
		return errors.New("nothing was written: too many writes wait for the end of the active runs")
	}
	at.waiting = append(at.waiting, delayedWrite{context.WithoutCancel(ctx), write})
	return nil
}
