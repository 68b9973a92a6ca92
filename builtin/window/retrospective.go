package window

import (
	"context"
	_ "embed" // for the schema
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Retrospective lets the model go back in the conversation after a wrong turn.
//
// For example, the model has tried to repair the wrong file for ten steps. These steps fill its context and mislead it.
// The results of tools end with marks such as "[CHECKPOINT 3]", one for each step. The model calls the tool go_back
// with the checkpoint 3 and the guidance "the fault is in the parser". The messages after step 3 are dropped from the
// conversation, and a message with the guidance is added. Add [Retrospective.Tool] to the tools of the agent:
//
//	back := &window.Retrospective{}
//	hooks.Use(back)
//	a.Tools = append(a.Tools, back.Tool())
//
// Only the conversation goes back. Changes that tools have made stay, and so do counts of steps, tokens and calls, and
// the state of other hooks. A model can go back 3 times in a run; further calls are refused, and so are calls with a
// checkpoint that the conversation no longer has.
//
// Going back counts as a compaction with the reason "rewrite". Retrospective adds to AfterTool after all hooks with
// other priorities, and to BeforeTool, with the priority Safety. It also observes AfterTool. It keeps its
// state for each run and is safe for concurrent use. The zero value is ready to use. Bind panics if Max is negative.
type Retrospective struct {
	Max limit.Bound[int] // times that a run can go back; default 3

	runs hookkit.PerRun[retrospect]
}

// retrospect is the state of one run.
type retrospect struct {
	marks map[int]string // IDs of the calls whose results have the marks, by step
	used  int
	last  mark // the last call that went back
}

// A mark is a checkpoint in the conversation. The IDs of calls are unique in a step only, so both fields identify it.
type mark struct {
	step int
	call string // ID of the call whose result has the mark
}

// goBack is the name of the tool.
const goBack = "go_back"

// text returns the mark as it appears in a result.
func (m mark) text() string { return fmt.Sprintf("[CHECKPOINT %d]", m.step) }

// in reports whether a message has the mark.
func (m mark) in(message agent.Message) bool {
	return message.Role == agent.RoleTool && message.ToolCallID == m.call &&
		strings.HasSuffix(message.Content, "\n\n"+m.text())
}

// Bind adds the hook to its points.
func (r *Retrospective) Bind(h *agent.Hooks) {
	kit.MustConfig("window.Retrospective", r.Max.Check("Max"))
	h.BeforeTool.Add(r, hookkit.Priority(hookkit.Safety))
	h.AfterTool.Add(r, hookkit.Priority(10*kit.LastPriority))
	h.AfterTool.Observe(r)
}

// AfterTool adds a mark to the first result of a step.
func (r *Retrospective) AfterTool(
	_ context.Context, run *agent.Run, result agent.ToolCallResult,
) (agent.AfterToolOutcome, error) {
	if result.Call.Name == goBack {
		return nil, nil
	}
	next, first := mark{result.Call.Step, result.Call.ID}, false
	r.runs.Do(run, func(s *retrospect) {
		if s.marks == nil {
			s.marks = make(map[int]string)
		}
		if s.marks[next.step] == "" {
			s.marks[next.step], first = next.call, true
		}
	})
	if !first {
		return nil, nil
	}
	result.Context = append(slices.Clip(result.Context), next.text())
	return agent.ReplaceAfterTool(result, "checkpoint"), nil
}

// A goBackCall are the arguments of the tool.
type goBackCall struct {
	Checkpoint int    `json:"checkpoint"`
	Guidance   string `json:"guidance"`
}

// maxGuidance bounds the guidance in characters.
const maxGuidance = 4000

// mark returns the checkpoint of a step, and whether there is one.
func (s *retrospect) mark(step int) (mark, bool) {
	call, ok := s.marks[step]
	return mark{step, call}, ok
}

// BeforeTool refuses to go back too often, or to a checkpoint that does not exist.
func (r *Retrospective) BeforeTool(
	_ context.Context, run *agent.Run, call agent.ToolCallRequest,
) (agent.BeforeToolOutcome, error) {
	if call.Name != goBack {
		return nil, nil
	}
	args, err := kit.ReadArgs[goBackCall](call)
	if err != nil {
		return nil, nil // the loop or the tool refuses the arguments
	}
	refused := ""
	r.runs.Do(run, func(s *retrospect) {
		if most := r.Max.Or(3); s.used >= most {
			refused = fmt.Sprintf("the conversation went back %d times, which is the limit; continue from here", most)
		} else if m, ok := s.mark(args.Checkpoint); !ok || !slices.ContainsFunc(kit.Messages(run), m.in) {
			refused = fmt.Sprintf("the conversation has no checkpoint %d", args.Checkpoint)
		}
	})
	if refused == "" {
		return nil, nil
	}
	return agent.SkipTool{Result: agent.ToolCallResult{Err: refused, NoRetry: true}, Reason: "no_checkpoint"}, nil
}

// ObserveAfterTool goes back after a successful call of the tool.
func (r *Retrospective) ObserveAfterTool(
	_ context.Context, run *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult],
) {
	call, env := fired.Payload.Call, kit.Env(run)
	if call.Name != goBack || !kit.Succeeded(fired.Payload) || fired.Err != nil || fired.Final.Err != "" ||
		env == nil || env.RewriteConversation == nil {
		return
	}
	args, err := kit.ReadArgs[goBackCall](call)
	if err != nil {
		return
	}
	var to mark
	var found bool
	r.runs.Do(run, func(s *retrospect) {
		again := s.used > 0 && s.last == (mark{call.Step, call.ID}) // this hook is bound twice
		if to, found = s.mark(args.Checkpoint); !found || again || s.used >= r.Max.Or(3) {
			found = false
			return
		}
		s.used, s.last = s.used+1, mark{call.Step, call.ID}
		maps.DeleteFunc(s.marks, func(step int, _ string) bool { return step > to.step })
	})
	if found {
		reason := fmt.Sprintf("back to checkpoint %d", to.step)
		env.RewriteConversation(reason, func(messages []agent.Message) []agent.Message {
			return cutAfter(messages, to, args.Guidance)
		})
	}
}

// cutAfter drops the messages after the step of a mark, and adds the guidance. If a compaction has removed the mark in
// the meantime, it only adds the guidance.
func cutAfter(messages []agent.Message, at mark, guidance string) []agent.Message {
	if end := slices.IndexFunc(messages, at.in); end != -1 {
		for end < len(messages) && messages[end].Role == agent.RoleTool {
			end++
		}
		messages = messages[:end:end]
	}
	text := fmt.Sprintf("[BACK AT CHECKPOINT %d]\nThe steps after it are removed. Changes that they made are still there.",
		at.step)
	if guidance = strings.TrimSpace(guidance); guidance != "" {
		text += "\nYour guidance: " + shorten.To(guidance, maxGuidance)
	}
	return append(messages, agent.Message{Role: agent.RoleUser, Content: text})
}

//go:embed go_back.schema.json
var goBackSchema string

// Tool returns the tool with which the model goes back. The conversation goes back after the call.
func (*Retrospective) Tool() agent.Tool {
	return kit.Tool[goBackCall]{
		Described: agent.ToolSchema{
			Name: goBack,
			Description: "Goes back to a checkpoint of this conversation and forgets the steps after it. " +
				"Use it after a wrong turn. What the steps have changed is not undone.",
			Parameters: json.RawMessage(goBackSchema),
		},
		Run: func(_ context.Context, args goBackCall) (string, error) {
			return fmt.Sprintf("Going back to checkpoint %d.", args.Checkpoint), nil
		},
	}
}
