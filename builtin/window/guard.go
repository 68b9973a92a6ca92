package window

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/compact"
	"github.com/hookgen/hookgen/builtin/internal/conversation"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/nextprompt"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// FromModel as the Max of a [Guard] is the window of the model less what is reserved for the reply.
const FromModel limit.Bound[int] = limit.None - 1

// unknownWindow is the context window of a model that does not say how large its own is.
const unknownWindow = 128_000

// Guard keeps requests within the context window: it shortens what tools returned, the oldest first, before
// it leaves out messages. All its hooks are in the tier Mutation.
//
// At AfterTool it cuts outputs to OutputMax as [TruncateOutput] does. At BeforeLLM it rewrites the request, never
// the stored conversation:
//
//  1. Results that are followed by FullFor or more steps become a summary: what they are, how many items, and the
//     first three of these, or of a text the first 500 characters. A summary is not summarised again.
//  2. Results longer than PerResult are cut; while all of them together are longer than Aggregate, the oldest
//     become "(truncated by context window manager)".
//  3. If the request is over Max, older results become that too, the oldest first, until it fits; those among the
//     last KeepLast messages stay.
//  4. If it still is, messages are left out as [TokenBudget] does, down to the least that is legal; if that is over
//     Max, it goes out and OnBudgetExceeded fires with the kind context.
//
// With Recall, what is cut or summarised is kept there under a key that the model is told; [RecallTool] makes it
// a tool. A store that fails is reported, and no key is told.
//
// At ShouldCompact it finds the level of pressure (see [Pressure]), tells OnPressure of the first one and of each
// change, and with a Compactor, which the run then uses, votes for a compaction from the level compact on. After
// three compactions in a row without effect it stops voting. After a compaction that hid three or more names which
// the model knew, the next prompt lists up to eight of them.
//
// Its state is the window, level, failures and keys of each run. Buffers out of
// order, a negative number and a Compactor that cannot work panic in Bind.
type Guard struct {
	Max       limit.Bound[int] // tokens of a request, tools included; default 4000
	Reserve   int              // tokens of the reply, where Max is FromModel; 0: what the request allows, else 13,000
	KeepLast  limit.Bound[int] // messages; default 4
	OutputMax limit.Bound[int] // characters of an output; default 2000
	FullFor   limit.Bound[int] // steps that a result is shown in full; default 3
	PerResult limit.Bound[int] // characters of each result in a request; default 50,000
	Aggregate limit.Bound[int] // characters of all of them; default 500,000

	WarnBuffer    int // tokens below the window where the level warning begins; 0: 30,000
	CompactBuffer int // the level compact; 0: 20,000
	BlockBuffer   int // the level block; 0: 5,000

	Compactor  agent.Compactor // nil: it never votes
	Recall     agent.Store     // nil: nothing is kept
	OnPressure func(ctx context.Context, run *agent.Run, p Pressure)
	Names      func(messages []agent.Message) []string // the names in messages; nil: texts without blanks in arguments of calls
	OnError    func(error)                             // is told of a Recall that fails; nil: it is logged

	runs   hookkit.PerRun[windowState]
	failed kit.Reporter
}

// A windowState is what a Guard keeps of one run.
type windowState struct {
	window   int
	level    PressureLevel
	failures int             // compactions without effect in a row
	kept     map[string]bool // recall keys
	known    []string        // names before the compaction that is running
	notes    nextprompt.Queue
}

// Bind adds the hook to its points.
func (w *Guard) Bind(h *agent.Hooks) {
	kit.MustConfig("window.Guard", w.check())
	tier := hookkit.Priority(hookkit.Mutation)
	h.AfterTool.Add(w, tier)
	h.BeforeLLM.Add(w, tier)
	h.ShouldCompact.Add(w, tier)
	h.BeforeCompact.Observe(w)
	h.AfterCompact.Observe(w)
	h.Briefing.Add(w, tier)
	if w.Compactor != nil {
		h.OnRunStart.Add(w, tier)
	}
}

