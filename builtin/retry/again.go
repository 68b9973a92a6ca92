package retry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Model repeats a call to the model that failed for a temporary reason.
//
// For example, the model is overloaded. Model calls it again after about one second, then after two and four. After
// four attempts it gives up, and the run fails with the error of the last one. Each wait is drawn from half to one and
// a half of its nominal length, so that many runs do not return at the same moment.
//
// If the error asks for a wait (Retry-After), Model waits at least that long, or gives up at once if that is longer
// than MaxWait. It also gives up if the tokens of the run are used up or if the wait would end after the time limit of
// the run. The errors that are repeated are those of [Temporary]. A cancellation ends a wait at once.
//
// Each attempt counts as a call of the model. A reply that was streamed in part starts again, and its chunks have a
// higher Attempt. Calls that other hooks make with run.Env.Model fire no point and are not repeated.
//
// Model uses AroundLLM and keeps no state. The zero value is ready. Bind panics on a negative bound and on no attempts.
type Model struct {
	Attempts  limit.Bound[int]           // for one prompt, the first included; default 4
	FirstWait time.Duration              // before the second attempt; 0: a second. Each further wait is twice as long
	MaxWait   limit.Bound[time.Duration] // for one attempt; default a minute
	Temporary func(error) bool           // reports whether to try again after an error; nil: [Temporary]
}

// Bind adds the hook to AroundLLM.
func (m *Model) Bind(h *agent.Hooks) {
	kit.MustConfig("retry.Model", m.policy().check())
	h.AroundLLM.Add(m, hookkit.Priority(retries))
}

func (m *Model) policy() policy { return policy{m.Attempts, m.FirstWait, m.MaxWait, m.Temporary} }

// AroundLLM calls the model until it replies or must not be called again.
func (m *Model) AroundLLM(
	ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
) (hookkit.Answer[agent.LLMResponse], error) {
	return again(ctx, run, m.policy(), 4, func() (hookkit.Answer[agent.LLMResponse], error) {
		return next.Call(ctx, req)
	})
}

// Tools repeats a call of a tool that failed for a temporary reason.
//
// For example, the search service does not answer in time. Tools calls search again after about one second, and once
// more after two. The model sees only the last result. If all three attempts fail, it sees the last error.
//
// A call that failed may have changed something before it failed. Tools therefore repeats only calls of tools whose
// schema has ReadOnly or Idempotent, and of those in Idempotent. The waits and the errors that are repeated are as for
// [Model].
//
// Tools uses AroundTool and keeps no state. The zero value is ready. Bind panics on a negative bound, on no attempts,
// and on an empty name.
type Tools struct {
	// Idempotent has the names of further tools that may be called twice without harm, such as "set_title". "*" matches
	// any text in a name.
	Idempotent []string
	Attempts   limit.Bound[int]           // for one call, the first included; default 3
	FirstWait  time.Duration              // before the second attempt; 0: a second. Each further wait is twice as long
	MaxWait    limit.Bound[time.Duration] // for one attempt; default a minute
	Temporary  func(error) bool           // reports whether to try again after an error; nil: [Temporary]
}

// Bind adds the hook to AroundTool.
func (t *Tools) Bind(h *agent.Hooks) {
	kit.MustConfig("retry.Tools", errors.Join(toolname.Check("Idempotent", t.Idempotent), t.policy().check()))
	kit.WatchTools("retry.Tools", kit.ToolNames("Idempotent", t.Idempotent)...).
		AroundTool(h, t, hookkit.Priority(retries))
}

func (t *Tools) policy() policy { return policy{t.Attempts, t.FirstWait, t.MaxWait, t.Temporary} }

// AroundTool calls the tool until it succeeds or must not be called again.
func (t *Tools) AroundTool(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
) (hookkit.Answer[agent.ToolCallResult], error) {
	if !kit.IsRepeatable(run, call.Name) && !toolname.Match(t.Idempotent, call.Name) {
		return next.Call(ctx, call)
	}
	return again(ctx, run, t.policy(), 3, func() (hookkit.Answer[agent.ToolCallResult], error) {
		return next.Call(ctx, call)
	})
}

// Priorities in AroundLLM and AroundTool, outermost first.
const (
	outside  = hookkit.Mutation + 2 // Fallback
	retries  = hookkit.Mutation + 1 // Model, Tools
	attempts = hookkit.Mutation     // Breaker
)

// A policy says how often and when to call again.
type policy struct {
	attempts  limit.Bound[int]
	firstWait time.Duration
	maxWait   limit.Bound[time.Duration]
	temporary func(error) bool
}

func (p policy) check() error {
	var errs []error
	if p.attempts == limit.AtMost(0) {
		errs = append(errs, errors.New("Attempts is 0; give 1 or more, 1 to try once"))
	}
	if p.firstWait < 0 {
		errs = append(errs, fmt.Errorf("FirstWait is %v; give 0 for a second, or more", p.firstWait))
	}
	return errors.Join(append(errs, p.attempts.Check("Attempts"), p.maxWait.Check("MaxWait"))...)
}

// again calls an attempt until it succeeds, fails permanently or must not be repeated. It returns the last answer and
// error unchanged, so that the caller can still find the type of the error.
func again[R any](
	ctx context.Context, run *agent.Run, p policy, preset limit.Bound[int],
	attempt func() (hookkit.Answer[R], error),
) (hookkit.Answer[R], error) {
	// The waits are on the clock of the run, which backoff.Retry cannot use.
	most, longest := p.attempts.Or(preset), p.maxWait.Or(limit.AtMost(time.Minute))
	waits := backoff.NewExponentialBackOff()
	waits.Multiplier, waits.MaxInterval = 2, longest
	waits.InitialInterval = time.Second
	if p.firstWait > 0 {
		waits.InitialInterval = p.firstWait
	}
	waits.Reset()
	for number := 1; ; number++ {
		answer, err := attempt()
		if err == nil || number >= most || ctx.Err() != nil || !isTemporary(p.temporary, err) {
			return answer, err
		}
		asked := retryAfter(err)
		if asked > longest {
			return answer, err
		}
		wait := max(min(waits.NextBackOff(), longest), asked)
		if !affords(run, wait) || kit.Env(run).Sleep(ctx, wait) != nil {
			return answer, err
		}
	}
}

// isTemporary applies the rule of a hook to an error.
func isTemporary(rule func(error) bool, err error) bool {
	if rule == nil {
		rule = Temporary
	}
	return rule(err)
}

// affords reports whether the budget of the run allows another attempt after a wait. Each attempt is a call that the
// loop counts, but the loop checks its limits only between steps.
func affords(run *agent.Run, wait time.Duration) bool {
	c := kit.Env(run).Count()
	return (c.MaxTokens <= 0 || c.Usage.Total() < c.MaxTokens) && (c.MaxTime <= 0 || wait < c.MaxTime-c.Elapsed)
}
