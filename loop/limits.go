package loop

import (
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// Limits bound a run. For a field with a default, a negative value means no limit. A run also observes the budgets
// (Tokens, Cost, Time) of the runs that started it, because its usage counts towards them.
//
// With a limit on Cost, the price of each model call must be known: a hook sets an [agent.Pricer], for example
// observe.Cost, or the model is one. The run fails before its first model call if the price of the requested model is
// unknown. It stops with token_limit if that happens later, for example to a fallback, because nobody knows then how
// much was spent.
type Limits struct {
	Steps  int           // of the run; 0: 50. The run stops with steps_limit
	Tokens int           // of input and output together; 0: no limit. The run stops with token_limit
	Cost   float64       // in the unit of Usage.Cost; 0: no limit. See above. The run stops with token_limit
	Time   time.Duration // checked between steps; 0: no limit. The run stops with time_limit

	Rejections   int // of answers; 0: 3. At the limit the run stops with retry_limit
	EmptyReplies int // in a row, or replies with a single call that was cut; 0: 3. Then the run stops with retry_limit
	Compactions  int // of a prompt that the model refused as too long; 0: 1. After them the run fails
	Depth        int // of runs started by runs; 0: 16. The limits of the runs that started a run count too

	Calls    int // of one reply; 0: 256. The calls after them are refused and reach no hook
	Parallel int // calls that run at once, of tools that are ReadOnly or Concurrent; 0: 8
	ArgBytes int // of one call; 0: 1 MiB. The call fails
	Briefing int // tokens of the briefing of one prompt; 0: 8000. Texts beyond it are dropped
	Window   int // tokens of one request and its reply; 0: as reported by the model, else unknown

	ModelTime    time.Duration // of one call; 0: 10 minutes
	ToolTime     time.Duration // of one attempt; 0: 5 minutes
	ApprovalTime time.Duration // to answer one approval request; 0: 5 minutes
	Grace        time.Duration // to return after the context is done; 0: 1 second
}

// resolved returns the limits with defaults filled in and 0 for "no limit". Grace is always positive.
func (l Limits) resolved(m agent.Model) Limits {
	preset(&l.Steps, 50)
	preset(&l.Tokens, 0)
	preset(&l.Rejections, 3)
	preset(&l.EmptyReplies, 3)
	preset(&l.Compactions, 1)
	preset(&l.Depth, 16)
	preset(&l.Calls, 256)
	preset(&l.Parallel, 8)
	preset(&l.ArgBytes, 1<<20)
	preset(&l.Briefing, 8000)
	preset(&l.Time, 0)
	preset(&l.ModelTime, 10*time.Minute)
	preset(&l.ToolTime, 5*time.Minute)
	preset(&l.ApprovalTime, 5*time.Minute)
	preset(&l.Grace, time.Second)
	l.Cost = max(l.Cost, 0)
	if l.Window == 0 {
		if w, ok := m.(agent.ContextWindow); ok {
			l.Window = w.ContextWindow()
		}
	}
	l.Window = max(l.Window, 0)
	return l
}

// preset sets a limit that is 0, and turns off a negative one.
func preset[T int | time.Duration](limit *T, to T) {
	if *limit == 0 {
		*limit = to
	}
	*limit = max(*limit, 0)
}
