package session

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
)

func (r *checkpointRun) note(s agent.StepResult) {
	if r.results == nil {
		r.results = make(map[string]string)
	}
	line := fmt.Sprintf("#%d", r.offset+s.Step.Number)
	for _, result := range s.Results {
		line += " " + shorten.Line(result.Call.Name, 60) + ": " + shorten.Line(result.Content(), 120)
		r.results[result.Call.ID] = result.Content()
	}
	if s.Response != nil {
		if len(s.Results) == 0 {
			line += " " + shorten.Line(s.Response.Content, 120)
		}
		for _, call := range s.Response.ToolCalls {
			var args struct {
				Theory string `json:"__theory__"`
			}
			if json.Unmarshal(call.Args, &args) == nil && args.Theory != "" {
				r.theory = args.Theory
			}
		}
	}
	if s.Err != "" {
		line += " " + shorten.Line(s.Err, 120)
	}
	r.entries = append(r.entries, line)
}

func lastEntries(entries []string) []string { return entries[max(0, len(entries)-maxEntries):] }

// part returns the checkpoint of a step.
func (r *checkpointRun) part(run *agent.Run, s agent.StepResult, messages []agent.Message) *checkpointPart {
	count := kit.Env(run).Count()
	part := &checkpointPart{Chain: r.chainFor(run), CheckpointState: CheckpointState{
		StepNumber: r.offset + s.Step.Number,
		SessionLog: CheckpointLog{Entries: slices.Clone(r.entries)},
		Config: CheckpointConfig{
			MaxSteps: count.MaxSteps, MaxTokens: count.MaxTokens, Temperature: r.temperature, QueriesUsed: count.ModelCalls,
		},
		Counters:  countersOf(run),
		Metadata:  map[string]string{"run": run.ID(), "agent": kit.Agent(run)},
		CreatedAt: kit.UnixSeconds(kit.Env(run).Now()),
	}}
	was := r.was
	if r.begun && continues(messages, r.kept) {
		part.From = len(r.kept)
	} else {
		part.First, was = true, checkpointTexts{}
		part.SessionLog.Entries = lastEntries(slices.Concat(r.earlier, r.entries))
	}
	part.Conversation.Messages = messages[part.From:]
	if r.system != was.system {
		part.Config.SystemPrompt = r.system
	}
	if r.theory != was.theory {
		part.SessionLog.CurrentTheory = r.theory
	}
	if r.task != was.task {
		part.Metadata["task"] = r.task
	}
	known := resultsIn(part.Conversation.Messages)
	for id, result := range r.results {
		if known[id] != result {
			if part.ToolResultsStore == nil {
				part.ToolResultsStore = make(map[string]string)
			}
			part.ToolResultsStore[id] = result
		}
	}
	if count.MaxTokens > 0 {
		remaining := count.MaxTokens - count.Usage.Total()
		part.Config.BudgetRemaining = &remaining
	}
	return part
}

// continues reports whether a conversation begins with an earlier one, by the texts of the messages.
func continues(messages, earlier []agent.Message) bool {
	return len(messages) >= len(earlier) && slices.EqualFunc(messages[:len(earlier)], earlier,
		func(a, b agent.Message) bool {
			return a.Role == b.Role && a.Content == b.Content && a.ToolCallID == b.ToolCallID && a.Name == b.Name &&
				len(a.ToolCalls) == len(b.ToolCalls)
		})
}

// resultsIn returns the results of calls in a conversation, by the ID of the call.
func resultsIn(messages []agent.Message) map[string]string {
	results := make(map[string]string)
	for _, m := range messages {
		if m.Role == agent.RoleTool {
			results[m.ToolCallID] = m.Content
		}
	}
	return results
}
