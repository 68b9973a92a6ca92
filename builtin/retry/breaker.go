package retry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Breaker is a circuit breaker: it stops calling a model or a tool that keeps failing for temporary reasons.
//
// For example, the server of a model is down. After five failures in a row the breaker opens, and for 30 seconds each
// call of that model fails at once with an [OpenError]. [Model] does not repeat such a call, and [Fallback] asks the
// next model. After the pause a single call is a probe. If it succeeds, the breaker closes; if not, it stays open for
// another pause.
//
// Each model and each tool is counted by its name. Only the errors of [Temporary] count as failures. An error that is
// permanent is an answer, so it ends the row. A cancelled call does not count.
//
// Failures are counted for the runs of one conversation, because one user's failures must not block another user. A
// program whose users share a server sets Share: share.Everyone. Failures in a row that are more than an hour apart
// are not counted together.
//
// Breaker uses AroundLLM and AroundTool, inside [Model] and [Tools]. It uses the clock of the run and is safe for
// concurrent use; do not copy it after first use. The zero value is ready. Bind panics on a negative bound.
type Breaker struct {
	Failures  limit.Bound[int]           // in a row, after which the breaker opens; default 5
	Pause     limit.Bound[time.Duration] // for which it stays open; default 30 seconds
	Tools     []string                   // names of the tools to guard; "*" matches any text in a name; nil: all
	Temporary func(error) bool           // reports whether an error is a failure; nil: [Temporary]
	Share     share.Scope                // the runs whose failures count together

	mu       sync.Mutex
	circuits kit.Aging[circuitKey, *circuit]
}

// An OpenError is the error of a call that an open [Breaker] did not make, and of the call that opened it.
type OpenError struct {
	What  string        // the model or tool, for example "the tool search"
	Wait  time.Duration // until the next probe, rounded up to seconds; 0: a probe is running
	Cause error         // the failure that opened the breaker; nil: the call was not made
}

// Error says how long the pause lasts.
func (e *OpenError) Error() string {
	text := e.What + " failed too often and is being probed; try again later"
	if e.Wait > 0 {
		text = fmt.Sprintf("%s failed too often and is not called for %v", e.What, e.Wait)
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the Cause.
func (e *OpenError) Unwrap() error { return e.Cause }

// A circuitKey identifies a model or a tool of an owner.
type circuitKey struct {
	owner agent.Identity
	tool  bool
	name  string
}

// A circuit counts the failures of a model or a tool in a row. A success removes it.
type circuit struct {
	failures int
	last     time.Time // of the last failure
	opened   int       // how often it opened; results of calls from before do not count
	until    time.Time // end of the pause; zero: closed
	probing  bool
}

const (
	breakerFailures = 5
	breakerPause    = 30 * time.Second
	circuitAge      = time.Hour // after which failures are forgotten
)

// Bind adds the hook to its points.
func (b *Breaker) Bind(h *agent.Hooks) {
	kit.MustConfig("retry.Breaker", b.check())
	h.AroundLLM.Add(b, hookkit.Priority(attempts))
	h.AroundTool.Add(b, hookkit.Priority(attempts))
	kit.WatchTools("retry.Breaker", kit.ToolNames("Tools", b.Tools)...).AtStart(h)
}

func (b *Breaker) check() error {
	var none error
	if b.Failures == limit.AtMost(0) {
		none = errors.New("Failures is 0; give 1 or more")
	}
	return errors.Join(none, b.Failures.Check("Failures"), b.Pause.Check("Pause"), toolname.Check("Tools", b.Tools),
		b.Share.Check())
}

// AroundLLM calls the model, or fails if the breaker is open.
func (b *Breaker) AroundLLM(
	ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
) (answer hookkit.Answer[agent.LLMResponse], err error) {
	what := "the model"
	if req.Model != "" {
		what += " " + shorten.Line(req.Model, toolname.MaxDisplay)
	}
	key := circuitKey{b.Share.Owner(run), false, shorten.To(req.Model, toolname.MaxStored)}
	return guarded(ctx, b, run, key, what, func() (hookkit.Answer[agent.LLMResponse], error) {
		return next.Call(ctx, req)
	})
}

// AroundTool calls the tool, or fails if the breaker is open.
func (b *Breaker) AroundTool(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
) (answer hookkit.Answer[agent.ToolCallResult], err error) {
	if b.Tools != nil && !toolname.Match(b.Tools, call.Name) {
		return next.Call(ctx, call)
	}
	what := "the tool " + shorten.Line(call.Name, toolname.MaxDisplay)
	key := circuitKey{b.Share.Owner(run), true, shorten.To(call.Name, toolname.MaxStored)}
	return guarded(ctx, b, run, key, what, func() (hookkit.Answer[agent.ToolCallResult], error) {
		return next.Call(ctx, call)
	})
}

// guarded makes one call and counts its result.
func guarded[R any](
	ctx context.Context, b *Breaker, run *agent.Run, key circuitKey, what string,
	call func() (hookkit.Answer[R], error),
) (answer hookkit.Answer[R], err error) {
	opened, err := b.enter(run, key, what)
	if err != nil {
		return answer, err
	}
	result := unknown
	defer func() { // also if runtime.Goexit ends the call
		if b.leave(run, key, opened, result) { // no hook should repeat the call now
			err = &OpenError{What: what, Wait: b.pause(), Cause: err}
		}
	}()
	answer, err = call()
	switch {
	case err == nil:
		result = success
	case ctx.Err() != nil || isCancelled(err):
	case isTemporary(b.Temporary, err):
		result = failure
	default:
		result = success
	}
	return answer, err
}

// The results of a call, as a circuit counts them.
type outcome int

const (
	unknown outcome = iota // cancelled
	success
	failure
)

// enter returns an error if the circuit is open. Otherwise it returns how often the circuit has opened, for leave.
func (b *Breaker) enter(run *agent.Run, key circuitKey, what string) (opened int, err error) {
	now := kit.Env(run).Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.circuits.Values[key]
	switch {
	case c == nil || c.until.IsZero():
		return opened, nil
	case now.Before(c.until):
		wait := c.until.Sub(now) + time.Second - 1
		return opened, &OpenError{What: what, Wait: wait.Truncate(time.Second)}
	case c.probing:
		return opened, &OpenError{What: what}
	}
	c.probing = true
	return c.opened, nil
}

// leave counts the result of a call. It reports whether the circuit opens.
func (b *Breaker) leave(run *agent.Run, key circuitKey, opened int, result outcome) (opens bool) {
	now := kit.Env(run).Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.circuits.Values[key]
	if c != nil && c.opened != opened {
		return false // the call began before the circuit opened
	}
	switch {
	case result == success:
		delete(b.circuits.Values, key)
		return false
	case result == unknown:
		if c != nil {
			c.probing = false
		}
		return false
	case c == nil:
		c = &circuit{}
		b.circuits.Sweep(now, circuitAge, func(c *circuit) bool {
			return now.Sub(c.last) > circuitAge && now.After(c.until) && !c.probing
		})
		b.circuits.Values[key] = c
	case c.until.IsZero() && now.Sub(c.last) > circuitAge:
		c.failures = 0
	}
	c.failures++
	c.last = now
	if opens = c.probing || c.failures >= b.Failures.Or(breakerFailures); opens {
		c.opened++
		c.probing, c.until = false, now.Add(b.pause())
	}
	return opens
}

func (b *Breaker) pause() time.Duration { return b.Pause.Or(limit.AtMost(breakerPause)) }
