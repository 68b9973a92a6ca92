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

// LoopDetector stops a model that makes the same call again and again.
//
// For example, a model calls search with {"q": "weather"} three times. By default the first call runs, the second is
// refused with a hint, and the third ends the turn.
//
// Calls are identical if they name the same tool and their arguments are equal as JSON. The order of keys, spaces, and
// the notation of numbers do not matter. Missing arguments equal {}, and arguments that are not valid JSON are compared
// as text. Arguments of more than 1 MiB are compared byte by byte.
//
//   - If a call runs again and its result differs from the last result, that is progress, and its count restarts at 1.
//     A refused call has no result. With the defaults, progress is therefore only possible for tools in Poll, in the
//     mode LoopNote, or with a higher HintAfter.
//   - The turn ends only after the model has seen a hint. A call that repeats another call of the same reply always
//     gets the hint. It gets the hint even if hints are switched off.
//   - A hint refuses the call: SkipTool with an Err and the reason "loop_hint". In the mode LoopNote the call runs and
//     the hint is in the next prompt.
//   - The turn ends with Reply and a reason such as "loop: search x3".
//
// LoopDetector adds to BeforeTool and AfterTool, and in LoopNote to Briefing, with the priority Detection. The zero
// value is ready to use. It keeps about a hundred bytes for each distinct call of a run, allocated for 16 calls at a
// time. Runs and sub-runs are counted separately, and calls may be decided in parallel. Bind panics on invalid fields.
type LoopDetector struct {
	// HintAfter is the number of identical calls that run before the next one gets a hint. The default is 1; limit.None
	// switches hints off.
	HintAfter limit.Bound[int]
	// BreakAfter is the number of identical calls, including refused ones, after which the next one ends the turn. The
	// default is HintAfter + 1; with limit.None the turn never ends. If BreakAfter equals HintAfter, the turn ends without
	// a hint.
	BreakAfter limit.Bound[int]
	// Reply is the reply of a turn that was ended. "": a sentence that says that the request could not be completed.
	Reply string
	// Mode selects the form of a hint. "": LoopSkip.
	Mode LoopMode
	// Poll names tools that may be called repeatedly until their result changes, for example job_status. In a name "*"
	// matches any text. A call of these tools counts only if its result equals the one before, so the first repetition
	// always runs.
	Poll []string

	runs hookkit.PerRun[loopState]
}

// A LoopMode selects the form of a LoopDetector's hint.
type LoopMode string

// The modes.
const (
	LoopSkip LoopMode = "skip" // the call is refused with the hint as its error
	LoopNote LoopMode = "note" // the call runs, and the hint is in the next prompt
)

// fallbackReply is the default reply of a turn that was ended.
const fallbackReply = "Sorry, I couldn't complete that request."

// loopState is the state of one run.
type loopState struct {
	calls   map[fingerprint.Sum]*loopCall
	unused  []loopCall    // the rest of a block: one allocation for each call would take longer
	step    int           // the current step
	decided []decidedCall // the current step's calls
	next    int           // the one in decided whose result comes next, as a rule
	notes   nextprompt.Queue
}

// A decidedCall is a call of the current step.
type decidedCall struct {
	id   string
	call *loopCall
}

// A loopCall counts the repetitions of one call.
type loopCall struct {
	sum    fingerprint.Sum
	count  int // calls since the last progress
	step   int // step of the last call
	result fingerprint.Sum
	ran    bool // result is valid
	polled bool // the tool is in Poll
	hints  hints
}

// hints counts the hints about one loop.
type hints struct {
	given int
	step  int // step of the last hint
}

func (h *hints) give(step int) { h.given, h.step = h.given+1, step }

// seen reports whether the model had seen a hint when it made a call in this step.
func (h *hints) seen(step int) bool { return h.given > 0 && (step == 0 || h.step != step) }

// Bind adds the hook to its points.
func (d *LoopDetector) Bind(h *agent.Hooks) {
	kit.MustConfig("repair.LoopDetector", d.check())
	kit.WatchTools("repair.LoopDetector", kit.ToolNames("Poll", d.Poll)...).
		BeforeTool(h, d, hookkit.Priority(hookkit.Detection))
	h.AfterTool.Add(d, hookkit.Priority(hookkit.Detection))
	if d.Mode == LoopNote {
		h.Briefing.Add(d, hookkit.Priority(hookkit.Detection))
	}
}

func (d *LoopDetector) check() error {
	if err := errors.Join(d.HintAfter.Check("HintAfter"), d.BreakAfter.Check("BreakAfter")); err != nil {
		return err
	}
	switch {
	case d.HintAfter.Or(1) == 0 || d.BreakAfter.Or(1) == 0:
		return errors.New("HintAfter or BreakAfter is 0, so no call could run; give 1 or more, or limit.None")
	case d.HintAfter == limit.None && d.BreakAfter == limit.None:
		return errors.New("HintAfter and BreakAfter are both switched off; set one of them or leave the hook out")
	case d.BreakAfter != 0 && d.HintAfter != limit.None && d.breakAfter() < d.hintAfter():
		return fmt.Errorf("BreakAfter is %d, below HintAfter, which is %d; let it be at least that",
			d.breakAfter(), d.hintAfter())
	case d.Mode != "" && d.Mode != LoopSkip && d.Mode != LoopNote:
		return fmt.Errorf("Mode is %q; use LoopSkip or LoopNote", d.Mode)
	}
	return toolname.Check("Poll", d.Poll)
}

