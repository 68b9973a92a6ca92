package agentspec

import (
	"context"
	"math/rand/v2"
	"time"
)

// Env is what every hook sees beside its payload, as run.Env. One Env belongs to one run. Its fields are
// set by the loop before OnRunStart and not changed; all of them are safe for concurrent use. After the
// run, a call of Model and an addition to Tools are errors. The zero value, and a nil Env, serve to fire
// single points in tests: the methods of Env work without any field.
type Env struct {
	Agent        string       // the name of the agent that runs
	Model        Model        // calls made through it count towards the run; they fire no point
	Tools        ToolTable    // the tools of this run
	Conversation Conversation // the stored conversation
	Tokens       TokenCounter // nil: the estimate. For messages of the conversation it only adds up earlier counts
	Random       rand.Source  // seeded by Seed; for rand.New
	Seed         uint64
	Clock        Clock // nil: the system's

	// Counters returns how far the run is; nil: all zero.
	Counters func() Counters
	// Exceeded fires OnBudgetExceeded for a budget that a hook holds; nil: nothing happens.
	Exceeded func(ctx context.Context, b BudgetExceeded)
	// RequestCompaction asks for a compaction before the next prompt; nil: nothing happens.
	RequestCompaction func(reason string)
	// UseCompactor has the run compact with c from now on, in the place of the compactor that the host gave it;
	// nil: nothing happens.
	UseCompactor func(c Compactor)
	// Subscribe has f called with the pieces of replies as they come in, in order; it makes the loop stream
	// if the model can. The function it returns ends that. Nil: nothing happens.
	Subscribe func(f func(Chunk)) (cancel func())
}

// Counters are how far a run is, at one moment.
type Counters struct {
	Step       int // steps begun
	MaxSteps   int // 0: no limit
	ModelCalls int // of the run, its hooks and its sub-runs
	ToolCalls  int // answered
	Usage      Usage
	MaxTokens  int // of Usage.Total; 0: no limit
	Elapsed    time.Duration
	MaxTime    time.Duration // 0: no limit
	Rejections int           // of answers
	Depth      int           // 0 for a run that no run started
}

// A Conversation is the stored conversation of a run.
type Conversation interface {
	ID() string // "" if the caller named none

	// Messages returns the messages so far, without the system prompt of the agent. They are shared and must
	// not be changed; appending to them is safe. The call costs the same however many they are.
	Messages() []Message
}

// A TokenCounter counts the tokens of messages, tool calls included. A Model that is one is exact and is
// used; otherwise the loop uses [EstimateTokens].
//
// The count of several messages must be the sum of their counts: a loop counts each message once, when it is
// new, and adds up. What a provider adds to each request, for example three tokens that begin the reply, is
// left out.
type TokenCounter interface {
	CountTokens(messages []Message) int
}

// A Clock tells the time. Sleep returns nil after d, or the context's error when ctx is done before.
type Clock interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
}

// SystemClock is the clock of the machine. Its zero value is ready to use.
type SystemClock struct{}

// Now returns the current time, with its monotonic reading.
func (SystemClock) Now() time.Time { return time.Now() }

// Sleep waits for d or until ctx is done.
func (SystemClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Now returns the time of the run's clock.
func (e *Env) Now() time.Time { return e.clock().Now() }

// Sleep waits by the run's clock.
func (e *Env) Sleep(ctx context.Context, d time.Duration) error { return e.clock().Sleep(ctx, d) }

func (e *Env) clock() Clock {
	if e == nil || e.Clock == nil {
		return SystemClock{}
	}
	return e.Clock
}

// CountTokens counts by the run's counter, or estimates where there is none.
func (e *Env) CountTokens(messages []Message) int {
	if e == nil || e.Tokens == nil {
		return EstimateTokens(messages)
	}
	return e.Tokens.CountTokens(messages)
}

// Count returns how far the run is.
func (e *Env) Count() Counters {
	if e == nil || e.Counters == nil {
		return Counters{}
	}
	return e.Counters()
}

// ReportBudget fires OnBudgetExceeded for a budget that the caller holds.
func (e *Env) ReportBudget(ctx context.Context, b BudgetExceeded) {
	if e != nil && e.Exceeded != nil {
		e.Exceeded(ctx, b)
	}
}
