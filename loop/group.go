package loop

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hookgen/hookgen/generated/agent"
)

// dispatch carries out the permitted calls in call order, group by group. AfterTool fires for the calls of a group when
// all of them have returned. No group follows if the run has ended, or if a call of the group waits for another run.
func (b *batch) dispatch() {
	b.dispatchGroups()
	if !b.r.state.over() && slices.ContainsFunc(b.calls, func(c *call) bool { return c.question != nil || c.waiting() }) {
		b.askAll() // the run will be suspended
	}
}

func (b *batch) dispatchGroups() {
	parallel := b.r.limits.Parallel
	if parallel <= 0 {
		parallel = len(b.calls)
	}
	d := &dispatcher{r: b.r, slots: make(chan struct{}, parallel)}
	permitted := make([]*call, 0, len(b.calls))
	for rest := b.calls; len(rest) > 0 && !b.r.state.over(); {
		group := rest[:b.group(rest)]
		rest = rest[len(group):]
		if first := b.first(group); first != nil && !b.mayRun(first) || b.r.state.over() {
			return
		}
		permitted = permitted[:0]
		for _, c := range group {
			if b.pending(c) && (!c.waits || slices.ContainsFunc(c.spawned, b.r.resumes)) {
				permitted = append(permitted, c)
			}
		}
		d.run(permitted)
		if slices.ContainsFunc(group, (*call).waiting) {
			return
		}
		if !b.r.state.over() { // otherwise the calls that have not run get their results first
			b.afterAll(group)
		}
	}
	if last := b.last; last != nil && !b.r.state.over() {
		b.mayRun(last)
	}
}

// first returns the first call of a group that is to be carried out, or nil.
func (b *batch) first(group []*call) *call {
	if at := slices.IndexFunc(group, b.pending); at >= 0 {
		return group[at]
	}
	return nil
}

// mayRun asks a person about a call if a hook wants that. It reports false if the answer comes later.
func (b *batch) mayRun(c *call) bool {
	if c.ask != nil {
		b.askAbout(c, false)
	}
	return c.question == nil
}

// group returns the length of the first group of calls: a call that runs alone, or consecutive calls that may run in
// parallel. Only the first call of a group may wait for a person. Calls that do not run belong to any group.
func (b *batch) group(calls []*call) int {
	some, alone := false, false
	for i, c := range calls {
		if !b.pending(c) {
			continue
		}
		is := c.entry != nil && !c.entry.schema.ReadOnly && !c.entry.schema.Concurrent
		if some && (alone || is || c.waitsForPerson()) {
			return i
		}
		some, alone = true, is
	}
	return len(calls)
}

// pending reports whether a call is still to be carried out, with others or alone.
func (b *batch) pending(c *call) bool { return c.result == nil && c != b.last }

// waiting reports whether a call waits for a run that it has started.
func (c *call) waiting() bool { return c.waits && c.result == nil }

// A dispatcher dispatches the calls of a batch.
type dispatcher struct {
	r        *run
	running  sync.WaitGroup // in other goroutines
	slots    chan struct{}
	stopping atomic.Bool // a tool asked to stop the run
}

// run dispatches the calls of a group in parallel and waits for all of them.
func (d *dispatcher) run(calls []*call) {
	r := d.r
	defer func() { // waits also if a hook ends the goroutine
		d.running.Wait()
		if r.ctx.Err() != nil {
			r.cancelled()
		}
		for _, c := range calls {
			if c.stopsRun {
				r.stop(agent.CauseStopRequested, map[string]any{"tool": c.req.Name, "call": c.req.ID},
					"The tool %s stopped the run: %s", c.req.Name, c.result.Err)
			}
		}
	}()
	for i, c := range calls {
		d.slots <- struct{}{}
		if r.ctx.Err() != nil || d.stopping.Load() {
			<-d.slots
			c.markNotRun()
			continue
		}
		if i == len(calls)-1 {
			d.dispatch(c) // in this goroutine, which would only wait
			break
		}
		d.running.Add(1)
		c.dispatcher = d
		r.crew.do(c)
	}
}

// dispatch dispatches a call that has a slot.
func (d *dispatcher) dispatch(c *call) {
	defer func() { <-d.slots }()
	d.r.dispatch(c)
	if c.stopsRun {
		d.stopping.Store(true)
	}
}

// do dispatches the call in a goroutine of the crew.
func (c *call) do() {
	defer c.dispatcher.running.Done()
	c.dispatcher.dispatch(c)
}
