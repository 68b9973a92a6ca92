package loop

import (
	"math/rand/v2"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
)

// counters hold the usage of a run. Usage also counts towards the runs that started it.
type counters struct {
	outer *counters // the counters of the run that started this one

	mu         sync.Mutex
	steps      int
	modelCalls int
	toolCalls  int
	rejections int
	usage      agent.Usage
}

// model counts one model call.
func (c *counters) model(u agent.Usage) {
	for ; c != nil; c = c.outer {
		c.mu.Lock()
		c.modelCalls = plus(c.modelCalls, 1)
		c.usage = c.usage.Plus(u)
		c.mu.Unlock()
	}
}

// addUsage counts usage outside of the loop's own model calls, for example by a hook that calls a model itself.
func (c *counters) addUsage(u agent.Usage) {
	for ; c != nil; c = c.outer {
		c.mu.Lock()
		c.usage = c.usage.Plus(u)
		c.mu.Unlock()
	}
}

func (c *counters) used() (usage agent.Usage, modelCalls int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.usage, c.modelCalls
}

// add adds n to one of the counters and returns the new value.
func (c *counters) add(which *int, n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	*which = plus(*which, n)
	return *which
}

// plus adds two counts. The sum is at most math.MaxInt, so that a wrong count of a model or of a resumed run cannot
// make a limit unreachable.
func plus(a, b int) int { return agent.Usage{Input: a, Output: b}.Total() }

func (c *counters) get(which *int) int { return c.add(which, 0) }

// countersForEnv returns the counters and limits of the run, for Env.
func (r *run) countersForEnv() agent.Counters {
	c := &r.counts
	c.mu.Lock()
	defer c.mu.Unlock()
	return agent.Counters{
		Step: c.steps, MaxSteps: r.limits.Steps,
		ModelCalls: c.modelCalls, ToolCalls: c.toolCalls,
		Usage: c.usage, MaxTokens: r.limits.Tokens,
		Elapsed: r.elapsed(), MaxTime: r.limits.Time,
		Rejections: c.rejections, Depth: r.depth,
	}
}

// source is a random source that is safe for concurrent use.
type source struct {
	mu  sync.Mutex
	pcg *rand.PCG
}

func newSource(seed uint64) *source { return &source{pcg: rand.NewPCG(seed, 0)} }

// Uint64 returns the next number.
func (s *source) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pcg.Uint64()
}
