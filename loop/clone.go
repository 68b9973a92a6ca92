package loop

import (
	"slices"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func cloned(result agent.AgentResult) agent.AgentResult {
	result.Calls = clonedResults(result.Calls)
	result.Messages = agentspec.CloneMessages(result.Messages)
	result.Signals = slices.Clone(result.Signals)
	result.Warnings = slices.Clone(result.Warnings)
	result.Suspended = cloneSuspension(result.Suspended)
	return result
}

func cloneSuspension(s *agent.Suspension) *agent.Suspension {
	if s == nil {
		return nil
	}
	c := *s
	c.Questions, c.State = slices.Clone(c.Questions), slices.Clone(c.State)
	for i, q := range c.Questions {
		c.Questions[i] = cloneQuestion(q)
	}
	return &c
}

func cloneQuestion(q agent.Question) agent.Question {
	q.Call, q.Tool.Parameters, q.Choices = q.Call.Clone(), slices.Clone(q.Tool.Parameters), slices.Clone(q.Choices)
	return q
}
