package limit

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Tokens stops a run that has used too many tokens. The input and output tokens of all its model calls count together,
// so a conversation of 50,000 tokens that is sent ten times counts as 500,000.
//
// Points: ShouldStop. Tier: Safety. State: none.
//
// When the run has used Max tokens, it ends before its next step. The cause is token_limit, and the message is "Token
// limit reached: 120/100". The detail has the keys totalTokens and maxTotalTokens, and OnBudgetExceeded is fired. Usage
// is known only after a step, so the last step can exceed the limit. A run that is already done ends as usual.
type Tokens struct {
	Max Bound[int] // default 1,000,000
}

// defaultTokens is the default of Tokens.Max: about eight requests that fill a context window of 128,000 tokens.
const defaultTokens = 1_000_000

// Bind adds the hook. It panics if Max is negative.
func (l *Tokens) Bind(h *agent.Hooks) {
	kit.MustConfig("limit.Tokens", l.Max.Check("Max"))
	h.ShouldStop.Add(l, hookkit.Priority(hookkit.Safety))
}

// ShouldStop ends the run if its tokens have reached Max.
func (l *Tokens) ShouldStop(ctx context.Context, run *agent.Run, step agent.Step) ([]agent.EndRun, error) {
	limit := l.Max.Or(defaultTokens)
	used := step.Usage.Total()
	if step.Done || used < limit {
		return nil, nil
	}
	kit.Env(run).ReportBudget(ctx,
		agent.BudgetExceeded{Kind: agent.BudgetTokens, Used: float64(used), Limit: float64(limit), By: "limit.Tokens"})
	return []agent.EndRun{{
		Cause: agent.CauseTokenLimit, Message: fmt.Sprintf("Token limit reached: %d/%d", used, limit),
		Detail: map[string]any{"totalTokens": used, "maxTotalTokens": limit},
	}}, nil
}
