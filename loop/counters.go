package loop

import (
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"

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
	tools      map[string]int // answered calls by tool; replaced when it changes after it was shared
	shared     bool           // hooks have tools

	earlier atomic.Int64 // nanoseconds that the interrupted run took
}

// restore raises the counters to those of an interrupted run that the run continues. Negative counts are 0.
func (c *counters) restore(was agent.Counters) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps, c.modelCalls = max(c.steps, was.Step), max(c.modelCalls, was.ModelCalls)
	c.toolCalls, c.rejections = max(c.toolCalls, was.ToolCalls), max(c.rejections, was.Rejections)
	u, v := c.usage, agent.Usage{}.Plus(was.Usage)
	c.usage = agent.Usage{
		Input: max(u.Input, v.Input), Output: max(u.Output, v.Output), CacheRead: max(u.CacheRead, v.CacheRead),
		CacheWrite: max(u.CacheWrite, v.CacheWrite), Cost: max(u.Cost, v.Cost),
	}
	c.earlier.Store(max(c.earlier.Load(), int64(was.Elapsed)))
	tools := make(map[string]int, len(was.Tools))
	for name, n := range c.tools {
		tools[name] = n
	}
	for name, n := range was.Tools {
		tools[name] = max(tools[name], n)
	}
	c.tools, c.shared = tools, false
}

// answered counts an answered call. The tool is "" for a call that does not count for its tool.
func (c *counters) answered(tool string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.toolCalls = plus(c.toolCalls, 1)
	if tool == "" {
		return
	}
	if c.shared {
		c.tools, c.shared = maps.Clone(c.tools), false
	}
	c.tools[tool] = plus(c.tools[tool], 1)
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
	c.shared = true
	return agent.Counters{
		Step: c.steps, MaxSteps: r.limits.Steps,
		ModelCalls: c.modelCalls, ToolCalls: c.toolCalls, Tools: c.tools,
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

// position returns the position in the sequence of numbers, for restore.
func (s *source) position() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pcg.MarshalBinary()
}

func (s *source) restore(position []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pcg.UnmarshalBinary(position)
}

// Uint64 returns the next number.
func (s *source) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pcg.Uint64()
}
