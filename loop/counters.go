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
	models     map[string]agent.Usage // usage by model; replaced when it changes
	tools      map[string]int         // answered calls by tool; replaced when it changes after it was shared
	shared     bool                   // hooks have tools

	earlier atomic.Int64 // nanoseconds that the interrupted run took
}

// restore raises the counters to those of an interrupted run that the run continues. Negative counts are 0.
func (c *counters) restore(was agent.Counters) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps, c.modelCalls = max(c.steps, was.Step), max(c.modelCalls, was.ModelCalls)
	c.toolCalls, c.rejections = max(c.toolCalls, was.ToolCalls), max(c.rejections, was.Rejections)
	c.usage = atLeast(c.usage, agent.Usage{}.Plus(was.Usage))
	c.earlier.Store(max(c.earlier.Load(), int64(was.Elapsed)))
	models := maps.Clone(c.models)
	for name, u := range was.Models {
		models = added(models, name, atLeast(c.models[name], agent.Usage{}.Plus(u)))
	}
	c.models = models
	tools := make(map[string]int, len(was.Tools))
	for name, n := range c.tools {
		tools[name] = n
	}
	for name, n := range was.Tools {
		tools[name] = max(tools[name], n)
	}
	c.tools, c.shared = tools, false
}

// atLeast returns the greater of each number of two usages.
func atLeast(u, v agent.Usage) agent.Usage {
	return agent.Usage{
		Input: max(u.Input, v.Input), Output: max(u.Output, v.Output), CacheRead: max(u.CacheRead, v.CacheRead),
		CacheWrite: max(u.CacheWrite, v.CacheWrite), Cost: max(u.Cost, v.Cost),
	}
}

// added returns a copy of models with another usage of one of them.
func added(models map[string]agent.Usage, name string, u agent.Usage) map[string]agent.Usage {
	models = maps.Clone(models)
	if models == nil {
		models = make(map[string]agent.Usage)
	}
	models[name] = u
	return models
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

// model counts one call of the model with a name.
func (c *counters) model(name string, u agent.Usage) { c.count(1, name, u) }

// addUsage counts usage outside of the loop's own model calls, for example by a hook that calls a model itself.
func (c *counters) addUsage(name string, u agent.Usage) { c.count(0, name, u) }

func (c *counters) count(calls int, name string, u agent.Usage) {
	for ; c != nil; c = c.outer {
		c.mu.Lock()
		c.modelCalls = plus(c.modelCalls, calls)
		c.usage = c.usage.Plus(u)
		if u != (agent.Usage{}) {
			c.models = added(c.models, name, c.models[name].Plus(u))
		}
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
		Usage: c.usage, Models: c.models, MaxTokens: r.limits.Tokens,
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
