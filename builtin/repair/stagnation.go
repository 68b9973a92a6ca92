package repair

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/nextprompt"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Stagnation nudges a model that does the same thing again and again without progress.
//
// It observes AfterTool and contributes to Briefing, in the tier Detection. Equal fingerprints one after the other
// lengthen a streak; another one sets it to 1. At Threshold the next prompt gets Nudge. State: per run.
//
//   - A Fingerprint of "" means no opinion and resets the streak.
//   - A Progress that has risen since the call before resets it; one that is flat, falls, fails or panics does not.
//   - A call of a tool in Ignore leaves the streak as it is.
//   - After a nudge the streak begins again, so that a constant loop is nudged at calls 3 and 6; with KeepNudging
//     every further call of the streak nudges.
type Stagnation struct {
	Threshold   int                                                // 0: 3; at least 2
	Fingerprint func(agent.ToolCallResult) string                  // nil: the call, by value; see also [CallAndSize]
	Progress    func(context.Context, *agent.Run) (float64, error) // nil: none
	Nudge       func(streak int) string                            // nil: a sentence
	KeepNudging bool
	Ignore      []string // names of tools, in which "*" stands for any text

	runs hookkit.PerRun[streak]
}

type streak struct {
	sum      string
	length   int
	progress float64
	measured bool
	next     nextprompt.Queue
}

// Bind adds the hook. A Threshold of 1 or less than 0 panics.
func (s *Stagnation) Bind(h *agent.Hooks) {
	if s.Threshold == 1 || s.Threshold < 0 {
		kit.MustConfig("repair.Stagnation", fmt.Errorf("Threshold is %d; give at least 2, or 0 for 3", s.Threshold))
	}
	kit.MustConfig("repair.Stagnation", toolname.Check("Ignore", s.Ignore))
	h.AfterTool.Observe(s, hookkit.Priority(hookkit.Detection))
	h.Briefing.Add(s, hookkit.Priority(hookkit.Detection))
}

// ObserveAfterTool counts the call.
func (s *Stagnation) ObserveAfterTool(ctx context.Context, run *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult]) {
	result := fired.Payload // as the tool gave it: what was cut to one size has no size of its own
	if toolname.Match(s.Ignore, result.Call.Name) {
		return
	}
	sum := callPrint(result)
	if s.Fingerprint != nil {
		sum = s.Fingerprint(result)
	}
	progress, measured := 0.0, false
	if s.Progress != nil {
		p, err := kit.Recover(func() (float64, error) { return s.Progress(ctx, run) })
		progress, measured = p, err == nil
	}
	s.runs.Do(run, func(st *streak) {
		rose := measured && st.measured && progress > st.progress
		if measured {
			st.progress, st.measured = progress, true
		}
		switch {
		case sum == "" || rose:
			st.sum, st.length = sum, 0
			if sum != "" {
				st.length = 1
			}
			return
		case sum == st.sum:
			st.length++
		default:
			st.sum, st.length = sum, 1
		}
		if st.length < cmp.Or(s.Threshold, 3) {
			return
		}
		st.next.Put(fingerprint.Sum{}, s.nudge(st.length))
		if !s.KeepNudging {
			st.sum, st.length = "", 0
		}
	})
}

func (s *Stagnation) nudge(length int) string {
	if s.Nudge != nil {
		return s.Nudge(length)
	}
	return "[stagnation detected] You have repeated the same action without new progress. Try a different approach."
}

// Briefing contributes the nudge.
func (s *Stagnation) Briefing(_ context.Context, run *agent.Run, step agent.Step) (texts []string, err error) {
	s.runs.Do(run, func(st *streak) { texts = slices.Clone(st.next.Take(step.Number)) })
	return texts, nil
}

// CallAndSize is a fingerprint for [Stagnation]: the call by value and the size of its result, so that a result of
// another size is progress.
func CallAndSize(result agent.ToolCallResult) string {
	return callPrint(result) + strconv.Itoa(len(result.Output)+len(result.Err))
}

// callPrint is the fingerprint of a call by value.
func callPrint(result agent.ToolCallResult) string {
	sum := fingerprint.Call(result.Call)
	return string(sum[:])
}
