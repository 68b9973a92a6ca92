package limit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Tokens stops a run when the run, or all runs of its conversation together, have used too many tokens. The input and
// output tokens of all its model calls count together, so a conversation of 50,000 tokens that is sent ten times
// counts as 500,000.
//
// Points: ShouldStop, and with Conversation OnRunStart and OnRunEnd. Tier: Safety. State: with Conversation, the
// tokens of each conversation in memory, until it had no run for a day.
//
// When the run has used Max tokens, it ends before its next step. The cause is token_limit, and the message is "Token
// limit reached: 120/100". The detail has the keys totalTokens and maxTotalTokens, and OnBudgetExceeded is fired. Usage
// is known only after a step, so the last step can exceed the limit. A run that is already done ends as usual.
//
// For example, Conversation: AtMost(5_000_000) ends each further run of a long conversation before its first step. The
// message is then "Token limit of the conversation reached: 5000120/5000000".
type Tokens struct {
	Max Bound[int] // default 1,000,000
	// Conversation is the most tokens of all runs of a named conversation together. The zero value means no limit.
	Conversation Bound[int]

	runs hookkit.PerRun[int] // tokens of a run that its conversation has
	mu   sync.Mutex
	used kit.Aging[agent.Identity, conversationUse]
}

// A conversationUse is the use of a conversation.
type conversationUse struct {
	tokens int
	last   time.Time
}

// keptUse is the time after which the use of a conversation is forgotten.
const keptUse = 24 * time.Hour

// defaultTokens is the default of Tokens.Max: about eight requests that fill a context window of 128,000 tokens.
const defaultTokens = 1_000_000

// Bind adds the hook. It panics if a limit is negative.
func (l *Tokens) Bind(h *agent.Hooks) {
	kit.MustConfig("limit.Tokens", errors.Join(l.Max.Check("Max"), l.Conversation.Check("Conversation")))
	h.ShouldStop.Add(l, hookkit.Priority(hookkit.Safety))
	if l.Conversation == 0 {
		return
	}
	name := hookkit.Named("limit.Tokens")
	h.OnRunStart.ObserveFunc(func(_ context.Context, run *agent.Run, _ agent.OnRunStartFired[agent.RunStart]) {
		l.runs.Do(run, func(n *int) { *n = kit.Env(run).Count().Usage.Total() }) // of a resumed run
	}, name)
	h.OnRunEnd.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.OnRunEndFired[agent.AgentResult]) {
		l.count(run, f.Payload.Usage.Total())
	}, name)
}

// count adds the tokens of a run, which are those of its sub-runs too, and returns the tokens of its conversation.
func (l *Tokens) count(run *agent.Run, tokens int) int {
	if kit.ConversationID(run) == "" {
		return 0
	}
	added := 0
	if run.Parent() == "" {
		l.runs.Do(run, func(n *int) { added, *n = tokens-*n, tokens })
	}
	now := kit.Env(run).Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used.Sweep(now, keptUse, func(use conversationUse) bool { return now.Sub(use.last) > keptUse })
	owner := kit.Owner(run)
	use := conversationUse{l.used.Values[owner].tokens + added, now}
	l.used.Values[owner] = use
	return use.tokens
}

// ShouldStop ends the run if its tokens have reached Max, or those of its conversation have reached Conversation.
func (l *Tokens) ShouldStop(ctx context.Context, run *agent.Run, step agent.Step) ([]agent.EndRun, error) {
	limit, of := l.Max.Or(defaultTokens), ""
	used := step.Usage.Total()
	if l.Conversation != 0 {
		if all := l.count(run, used); used < limit && all >= l.Conversation.Or(None) {
			used, limit, of = all, l.Conversation.Or(None), " of the conversation"
		}
	}
	if step.Done || used < limit {
		return nil, nil
	}
	kit.Env(run).ReportBudget(ctx,
		agent.BudgetExceeded{Kind: agent.BudgetTokens, Used: float64(used), Limit: float64(limit), By: "limit.Tokens"})
	return []agent.EndRun{{
		Cause: agent.CauseTokenLimit, Message: fmt.Sprintf("Token limit%s reached: %d/%d", of, used, limit),
		Detail: map[string]any{"totalTokens": used, "maxTotalTokens": limit},
	}}, nil
}
