package retry

import (
	"context"
	"errors"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

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