func (w *Guard) check() error {
	if err := errors.Join(w.Max.Check("Max"), w.KeepLast.Check("KeepLast"), w.OutputMax.Check("OutputMax"), w.FullFor.Check("FullFor"),
		w.PerResult.Check("PerResult"), w.Aggregate.Check("Aggregate")); err != nil {
		return err
	}
	b := w.buffers()
	switch {
	case w.Reserve < 0:
		return fmt.Errorf("Reserve is %d; give a number of tokens, or 0", w.Reserve)
	case b.block < 0 || b.warn <= b.compact || b.compact <= b.block:
		return fmt.Errorf("WarnBuffer is %d, CompactBuffer %d and BlockBuffer %d; let each be more than the next", b.warn, b.compact, b.block)
	case w.Compactor != nil:
		if err := compact.Check(w.Compactor); err != nil {
			return fmt.Errorf("Compactor: %w", err)
		}
	}
	return nil
}

// OnRunStart has the run use the compactor.
func (w *Guard) OnRunStart(_ context.Context, run *agent.Run, _ agent.RunStart) (agent.OnRunStartOutcome, error) {
	kit.UseCompactor(run, w.Compactor)
	return nil, nil
}

// AfterTool cuts a result that is over the limit.
func (w *Guard) AfterTool(ctx context.Context, run *agent.Run, result agent.ToolCallResult) (agent.AfterToolOutcome, error) {
	most := w.OutputMax.Or(2000)
	output, err := shorten.WithNote(result.Output, most, ""), shorten.WithNote(result.Err, most, "")
	if output == result.Output && err == result.Err {
		return nil, nil
	}
	if output != result.Output {
		output = shorten.WithNote(result.Output, most, w.keep(ctx, run, result.Output))
	}
	result.Output, result.Err = output, err
	return agent.ReplaceAfterTool(result, fmt.Sprintf("truncated to %d characters", most)), nil
}

// BeforeLLM shortens the request.
func (w *Guard) BeforeLLM(ctx context.Context, run *agent.Run, req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
	most, keepLast := w.most(run, req), w.KeepLast.Or(4)
	fits := func(messages []agent.Message) bool {
		return conversation.RequestTokens(run.Env, messages, req.Tools) <= most
	}
	d := draft{messages: req.Messages}
	d.summarise(w.FullFor.Or(3), func(body string) string { return w.keep(ctx, run, body) })
	d.cutResults(w.PerResult.Or(50_000))
	d.blankOver(w.Aggregate.Or(500_000))
	if !fits(d.messages) {
		d.blankUntil(keepLast, fits)
	}
	left, ok := conversation.Fit(d.messages, keepLast, fits)
	if !ok {
		run.Env.ReportBudget(ctx, agent.BudgetExceeded{
			Kind: agent.BudgetContext, Used: float64(conversation.RequestTokens(run.Env, left, req.Tools)), Limit: float64(most), Estimated: true,
			Detail: fmt.Sprintf("the request goes out with %d of %d messages, the least that is legal", len(left), len(req.Messages)), By: "window.Guard",
		})
	}
	did := d.did
	if n := len(req.Messages) - len(left); n > 0 {
		did = append(did, fmt.Sprintf("%d of %d messages left out", n, len(req.Messages)))
	}
	if did == nil {
		return nil, nil
	}
	req.Messages = left
	return agent.ReplaceBeforeLLM(req, fmt.Sprintf("kept within %d tokens: %s", most, strings.Join(did, ", "))), nil
}

// most returns how many tokens a request may have.
func (w *Guard) most(run *agent.Run, req agent.LLMRequest) int {
	if w.Max != FromModel {
		return w.Max.Or(4000)
	}
	window := unknownWindow
	w.runs.Do(run, func(s *windowState) { window = cmp.Or(s.window, window) })
	return max(window-cmp.Or(w.Reserve, max(req.MaxTokens, 0), 13_000), window/2)
}

// keep puts a text where the model can recall it, and returns what it is told of that; "" if there is no such
// place.
func (w *Guard) keep(ctx context.Context, run *agent.Run, body string) string {
	if w.Recall == nil {
		return ""
	}
	key, known := keyOfWhole(body), true // a text that was cut is kept whole already
	if key == "" {
		key = recallKey(body)
		w.runs.Do(run, func(s *windowState) { known = s.kept[key] })
	}
	if !known {
		if err := w.Recall.Put(ctx, key, []byte(body)); err != nil {
			w.failed.Report("window.Guard", w.OnError, fmt.Errorf("a result of %d bytes could not be kept for recall: %w", len(body), err))
			return ""
		}
		w.runs.Do(run, func(s *windowState) {
			if s.kept == nil {
				s.kept = make(map[string]bool)
			}
			s.kept[key] = true
		})
	}
	return recallNote + key
}
