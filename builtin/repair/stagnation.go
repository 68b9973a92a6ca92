package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/nextprompt"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Stagnation nudges a model that repeats the same action without progress.
//
// For example, a model reads the same file three times. The next prompt then contains "[stagnation detected] You have
// repeated the same action without new progress. Try a different approach." No call is refused.
//
//   - Consecutive calls with equal fingerprints form a streak. At NudgeAfter calls the next prompt contains the nudge.
//   - An empty fingerprint resets the streak.
//   - If Progress returns a higher number than after the previous call, the streak is reset. If Progress fails or
//     panics, the streak continues.
//   - A call of a tool in Ignore does not change the streak.
//   - After a nudge a new streak begins, so that a constant loop is nudged at calls 3, 6 and so on. With KeepNudging
//     every further call of the streak nudges.
//
// Stagnation observes AfterTool and contributes to Briefing, with the priority Detection. The zero value is ready to
// use. It keeps separate state for each run and is safe for concurrent use. Bind panics if NudgeAfter is less than 2.
type Stagnation struct {
	NudgeAfter  limit.Bound[int]                                   // equal calls in a row, at least 2; default 3
	Fingerprint func(agent.ToolCallResult) string                  // nil: tool and arguments; see also [CallAndSize]
	Progress    func(context.Context, *agent.Run) (float64, error) // nil: progress is not measured
	Nudge       func(streak int) string                            // nil: a fixed sentence
	KeepNudging bool
	Ignore      []string // names of tools; "*" in a name matches any text

	runs hookkit.PerRun[streak]
}

type streak struct {
	sum      string
	length   int
	progress float64
	measured bool
	next     nextprompt.Queue
}

// Bind adds the hook to its points.
func (s *Stagnation) Bind(h *agent.Hooks) {
	kit.MustConfig("repair.Stagnation",
		errors.Join(s.NudgeAfter.Check("NudgeAfter"), toolname.Check("Ignore", s.Ignore)))
	if n := s.NudgeAfter.Or(3); n < 2 {
		kit.MustConfig("repair.Stagnation", fmt.Errorf("NudgeAfter is %d; give at least 2", n))
	}
	h.AfterTool.Observe(s, hookkit.Priority(hookkit.Detection))
	h.Briefing.Add(s, hookkit.Priority(hookkit.Detection))
	kit.WatchTools("repair.Stagnation", kit.ToolNames("Ignore", s.Ignore)...).AtStart(h)
}

// ObserveAfterTool counts a call.
func (s *Stagnation) ObserveAfterTool(
	ctx context.Context, run *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult],
) {
	result := fired.Payload // the result before hooks truncated it, because truncated results have equal sizes
	if toolname.Match(s.Ignore, result.Call.Name) {
		return
	}
	sum := callPrint(result)
	if s.Fingerprint != nil {
		sum = s.Fingerprint(result)
	}
	var (
		progress float64
		measured bool
	)
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
		case sum == "":
			st.sum, st.length = "", 0
		case sum != st.sum || rose:
			st.sum, st.length = sum, 1
		default:
			st.length++
		}
		if st.length < s.NudgeAfter.Or(3) {
			return
		}
		st.next.Put(0, s.nudge(st.length))
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

// CallAndSize is a Fingerprint for [Stagnation] that consists of the call and the size of its result. A result of
// another size therefore counts as a different action.
func CallAndSize(result agent.ToolCallResult) string {
	return callPrint(result) + " " + strconv.Itoa(len(result.Output)+len(result.Err))
}

// callPrint returns the fingerprint of a call.
func callPrint(result agent.ToolCallResult) string {
	return strconv.FormatUint(uint64(fingerprint.Call(result.Call)), 36)
}
