package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// checkStop runs between two steps and decides whether another step follows.
func (r *run) checkStop() {
	if r.suspended {
		return
	}
	if !r.state.over() && r.ctx.Err() != nil {
		r.cancelled()
	}
	step := r.where()
	step.Done = r.state.over()
	signals, bys, err := r.hooks.ShouldStop.FireBy(r.ctx, r.hookRun, step)
	for i, s := range signals {
		s.By = bys[i].Hook
		r.signal(s)
		r.state.move(move{to: stopped})
		if s.Cause == agent.CauseError {
			r.failWith("ShouldStop", errors.New(orElse(s.Message, "a hook asked for it")), s.By)
		}
	}
	switch {
	case err != nil && step.Done:
		r.warn("ShouldStop: %v", err)
	case err != nil:
		r.fail("ShouldStop", err)
	}
	r.budgets()
}

// signal records a stop signal.
func (r *run) signal(s agent.EndRun) {
	if s.Cause == "" {
		s.Cause = agent.CauseUnknown
	}
	err := recoverAsError("encoding the detail of a stop signal", func() error {
		_, err := json.Marshal(s.Detail)
		return err
	})
	if err != nil {
		s.Detail = map[string]any{"unencodable": err.Error()}
	}
	r.signals = append(r.signals, s)
}

// stop ends the run with a stop signal of the loop itself.
func (r *run) stop(cause agent.Cause, detail map[string]any, format string, args ...any) {
	r.state.move(move{to: stopped})
	r.signal(agent.EndRun{Cause: cause, Message: fmt.Sprintf(format, args...), Detail: detail})
}

// endTurn ends the run because of an EndTurn. The first reply counts; every reason is recorded. If the run was rescued,
// the reply replaces its failure.
func (r *run) endTurn(exit agent.EndTurn, by hookkit.By, rescued bool) {
	r.signal(agent.EndRun{Cause: agent.CauseStopRequested, Message: exit.Reason, By: by.Hook})
	r.state.move(move{to: replied, reply: reply{text: exit.Reply, by: by.Hook}, rescued: rescued})
}

// fail ends the run with a failure. After a cancellation the error is only a warning.
func (r *run) fail(where string, err error) {
	err = usableError(err)
	r.failBy(where, err, hookOf(err))
}

// failBy is like fail for an error of the hook named by, or of no hook if by is "".
func (r *run) failBy(where string, err error, by string) {
	if r.ctx.Err() == nil {
		r.failWith(where, err, by)
		return
	}
	r.cancelled()
	if !errors.Is(err, r.ctx.Err()) && !errors.Is(err, causeOf(r.ctx)) {
		r.warn("%s: %v", where, err)
	}
}

// failWith ends the run with a failure. The first failure counts; later ones are warnings.
func (r *run) failWith(where string, err error, by string) {
	if !r.state.move(move{to: failed, failure: failure{where, err, by}}) {
		r.warn("%s: %v", where, err)
	}
}

// cancelled ends the run because its context is done.
func (r *run) cancelled() {
	err := causeOf(r.ctx)
	if !r.state.move(move{to: cancelled, cause: err}) {
		return
	}
	cause := agent.CauseUserRequested
	if errors.Is(r.ctx.Err(), context.DeadlineExceeded) {
		cause = agent.CauseTimeLimit
	}
	r.signal(agent.EndRun{Cause: cause, Message: err.Error()})
}

func (r *run) strongest() agent.EndRun { return agentspec.Strongest(r.signals) }

// signalled reports whether there is a signal with the cause.
func (r *run) signalled(cause agent.Cause) bool {
	return slices.ContainsFunc(r.signals, func(s agent.EndRun) bool { return s.Cause == cause })
}

// budgets stops the run if a budget is used up, its own or that of a run that started it.
func (r *run) budgets() {
	if n := r.counts.get(&r.counts.steps); !r.state.over() && r.limits.Steps > 0 && n >= r.limits.Steps {
		r.report(agent.BudgetExceeded{Kind: agent.BudgetSteps, Used: float64(n), Limit: float64(r.limits.Steps)})
		r.stop(agent.CauseStepsLimit, map[string]any{"currentSteps": n, "maxSteps": r.limits.Steps},
			"Step limit reached: %d/%d", n, r.limits.Steps)
	}
	r.stopUnpriced()
	for holder := r; holder != nil; holder = holder.outer {
		usage, _ := holder.counts.used()
		limits := holder.limits
		if total := usage.Total(); r.reached(agent.BudgetTokens, float64(total), float64(limits.Tokens)) {
			r.stop(agent.CauseTokenLimit, map[string]any{"totalTokens": total, "maxTotalTokens": limits.Tokens},
				"Token limit reached: %d/%d", total, limits.Tokens)
		}
		if r.reached(agent.BudgetCost, usage.Cost, limits.Cost) {
			r.stop(agent.CauseTokenLimit, map[string]any{"cost": usage.Cost, "maxCost": limits.Cost},
				"Cost limit reached: %g/%g", usage.Cost, limits.Cost)
		}
		if limits.Time == 0 {
			continue
		}
		if took := holder.elapsed(); r.reached(agent.BudgetTime, took.Seconds(), limits.Time.Seconds()) {
			r.stop(agent.CauseTimeLimit, map[string]any{"elapsedSeconds": took.Seconds(), "maxSeconds": limits.Time.Seconds()},
				"Execution time limit reached: %.2fs/%.2fs", took.Seconds(), limits.Time.Seconds())
		}
	}
}

// reached reports whether the run must stop because a budget is used up, and fires OnBudgetExceeded. A run that
// has ended anyway is not stopped, but a budget that its last step exceeded is still reported.
func (r *run) reached(kind agent.BudgetKind, used, limit float64) bool {
	if limit <= 0 || used < limit {
		return false
	}
	if !r.state.over() || used > limit {
		r.report(agent.BudgetExceeded{Kind: kind, Used: used, Limit: limit})
	}
	return !r.state.over()
}

// report fires OnBudgetExceeded once for each kind of budget.
func (r *run) report(b agent.BudgetExceeded) {
	if r.reportedBudgets[b.Kind] {
		return
	}
	r.reportedBudgets[b.Kind] = true
	r.exceeded(r.ctx, b)
}

// exceeded fires OnBudgetExceeded, for Env too.
func (r *run) exceeded(ctx context.Context, b agent.BudgetExceeded) {
	r.hooks.OnBudgetExceeded.Fire(ctx, r.hookRun, b)
}

// affords reports whether the estimated tokens of the next request fit the budget, and stops the run if not.
func (r *run) affords(estimate int) bool {
	for holder := r; holder != nil; holder = holder.outer {
		usage, _ := holder.counts.used()
		limit := holder.limits.Tokens
		if need := plus(usage.Total(), estimate); limit > 0 && need > limit {
			r.report(agent.BudgetExceeded{Kind: agent.BudgetTokens, Used: float64(need), Limit: float64(limit), Estimated: true})
			r.stop(agent.CauseTokenLimit, map[string]any{
				"totalTokens": usage.Total(), "estimatedTokens": need, "maxTotalTokens": limit,
			},
				"Token limit reached: the next prompt would make it about %d/%d", need, limit)
			return false
		}
	}
	return true
}

// hasTokenLimit reports whether the run, or a run that started it, has a token limit.
func (r *run) hasTokenLimit() bool {
	for ; r != nil; r = r.outer {
		if r.limits.Tokens > 0 {
			return true
		}
	}
	return false
}

func orElse(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}

// since returns the elapsed time on the run's clock.
func (r *run) since(t time.Time) time.Duration { return r.clock.Now().Sub(t) }
