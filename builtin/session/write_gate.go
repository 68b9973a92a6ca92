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
// would break prompt caching, and another run could read half of the file. The tool calls [WriteGate.Write] with the
// context of its call, and the file changes after the last active run of the conversation has ended:
//
//	gate.Write(ctx, func(ctx context.Context) error { return os.WriteFile(path, text, 0o600) })
//
// A program must use one WriteGate for all agents that the writes concern. Each conversation has its own gate; the
// writes of a user, a tenant or everyone wait for all their runs if Share says so. Sub-runs count as runs.
//
// WriteGate adds to OnRunStart before all other hooks, and observes OnRunEnd after all other observers. A run that
// starts during a write waits for it. The zero value is ready to use and safe for concurrent use; do not copy it after
// first use. Do not remove the hook while a run is active, because its writes would wait forever. Bind panics if Share
// is invalid.
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
	written chan struct{}  // closed after the writes in progress; nil: none are in progress
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

// OnRunStart counts the run, after the writes in progress.
func (g *WriteGate) OnRunStart(ctx context.Context, run *agent.Run, _ agent.RunStart) (agent.OnRunStartOutcome, error) {
	owner := g.Share.Owner(run)
	for {
		written := g.enter(owner, run)
		if written == nil {
			return nil, nil
		}
		select {
		case <-written:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// enter counts the run once, or returns a channel that is closed after the writes in progress.
func (g *WriteGate) enter(owner agent.Identity, run *agent.Run) (written chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.gates[owner]
	if at != nil && at.written != nil {
		return at.written
	}
	g.runs.Do(run, func(counted *bool) {
		if !*counted {
			*counted = true
			g.gate(owner).active++
		}
	})
	return nil
}

// gate returns the gate of an owner. The caller holds the lock.
func (g *WriteGate) gate(owner agent.Identity) *gate {
	at := g.gates[owner]
	if at == nil {
		if g.gates == nil {
			g.gates = make(map[agent.Identity]*gate)
		}
		at = new(gate)
		g.gates[owner] = at
	}
	return at
}

// ObserveOnRunEnd makes the delayed writes after the last run. It also fires for runs that another hook ended at their
// start, and that were therefore not counted.
func (g *WriteGate) ObserveOnRunEnd(
	_ context.Context, run *agent.Run, _ agent.OnRunEndFired[agent.AgentResult],
) {
	g.mu.Lock()
	owner, counted := g.Share.Owner(run), false
	g.runs.Do(run, func(c *bool) { counted, *c = *c, false })
	if !counted {
		g.mu.Unlock()
		return
	}
	at := g.gates[owner]
	if at.active--; at.active > 0 {
		g.mu.Unlock()
		return
	}
	at.written = make(chan struct{})
	g.mu.Unlock()
	g.leave(owner, at)
}

// tryWrite calls write and converts a panic to an error.
func tryWrite(ctx context.Context, write func(context.Context) error) error {
	_, err := kit.Recover(func() (struct{}, error) { return struct{}{}, write(ctx) })
	if err != nil {
		return fmt.Errorf("a write failed: %w", err)
	}
	return nil
}

// leave makes the delayed writes, and then lets runs start again.
func (g *WriteGate) leave(owner agent.Identity, at *gate) {
	for {
		g.mu.Lock()
		writes := at.waiting
		at.waiting = nil
		if len(writes) == 0 {
			close(at.written)
			delete(g.gates, owner)
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		for _, w := range writes {
			g.failed.Report("session.WriteGate", g.OnError, tryWrite(w.ctx, w.write))
		}
	}
}

// Write calls write now if no run of the owner is active, and returns its error. Otherwise it returns nil at once, and
// write is called after the last run has ended, in the order of the calls of Write. Then its error goes to OnError, and
// its context is no longer cancelled with that of the caller.
//
// The owner is that of the run that called the tool; outside a run, name it with agentspec.WithIdentity. Write returns
// an error if the context does not name the owner, or if 1000 writes are waiting. A write must not start a run of its
// owner.
func (g *WriteGate) Write(ctx context.Context, write func(context.Context) error) error {
	owner, err := g.Share.Address(agentspec.IdentityOf(ctx))
	if err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	g.mu.Lock()
	at := g.gate(owner)
	if at.active > 0 || at.written != nil {
		defer g.mu.Unlock()
		if len(at.waiting) >= maxDelayed {
			return errors.New("nothing was written: too many writes wait for the end of the active runs")
		}
		at.waiting = append(at.waiting, delayedWrite{context.WithoutCancel(ctx), write})
		return nil
	}
	at.written = make(chan struct{})
	g.mu.Unlock()
	defer g.leave(owner, at)
	return tryWrite(ctx, write)
}
