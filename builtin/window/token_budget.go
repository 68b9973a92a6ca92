package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/conversation"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// TokenBudget keeps every request under a number of tokens by leaving out the oldest messages.
//
// It rewrites requests at BeforeLLM, ten below the tier InputShape, after the hooks that add to prompts; it has no
// state. Tokens are counted by the run's counter, tool calls and the descriptions of the tools included. A request
// of at most Max tokens passes. Of a longer one the system messages that begin it stay, and of the rest the last
// KeepLast messages; then the oldest of those go until it fits. A call and its results stay or go together, and
// the newest user message stays. Only the request is shortened, never the stored conversation.
//
// What is left out is said in the reason of the replacement. A request that is over Max with the least that is
// legal goes out all the same, and OnBudgetExceeded fires with the kind context.
type TokenBudget struct {
	Max      limit.Bound[int] // tokens of a request; default 4000
	KeepLast limit.Bound[int] // messages; default 4. The newest user message stays even if it is 0
}

// Bind adds the hook. A negative bound panics.
func (b *TokenBudget) Bind(h *agent.Hooks) {
	kit.MustConfig("window.TokenBudget", errors.Join(b.Max.Check("Max"), b.KeepLast.Check("KeepLast")))
	h.BeforeLLM.Add(b, hookkit.Priority(hookkit.InputShape-10))
}

// BeforeLLM shortens a request that is over the budget.
func (b *TokenBudget) BeforeLLM(ctx context.Context, run *agent.Run, req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
	most := b.Max.Or(4000)
	left, ok := conversation.Fit(req.Messages, b.KeepLast.Or(4), func(messages []agent.Message) bool {
		return conversation.RequestTokens(run.Env, messages, req.Tools) <= most
	})
	dropped := len(req.Messages) - len(left)
	if !ok {
		run.Env.ReportBudget(ctx, agent.BudgetExceeded{
			Kind: agent.BudgetContext, Used: float64(conversation.RequestTokens(run.Env, left, req.Tools)), Limit: float64(most), Estimated: true,
			Detail: fmt.Sprintf("the request goes out with %d of %d messages, the least that is legal", len(left), len(req.Messages)), By: "TokenBudget",
		})
	}
	if dropped == 0 {
		return nil, nil
	}
	reason := fmt.Sprintf("truncated to %d tokens: %d of %d messages left out", most, dropped, len(req.Messages))
	req.Messages = left
	return agent.ReplaceBeforeLLM(req, reason), nil
}
