package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// TokenBudget keeps every request under a number of tokens by dropping the oldest messages.
//
// It rewrites requests at BeforeLLM, at the priority InputShape-10, which is after the hooks that add to prompts.
// Tokens are counted by the run's counter and include tool calls and tool descriptions. A request of at most Max tokens
// is not changed. In a longer request, TokenBudget keeps the leading system messages and the last Keep messages, then
// drops the oldest of those until the request fits. A call and its results are kept or dropped together. The newest
// user message always stays. The stored conversation is not changed.
//
// The requests that follow keep the messages from the same one on, until they exceed Max again. They repeat the
// beginning of the request before, which providers cache.
//
// The reason of the replacement counts the dropped messages. If the smallest legal request exceeds Max, the request is
// sent anyway, and OnBudgetExceeded fires with the kind context.
//
// The zero value is ready to use. TokenBudget keeps separate state for each run and is safe for concurrent use.
type TokenBudget struct {
	Max  limit.Bound[int] // tokens of a request; default 115,000: a window of 128,000 less room for the reply
	Keep limit.Bound[int] // messages; default 4. The newest user message stays even if Keep is limit.AtMost(0)

	cuts hookkit.PerRun[cut]
}

// Bind adds the hook. It panics on a negative bound.
func (b *TokenBudget) Bind(h *agent.Hooks) {
	kit.MustConfig("window.TokenBudget", errors.Join(b.Max.Check("Max"), b.Keep.Check("Keep")))
	h.BeforeLLM.Add(b, hookkit.Priority(hookkit.InputShape-10))
}

// BeforeLLM shortens a request that exceeds the budget.
func (b *TokenBudget) BeforeLLM(
	ctx context.Context, run *agent.Run, req agent.LLMRequest,
) (agent.BeforeLLMOutcome, error) {
	most := b.Max.Or(unknownWindow - replyTokens)
	from := b.cuts.Load(run)
	kept, ok := from.Fit(req.Messages, b.Keep.Or(4), func(messages []agent.Message) bool {
		return requestTokens(kit.Env(run), messages, req.Tools) <= most
	})
	b.cuts.Do(run, func(c *cut) { *c = from })
	dropped := len(req.Messages) - len(kept)
	if !ok {
		reportTooLong(ctx, run, "window.TokenBudget", req, kept, most)
	}
	if dropped == 0 {
		return nil, nil
	}
	reason := fmt.Sprintf("truncated to %d tokens: %d of %d messages left out", most, dropped, len(req.Messages))
	req.Messages = kept
	return agent.ReplaceBeforeLLM(req, reason), nil
}

// reportTooLong reports that a request has more than most tokens although only the messages that must stay are kept.
func reportTooLong(
	ctx context.Context, run *agent.Run, by string, req agent.LLMRequest, kept []agent.Message, most int,
) {
	kit.Env(run).ReportBudget(ctx, agent.BudgetExceeded{
		Kind: agent.BudgetContext, Limit: float64(most), Estimated: true, By: by,
		Used: float64(requestTokens(kit.Env(run), kept, req.Tools)),
		Detail: fmt.Sprintf("the request goes out with %d of %d messages, the least that is legal", len(kept),
			len(req.Messages)),
	})
}
