package window

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Guard keeps requests within the context window of the model. It first shortens old tool results and drops messages
// only if that is not enough. All its hooks have the priority Mutation.
//
// At AfterTool it truncates outputs to MaxOutput, as [TruncateOutput] does. At BeforeLLM it rewrites the request, never
// the stored conversation, in this order:
//
//  1. When a request exceeds half of Max, results that are followed by at least FullFor steps are replaced by a
//     summary. For example, a list of 25 files becomes "list of 25 items" and its first three items; a plain text
//     becomes its first 500 characters. A summary is not summarized again. If FullFor is set, results are summarized
//     whatever the size of the request, FullFor steps at a time.
//  2. When all results together are longer than Aggregate, the oldest are replaced by "(truncated by context window
//     manager)", until three quarters of Aggregate are left.
//  3. When the request exceeds Max, the oldest remaining results are replaced by that text too, until it has three
//     quarters of Max. Results in the last Keep messages are not touched.
//  4. While the request still exceeds Max, messages are dropped as [TokenBudget] does. If the smallest legal request
//     exceeds Max, the request is sent anyway, and OnBudgetExceeded fires with the kind context.
//
// A shortened result stays shortened for the rest of the run, and many are shortened at once. The requests in between
// repeat the beginning of the one before, which providers cache.
//
// If Recall is set, the full text of a shortened result is stored there, and the shortened text names its key. With
// [RecallTool] the model can then read the full text. If the store fails, the failure is reported and the shortened
// text names no key.
//
// Guard never compacts the stored conversation; [Auto] does, and tells the model how full the window is. At
// ShouldCompact, Guard only learns the window of the model.
//
// The zero value is ready to use. Bind panics on a negative number. A Guard keeps separate state for each run and is
// safe for concurrent use by any number of runs.
type Guard struct {
	Max       limit.Bound[int] // tokens of a request, including tools; default: the model's window less Reserve
	Reserve   int              // tokens kept free for the reply; 0: MaxTokens of the request, or 13,000 if that is 0 too
	Keep      limit.Bound[int] // messages; default 4
	MaxOutput limit.Bound[int] // characters of one output; default 30,000
	FullFor   limit.Bound[int] // steps for which a result is shown in full; default 3, once half of Max is used
	Aggregate limit.Bound[int] // characters of all results in a request; default 500,000

	Recall  agent.Store // full texts of shortened results; nil: they are not stored
	OnError func(error) // receives failures of Recall; nil: they are logged

	runs   hookkit.PerRun[windowState]
	failed kit.Reporter
}

// windowState is the state of one run.
type windowState struct {
	window  int             // tokens; 0: unknown
	kept    map[string]bool // recall keys already stored
	shorter shortened
}

// Bind adds the hook to its points.
func (w *Guard) Bind(h *agent.Hooks) {
	kit.MustConfig("window.Guard", w.check())
	tier := hookkit.Priority(hookkit.Mutation)
	h.AfterTool.Add(w, tier)
	h.BeforeLLM.Add(w, tier)
	h.ShouldCompact.Add(w, tier)
}

func (w *Guard) check() error {
	err := errors.Join(w.Max.Check("Max"), w.Keep.Check("Keep"), w.MaxOutput.Check("MaxOutput"),
		w.FullFor.Check("FullFor"), w.Aggregate.Check("Aggregate"))
	if w.Reserve < 0 {
		err = fmt.Errorf("Reserve is %d; give a number of tokens, or 0", w.Reserve)
	}
	return err
}

// ShouldCompact learns the window of the model. It never votes.
func (w *Guard) ShouldCompact(
	_ context.Context, run *agent.Run, use agent.ContextUse,
) (agent.ShouldCompactOutcome, error) {
	w.runs.Do(run, func(s *windowState) { s.window = max(use.Window, 0) })
	return nil, nil
}

// AfterTool truncates a result that exceeds MaxOutput.
func (w *Guard) AfterTool(
	ctx context.Context, run *agent.Run, result agent.ToolCallResult,
) (agent.AfterToolOutcome, error) {
	return truncated(result, w.MaxOutput.Or(30_000), func(output string) string {
		return w.storeForRecall(ctx, run, output)
	})
}

// BeforeLLM shortens the request.
func (w *Guard) BeforeLLM(ctx context.Context, run *agent.Run, req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
	most, keepLast := w.maxTokens(run, req), w.Keep.Or(4)
	tokens := func(messages []agent.Message) int {
		return requestTokens(kit.Env(run), messages, req.Tools)
	}
	fits := func(messages []agent.Message) bool { return tokens(messages) <= most }
	d := newDraft(req.Messages, w.runs.Load(run).shorter)
	store := func(body string) string { return w.storeForRecall(ctx, run, body) }
	d.summarise(d.summarised, store)
	if to := d.summaryDue(w.FullFor, func() bool { return tokens(d.messages) > most/2 }); to > d.summarised {
		d.summarised = to
		d.summarise(to, store)
	}
	d.blank(d.blanked)
	if most := w.Aggregate.Or(500_000); resultChars(d.messages) > most {
		d.blankUntil(0, func(messages []agent.Message) bool { return resultChars(messages) <= most/4*3 })
	}
	if !fits(d.messages) {
		d.blankUntil(keepLast, func(messages []agent.Message) bool { return tokens(messages) <= most/4*3 })
	}
	kept, ok := d.cut.Fit(d.messages, keepLast, fits)
	w.runs.Do(run, func(s *windowState) { s.shorter = d.shortened(req.Messages) })
	if !ok {
		reportTooLong(ctx, run, "window.Guard", req, kept, most)
	}
	changes := d.changes()
	if n := len(req.Messages) - len(kept); n > 0 {
		changes = append(changes, fmt.Sprintf("%d of %d messages left out", n, len(req.Messages)))
	}
	if changes == nil {
		return nil, nil
	}
	req.Messages = kept
	return agent.ReplaceBeforeLLM(req, fmt.Sprintf("kept within %d tokens: %s", most, strings.Join(changes, ", "))), nil
}

// maxTokens returns the largest legal size of a request.
func (w *Guard) maxTokens(run *agent.Run, req agent.LLMRequest) int {
	window := cmp.Or(w.runs.Load(run).window, unknownWindow)
	ofModel := max(window-cmp.Or(w.Reserve, max(req.MaxTokens, 0), replyTokens), window/2)
	return w.Max.Or(limit.AtMost(ofModel))
}

// storeForRecall stores a text and returns the note that names its key. It returns "" if there is no Recall store or
// the store failed.
func (w *Guard) storeForRecall(ctx context.Context, run *agent.Run, body string) string {
	if w.Recall == nil {
		return ""
	}
	key, known := keyOfWhole(body), true // a truncated text that names a key is stored already
	if key == "" {
		key = recallKey(body)
		w.runs.Do(run, func(s *windowState) { known = s.kept[key] })
	}
	if !known {
		if err := w.Recall.Put(ctx, storeKey(kit.Owner(run), key), []byte(body)); err != nil {
			w.failed.Report("window.Guard", w.OnError,
				fmt.Errorf("a result of %d bytes could not be kept for recall: %w", len(body), err))
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
