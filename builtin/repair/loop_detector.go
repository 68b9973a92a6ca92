package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/nextprompt"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// LoopDetector keeps a model from making the same call again and again. Identical calls are counted per run: the
// first one runs, the next is refused with a hint, the one after that ends the turn.
//
// Points: BeforeTool (SkipTool, EndTurn); AfterTool, which it leaves as it is; in LoopNote, Briefing. Tier: Detection.
//
// Calls are identical if they name the same tool and their arguments have the same value: keys in any order,
// blanks and the way a number is written make no difference, no arguments are {}, and what is no JSON counts as
// its own text. Arguments of more than 1 MiB are compared byte by byte. Calls with other arguments never count.
//
//   - A call whose result differs from its last one is progress: its count starts again at 1. A call must run
//     again for that, so with the defaults this concerns the tools in Poll, and every tool in LoopNote or where
//     HintAfter is above 1. A call that did not run (refused, denied) has no result.
//   - A cycle is a loop too: two to MaxCycle calls that come again in the same order with the same results, even
//     if each of them has changing results. A whole round counts as one call does.
//   - The turn ends only after a hint that the model has seen: a call that repeats one of the same reply gets the
//     hint, however often. Where hints are switched off, it gets the hint all the same instead of ending the turn.
//   - A hint is a refusal: SkipTool with an Err, reason "loop_hint". In LoopNote the call runs, and the hint is
//     a text in the next prompt.
//   - The turn ends with Reply and the reason "loop: tool x3", or "loop: cycle of 2 calls x3".
//
// State: per run, a few dozen bytes for each distinct call. Sub-runs count for themselves. Calls may be decided
// in parallel; none is lost.
type LoopDetector struct {
	// HintAfter is how many identical calls run before one gets the hint. The default is 1; limit.None gives no hints.
	HintAfter limit.Bound[int]
	// BreakAfter is how many identical calls there may be, refused ones included, before the turn ends. The default is
	// one more than HintAfter; with limit.None it never ends. If it equals HintAfter, there is no hint before.
	BreakAfter limit.Bound[int]
	// Reply is the reply of a turn that was ended. "": a sentence that says that the request could not be
	// completed.
	Reply string
	// Mode says what a hint is. "": LoopSkip.
	Mode LoopMode
	// Poll names tools that are meant to be called again with the same arguments, until their result changes; "*"
	// stands for any text in a name, alone for all tools. Of their calls only results that stay the same count, so the
	// first call whose result could be a repetition runs.
	Poll []string
	// MaxCycle is how many calls a cycle may have, at most 64. The default is 6; with limit.AtMost(0) cycles are not
	// looked for.
	MaxCycle limit.Bound[int]

	runs hookkit.PerRun[loopState]
}

// A LoopMode says what a hint of a LoopDetector is.
type LoopMode string

// The modes.
const (
	LoopSkip LoopMode = "skip" // the call is refused with the hint as its error
	LoopNote LoopMode = "note" // the call runs, and the next prompt holds the hint
)

// fallbackReply is the reply of turns that are ended because they lead nowhere.
const fallbackReply = "Sorry, I couldn't complete that request."

// loopState is what a run's calls were.
type loopState struct {
	calls   map[fingerprint.Sum]*loopCall
	step    int                        // the one that is being decided
	decided map[string]fingerprint.Sum // its calls as they were judged, by ID
	cycles  cycles
	notes   nextprompt.Queue
}

// A loopCall is what is known of one call, however often it was made.
type loopCall struct {
	count  int // since its last progress
	step   int // of the last one
	result fingerprint.Sum
	ran    bool // result is the last one's
	polled bool // it is meant to be made again
	hints  hints
}

// hints are the hints that were given about one loop.
type hints struct {
	given int
	step  int // of the last one
}

func (h *hints) give(step int) { h.given, h.step = h.given+1, step }

// seen reports whether the model has seen one when it makes a call in the step.
func (h *hints) seen(step int) bool { return h.given > 0 && (step == 0 || h.step != step) }

// Bind adds the detector to its points.
func (d *LoopDetector) Bind(h *agent.Hooks) {
	kit.MustConfig("repair.LoopDetector", d.check())
	h.BeforeTool.Add(d, hookkit.Priority(hookkit.Detection))
	h.AfterTool.Add(d, hookkit.Priority(hookkit.Detection))
	if d.Mode == LoopNote {
		h.Briefing.Add(d, hookkit.Priority(hookkit.Detection))
	}
}

func (d *LoopDetector) check() error {
	if err := errors.Join(d.HintAfter.Check("HintAfter"), d.BreakAfter.Check("BreakAfter"), d.MaxCycle.Check("MaxCycle")); err != nil {
		return err
	}
	switch {
	case d.HintAfter.Or(1) == 0 || d.BreakAfter.Or(1) == 0:
		return errors.New("HintAfter or BreakAfter is 0, so no call could run; give 1 or more, or limit.None")
	case d.HintAfter == limit.None && d.BreakAfter == limit.None:
		return errors.New("HintAfter and BreakAfter are both switched off; set one of them or leave the hook out")
	case d.BreakAfter != 0 && d.HintAfter != limit.None && d.breakAfter() < d.hintAfter():
		return fmt.Errorf("BreakAfter is %d, below HintAfter, which is %d; let it be at least that", d.breakAfter(), d.hintAfter())
	case d.Mode != "" && d.Mode != LoopSkip && d.Mode != LoopNote:
		return fmt.Errorf("Mode is %q; use LoopSkip or LoopNote", d.Mode)
	case d.maxCycle() == 1:
		return errors.New("MaxCycle is 1, which HintAfter and BreakAfter cover; use 2 or more, or limit.AtMost(0) to look for no cycles")
	case d.maxCycle() > 64:
		return fmt.Errorf("MaxCycle is %v; use at most 64", d.MaxCycle)
	}
	return toolname.Check("Poll", d.Poll)
}