func (d *LoopDetector) hintAfter() int { return d.HintAfter.Or(1) }

func (d *LoopDetector) breakAfter() int {
	if d.BreakAfter == 0 && d.HintAfter != limit.None {
		return d.hintAfter() + 1
	}
	return d.BreakAfter.Or(2)
}

// BeforeTool counts a call and allows it, refuses it, or ends the turn.
func (d *LoopDetector) BeforeTool(
	_ context.Context, run *agent.Run, call agent.ToolCallRequest,
) (agent.BeforeToolOutcome, error) {
	sum := fingerprint.Call(call)
	var outcome agent.BeforeToolOutcome
	d.runs.Do(run, func(s *loopState) { outcome = d.judge(s, call, sum) })
	return outcome, nil
}

// judge counts a call and decides about it.
func (d *LoopDetector) judge(s *loopState, call agent.ToolCallRequest, sum fingerprint.Sum) agent.BeforeToolOutcome {
	c := s.at(call, sum)
	c.polled = toolname.Match(d.Poll, call.Name)
	again := call.Step != 0 && c.step == call.Step
	c.step = call.Step
	if !c.polled {
		c.count++
	}
	unwarned := d.hintAfter() >= d.breakAfter() // the turn ends without a hint
	switch {
	case c.count > d.breakAfter() && (c.hints.seen(call.Step) || unwarned && !again):
		return agent.EndTurn{Reply: cmp.Or(d.Reply, fallbackReply),
			Reason: fmt.Sprintf("loop: %s x%d", shorten.To(call.Name, toolname.MaxDisplay), c.count)}
	case c.count <= min(d.hintAfter(), d.breakAfter()):
		return nil
	}
	c.hints.give(call.Step)
	hint := fmt.Sprintf("you already called %s with exactly these arguments; use other arguments, another tool, or answer",
		shorten.To(call.Name, toolname.MaxDisplay))
	if d.Mode == LoopNote {
		s.notes.Put(sum, hint)
		return nil
	}
	if c.polled {
		c.count++
	}
	return agent.SkipTool{Result: agent.ToolCallResult{Err: hint}, Reason: "loop_hint"}
}

// at returns the counters of a call that is being decided.
func (s *loopState) at(call agent.ToolCallRequest, sum fingerprint.Sum) *loopCall {
	if call.Step != s.step || call.Step == 0 {
		clear(s.decided)
		s.step, s.decided, s.next = call.Step, s.decided[:0], 0
	}
	if s.calls == nil {
		s.calls = make(map[fingerprint.Sum]*loopCall)
	}
	c := s.calls[sum]
	if c == nil {
		if len(s.unused) == 0 {
			s.unused = make([]loopCall, 16)
		}
		c, s.unused = &s.unused[0], s.unused[1:]
		c.sum = sum
		s.calls[sum] = c
	}
	if call.Step != 0 {
		s.decided = append(s.decided, decidedCall{call.ID, c})
	}
	return c
}

// of returns the counters of a call of the current step, or nil. Results come in the order of the calls.
func (s *loopState) of(id string) *loopCall {
	for range s.decided {
		d := s.decided[s.next%len(s.decided)]
		if s.next++; d.id == id {
			return d.call
		}
	}
	return nil
}

// AfterTool compares the result of a call with its previous result.
func (d *LoopDetector) AfterTool(
	_ context.Context, run *agent.Run, result agent.ToolCallResult,
) (agent.AfterToolOutcome, error) {
	if result.Status == agent.CallRefused || result.Status == agent.CallUnrun {
		return nil, nil // the call did not run and has no result
	}
	got := fingerprint.Result(result)
	d.runs.Do(run, func(s *loopState) {
		c := s.of(result.Call.ID) // other hooks may have rewritten the call
		if c == nil || result.Call.Step != s.step {
			if c = s.calls[fingerprint.Call(result.Call)]; c == nil {
				return // nobody asked about it
			}
		}
		switch {
		case c.ran && c.result != got:
			c.count, c.hints = 1, hints{}
			s.notes.Drop(c.sum)
		case c.polled:
			c.count++
		}
		c.result, c.ran = got, true
	})
	return nil, nil
}

// Briefing returns the hints for the next prompt.
func (d *LoopDetector) Briefing(_ context.Context, run *agent.Run, at agent.Step) (texts []string, err error) {
	d.runs.Do(run, func(s *loopState) { texts = slices.Clone(s.notes.Take(at.Number)) })
	return texts, nil
}
