package prompt

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
)

// A server has a queue for each conversation. A queue that stays after its last message is a leak.
func TestEmptyQueuesAreDeleted(t *testing.T) {
	s := &Steering{Share: share.Everyone}
	if err := s.Steer(agent.Identity{}, "mind the gap"); err != nil {
		t.Fatal(err)
	}
	var hooks agent.Hooks
	hooks.Use(s)
	run := agent.NewRun(nil)
	texts := hooks.Briefing.Fire(t.Context(), run, agent.Step{})
	if len(texts) != 1 || len(s.queues) != 1 {
		t.Fatalf("%d texts, %d queues", len(texts), len(s.queues))
	}
	_, err := hooks.AroundLLM.Fire(t.Context(), run,
		agent.LLMRequest{Messages: []agent.Message{{Role: agent.RoleSystem, Content: texts[0]}}},
		func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) { return agent.LLMResponse{}, nil })
	if err != nil || len(s.queues) != 0 {
		t.Errorf("%v: %d queues", err, len(s.queues))
	}
}
