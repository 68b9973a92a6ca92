package observe

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Cost adds up the tokens and the price of all model calls.
//
// For example, with a Price for "small" of 1 dollar per million input tokens, a call of 2000 input tokens costs 0.002
// dollars. The price is that of the model that was requested in the attempt, or else of the model that the reply names.
// The price of a name also counts for the name with a date, for example small-2025-08-07, small-20250807 and
// small@20250807, unless that has a price of its own. A call of a model without a Price costs nothing, unless the reply
// has a Usage.Cost.
//
// Cached input tokens are part of the input and are billed once, at their own price. If a reply has no token
// counts, Cost estimates a quarter token per byte.
//
// In a run of package loop, the prices also apply to Usage.Cost of the run, and so Limits.Cost counts them. They
// include the model calls that hooks and sub-runs make, which are not part of the report. A run with Limits.Cost makes
// no call of a model without a Price. The zero Price says that a model is free.
//
// Cost uses OnRunStart and observes BeforeLLM and AfterLLM. The zero value counts tokens and logs each call at debug
// level. A Cost keeps the totals of all runs, is safe for concurrent use, and must not be copied. Bind panics if a
// number of a Price is negative or not finite.
type Cost struct {
	Prices map[string]Price // by name of the model; "": of models without a name
	OnCall func(CallCost)   // receives each call, concurrently; nil: calls are logged at debug level

	prompts hookkit.PerRun[lastPrompt]
	mu      sync.Mutex
	total   CostReport
}

// A Price is in US dollars per million tokens. A CacheRead or CacheWrite of 0 means the price of Input.
type Price struct {
	Input, Output, CacheRead, CacheWrite float64
}

// CallCost is the usage and cost of one model call.
type CallCost struct {
	Run string // ID of the run
	agent.Identity
	Model     string
	Usage     agent.Usage // Usage.Cost is in US dollars; 0 if unknown
	Estimated bool        // the tokens are an estimate
}

// CostReport is the sum of all calls.
type CostReport struct {
	Model          string  `json:"model"` // of the last call
	Calls          int     `json:"calls"`
	Input          int     `json:"input_tokens"` // including cached tokens
	Output         int     `json:"output_tokens"`
	CacheRead      int     `json:"cache_read_tokens"`
	CacheWrite     int     `json:"cache_write_tokens"`
	Total          int     `json:"total_tokens"`
	HitRatio       float64 `json:"cache_hit_ratio"` // CacheRead / (Input - CacheWrite)
	Dollars        float64 `json:"total_cost_usd"`
	EstimatedInput int     `json:"estimated_input_tokens"`
	EstimatedOut   int     `json:"estimated_output_tokens"`
	EstimatedCost  float64 `json:"estimated_cost_usd"`
	HasTokenData   bool    `json:"has_token_data"` // at least one call reported its usage
}

type lastPrompt struct {
	model    string
	bytes    int
	answered bool // by a hook instead of the model
}

// bytesOf returns the bytes of a prompt. It does not read the messages, which would take longer in each step.
func bytesOf(messages []agent.Message) (n int) {
	for _, m := range messages {
		n += size(m.Content, m.ToolCalls)
	}
	return n
}

// Bind adds the hook and the observers. The hook comes before those that call the model at OnRunStart.
func (c *Cost) Bind(h *agent.Hooks) {
	kit.MustConfig("observe.Cost", c.check())
	name := hookkit.Named("observe.Cost")
	h.OnRunStart.AddFunc(func(_ context.Context, run *agent.Run, _ agent.RunStart) (agent.OnRunStartOutcome, error) {
		if c.prices(run) {
			kit.Env(run).UsePricer(c)
		}
		return nil, nil
	}, name, hookkit.Priority(math.MaxInt))
	h.BeforeLLM.ObserveFunc(func(_ context.Context, run *agent.Run, fired agent.BeforeLLMFired[agent.LLMRequest]) {
		_, answered := fired.Exit.(agent.UseReply)
		c.prompts.Do(run, func(last *lastPrompt) {
			*last = lastPrompt{fired.Final.Model, bytesOf(fired.Final.Messages), answered}
		})
	}, name)
	h.AfterLLM.ObserveFunc(c.add, name)
}

func (c *Cost) check() error {
	for name, price := range c.Prices {
		for _, dollars := range []float64{price.Input, price.Output, price.CacheRead, price.CacheWrite} {
			if !(dollars >= 0) || math.IsInf(dollars, 1) {
				return fmt.Errorf("Prices[%q] is %+v; give prices that are finite and not negative", name, price)
			}
		}
	}
	return nil
}

// prices reports whether the loop prices the calls of the run with c.
func (c *Cost) prices(run *agent.Run) bool {
	env := kit.Env(run)
	return env != nil && env.UsePricer != nil && len(c.Prices) > 0
}

