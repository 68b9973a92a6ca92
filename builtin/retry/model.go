package retry

import (
	"context"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
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