func (d *LoopDetector) hintAfter() int { return d.HintAfter.Or(1) }

func (d *LoopDetector) breakAfter() int {
	if d.BreakAfter == 0 && d.HintAfter != 0 && d.HintAfter != limit.None {
		return d.hintAfter() + 1
	}
	return d.BreakAfter.Or(2)
}

func (d *LoopDetector) maxCycle() int { return d.MaxCycle.Or(6) }

// BeforeTool counts a call and refuses it, ends the turn or lets it go on.
func (d *LoopDetector) BeforeTool(_ context.Context, run *agent.Run, call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
	sum := fingerprint.Call(call)
	var outcome agent.BeforeToolOutcome
	d.runs.Do(run, func(s *loopState) { outcome = d.judge(s, call, sum) })
	return outcome, nil
}

// judge counts a call and says what becomes of it.
func (d *LoopDetector) judge(s *loopState, call agent.ToolCallRequest, sum fingerprint.Sum) agent.BeforeToolOutcome {
	c := s.at(call, sum)
	c.polled = toolname.Match(d.Poll, call.Name)
	again := c.count > 0 && call.Step != 0 && c.step == call.Step
	c.step = call.Step
	if !c.polled {
		c.count++
	}
	length, n, hints, key := 1, c.count, &c.hints, sum
	if l, rounds := s.cycles.continued(sum); rounds >= n && rounds > 0 {
		length, n, hints, key = l, rounds, &s.cycles.lengths[l].hints, cycleKey(l)
	}

	unwarned := d.hintAfter() >= d.breakAfter() // the turn ends without a hint before
	switch {
	case n > d.breakAfter() && (hints.seen(call.Step) || unwarned && !again):
		return agent.EndTurn{Reply: cmp.Or(d.Reply, fallbackReply), Reason: loopReason(call.Name, length, n)}
	case n <= min(d.hintAfter(), d.breakAfter()):
		s.cycles.ahead++
		return nil
	}
	hints.give(call.Step)
	hint := loopHint(call.Name, length, n)
	if d.Mode == LoopNote {
		s.notes.Put(key, hint)
		s.cycles.ahead++
		return nil
	}
	if c.polled && length == 1 {
		c.count++
	}
	return agent.SkipTool{Result: agent.ToolCallResult{Err: hint}, Reason: "loop_hint"}
}

// at returns what is known of a call that is being decided.
func (s *loopState) at(call agent.ToolCallRequest, sum fingerprint.Sum) *loopCall {
	if call.Step != s.step || call.Step == 0 {
		s.step, s.cycles.ahead = call.Step, 0
		clear(s.decided)
	}
	if s.calls == nil {
		s.calls, s.decided = make(map[fingerprint.Sum]*loopCall), make(map[string]fingerprint.Sum)
	}
	if call.Step != 0 {
		s.decided[call.ID] = sum
	}
	c := s.calls[sum]
	if c == nil {
		c = new(loopCall)
		s.calls[sum] = c
	}
	return c
}

// AfterTool compares the result of a call with the one before.
func (d *LoopDetector) AfterTool(_ context.Context, run *agent.Run, result agent.ToolCallResult) (agent.AfterToolOutcome, error) {
	if result.Status == agent.CallRefused || result.Status == agent.CallUnrun {
		return nil, nil // it did not run; what it would have come back with is not known
	}
	got := fingerprint.Result(result)
	d.runs.Do(run, func(s *loopState) {
		sum, judged := s.decided[result.Call.ID] // other hooks may have rewritten the call since
		if !judged || result.Call.Step != s.step {
			sum = fingerprint.Call(result.Call)
		}
		s.cycles.add(cycleEntry{sum, got}, d.maxCycle())
		for length, cycle := range s.cycles.lengths {
			if cycle.matched == 0 {
				s.notes.Drop(cycleKey(length))
			}
		}
		c := s.calls[sum]
		if c == nil {
			return
		}
		switch {
		case c.ran && c.result != got:
			c.count, c.hints = 1, hints{}
			s.notes.Drop(sum)
		case c.polled:
			c.count++
		}
		c.result, c.ran = got, true
	})
	return nil, nil
}

// Briefing holds the hints for the next prompt.
func (d *LoopDetector) Briefing(_ context.Context, run *agent.Run, at agent.Step) (texts []string, err error) {
	d.runs.Do(run, func(s *loopState) { texts = slices.Clone(s.notes.Take(at.Number)) })
	return texts, nil
}

// cycleKey is what the note about a cycle is kept under.
func cycleKey(length int) fingerprint.Sum { return fingerprint.Sum{byte(length)} }

func loopHint(tool string, length, n int) string {
	if length == 1 {
		return fmt.Sprintf("you already called %s with exactly these arguments; use other arguments, another tool, or answer", shorten.To(tool, toolname.MaxDisplay))
	}
	return fmt.Sprintf("you have made the same %d calls %d times in the same order, %s among them, with the same results; use other arguments, other tools, or answer",
		length, n, shorten.To(tool, toolname.MaxDisplay))
}

func loopReason(tool string, length, n int) string {
	if length == 1 {
		return fmt.Sprintf("loop: %s x%d", shorten.To(tool, toolname.MaxDisplay), n)
	}
	return fmt.Sprintf("loop: cycle of %d calls x%d", length, n)
}