// add adds a reply as the model returned it, before hooks changed it.
func (c *Cost) add(ctx context.Context, run *agent.Run, fired agent.AfterLLMFired[agent.LLMResponse]) {
	reply := fired.Payload
	asked := c.prompts.Load(run)
	call := CallCost{
		Run: run.ID(), Identity: kit.Owner(run), Model: cmp.Or(reply.Model, asked.model), Usage: reply.Usage,
	}
	call.Estimated = call.Usage.Total() == 0 && !asked.answered
	if call.Estimated {
		call.Usage.Input, call.Usage.Output = asked.bytes/4, size(reply.Content, reply.ToolCalls)/4
	}
	// Otherwise the loop has priced the call by the model of the attempt, which hooks of AroundLLM may change.
	if price, ok := c.price(asked.model, reply.Model); ok && !c.prices(run) {
		call.Usage.Cost = price.Of(call.Usage)
	}
	call.Usage = agent.Usage{}.Plus(call.Usage) // without negative counts

	c.mu.Lock()
	r := &c.total
	r.Model = call.Model
	r.Calls++
	if call.Estimated {
		sum := agent.Usage{Input: r.EstimatedInput, Output: r.EstimatedOut, Cost: r.EstimatedCost}.Plus(call.Usage)
		r.EstimatedInput, r.EstimatedOut, r.EstimatedCost = sum.Input, sum.Output, sum.Cost
	} else {
		sum := agent.Usage{
			Input: r.Input, Output: r.Output, CacheRead: r.CacheRead, CacheWrite: r.CacheWrite, Cost: r.Dollars,
		}.Plus(call.Usage)
		r.HasTokenData = r.HasTokenData || call.Usage.Total() > 0
		r.Input, r.Output, r.CacheRead, r.CacheWrite = sum.Input, sum.Output, sum.CacheRead, sum.CacheWrite
		r.Total, r.Dollars = sum.Total(), sum.Cost
	}
	if cacheable := r.Input - r.CacheWrite; cacheable > 0 {
		r.HitRatio = float64(r.CacheRead) / float64(cacheable)
	}
	c.mu.Unlock()
	if c.OnCall != nil {
		c.OnCall(call)
		return
	}
	slog.DebugContext(ctx, "model call", "run", call.Run, kit.OwnerAttr(call.Identity), "model", call.Model,
		"input_tokens", call.Usage.Input, "output_tokens", call.Usage.Output, "cost_usd", call.Usage.Cost,
		"estimated", call.Estimated)
}

// Price implements agent.Pricer. It returns the cost that the reply adds to the report.
func (c *Cost) Price(req agent.LLMRequest, reply agent.LLMResponse) (cost float64, known bool) {
	price, known := c.price(req.Model, reply.Model)
	if reply.Usage.Total() == 0 {
		reply.Usage.Input += bytesOf(req.Messages) / 4
		reply.Usage.Output += size(reply.Content, reply.ToolCalls) / 4
	}
	return price.Of(reply.Usage), known
}

// price returns the price of the name that was requested or, if that has none, of the name in the reply, each with or
// without its date. A reply without a name says nothing about its model, so it does not have the price of "".
func (c *Cost) price(requested, answered string) (Price, bool) {
	for _, name := range []string{requested, cmp.Or(answered, requested)} {
		for _, name := range []string{name, undated(name)} {
			if price, ok := c.Prices[name]; ok {
				return price, true
			}
		}
	}
	return Price{}, false
}

// undated returns the name of a model without the date at its end.
func undated(name string) string {
	for _, layout := range []string{"-2006-01-02", "-20060102", "@20060102"} {
		if at := len(name) - len(layout); at > 0 {
			if _, err := time.Parse(layout, name[at:]); err == nil {
				return name[:at]
			}
		}
	}
	return name
}

// Of returns the cost of a usage in US dollars.
func (p Price) Of(u agent.Usage) float64 {
	fresh := max(u.Input-u.CacheRead-u.CacheWrite, 0)
	return (float64(fresh)*p.Input + float64(u.CacheRead)*cmp.Or(p.CacheRead, p.Input) +
		float64(u.CacheWrite)*cmp.Or(p.CacheWrite, p.Input) + float64(u.Output)*p.Output) / 1e6
}

// Report returns the sum of all calls so far.
func (c *Cost) Report() CostReport {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// String returns the report on one line.
func (r CostReport) String() string {
	if !r.HasTokenData && r.Calls > 0 {
		return fmt.Sprintf("calls=%d in=%d out=%d cost=$%.4f (est)",
			r.Calls, r.EstimatedInput, r.EstimatedOut, r.EstimatedCost)
	}
	return fmt.Sprintf("calls=%d in=%d out=%d cache_read=%d cache_write=%d hit_ratio=%.2f cost=$%.4f",
		r.Calls, r.Input, r.Output, r.CacheRead, r.CacheWrite, r.HitRatio, r.Dollars)
}

// size returns the number of bytes of a message and its calls.
func size(content string, calls []agent.ToolCallRequest) int {
	n := len(content)
	for _, c := range calls {
		n += len(c.Name) + len(c.Args)
	}
	return n
}
