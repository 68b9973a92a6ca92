package retry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

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
