package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// cacheSteps is the number of steps of a run whose requests are measured, each with a result of cacheResult bytes.
const (
	cacheSteps  = 24
	cacheResult = 2000
)

// requested are the requests of a run.
type requested struct {
	mu  sync.Mutex
	all []agent.LLMRequest
}

// Generate calls the tool work in each step, with new arguments each time.
func (r *requested) Generate(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, req)
	n := len(r.all)
	if n > cacheSteps {
		return agent.LLMResponse{Content: "done"}, nil
	}
	args := fmt.Sprintf(`{"n":%d,"__theory__":"theory %d"}`, n, n)
	return agent.LLMResponse{Content: fmt.Sprint("step ", n), ToolCalls: []agent.ToolCallRequest{
		{ID: fmt.Sprint("call_", n), Name: "work", Args: json.RawMessage(args)},
	}}, nil
}

// runMeasured runs an agent for cacheSteps steps and returns its requests, without those that hooks made, which have no
// tools. Some calls fail, and the limit of steps is near at the end, so that hooks have something to say.
func runMeasured(t *testing.T, hooks ...agent.Hook) []agent.LLMRequest {
	t.Helper()
	model, n := new(requested), 0
	work := &looptest.Tool{Name: "work", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
		if n++; n%6 == 0 {
			return "", fmt.Errorf("failure %d", n)
		}
		return fmt.Sprint("result ", n, " ", strings.Repeat(fmt.Sprint(n, " "), cacheResult/3)), nil
	}}
	ran := looptest.Harness{
		Agent: &loop.Agent{
			Model: model, Instructions: strings.Repeat("Work carefully. ", 100), Approver: approving{},
			Limits: loop.Limits{Steps: cacheSteps + 6},
		},
		Tools: []agent.Tool{work}, Hooks: hooks,
	}.Do(t, t.Context(), loop.Request{Task: "go", Conversation: "c"})
	if ran.Failed != nil {
		t.Fatal(ran.Failed)
	}
	return slices.DeleteFunc(model.all, func(req agent.LLMRequest) bool { return len(req.Tools) == 0 })
}

// approving is an approver that allows everything.
type approving struct{}

func (approving) Approve(context.Context, agent.Question) (agent.Approval, error) {
	return agent.Approval{Allow: true}, nil
}

// encoded returns a request as a provider caches it: first the tools, then the messages.
func encoded(t *testing.T, req agent.LLMRequest) string {
	t.Helper()
	var b strings.Builder
	for _, part := range []any{req.Tools, req.Messages} {
		data, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(data[:max(len(data)-1, 0)]) // without the end of the list
	}
	return b.String()
}

// repeated returns the share of the requests that repeats the beginning of the request before, over the whole run.
func repeated(t *testing.T, requests []agent.LLMRequest) float64 {
	t.Helper()
	same, all, before := 0, 0, ""
	for _, req := range requests {
		text := encoded(t, req)
		n := 0
		for n < min(len(text), len(before)) && text[n] == before[n] {
			n++
		}
		same, all, before = same+n, all+len(text), text
	}
	return float64(same) / float64(all)
}

// preamble returns the part of a request that precedes the conversation.
func preamble(t *testing.T, req agent.LLMRequest) string {
	t.Helper()
	for i, m := range req.Messages {
		if m.Role != agent.RoleSystem {
			req.Messages = req.Messages[:i]
			break
		}
	}
	return encoded(t, req)
}

// TestHooksKeepPromptsCacheable measures every hook of builtin. Providers cache the longest common beginning of two
// requests, and so a hook that changes the beginning in each step makes a run several times as expensive.
func TestHooksKeepPromptsCacheable(t *testing.T) {
	without := runMeasured(t)
	hooks := ready(t)
	hooks["all that add text"] = func() agent.Hook {
		var all together
		for _, name := range []string{
			"limit.Warning", "memory.Injector", "memory.NotesInjector", "prompt.Config", "prompt.FailureHint",
			"prompt.FailureNote", "prompt.Staged", "prompt.Static", "prompt.Steering", "prompt.Todo", "prompt.WorkingTheory",
			"window.Auto",
			"window.Guard",
		} {
			all = append(all, ready(t)[name]())
		}
		return all
	}
	for name, newHook := range hooks {
		t.Run(name, func(t *testing.T) {
			requests := runMeasured(t, newHook())
			if len(requests) < cacheSteps/2 {
				t.Fatalf("the run made only %d requests", len(requests))
			}
			share, most := repeated(t, requests), repeated(t, without[:min(len(requests), len(without))])
			if share < 0.95*most {
				t.Errorf("%.1f %% of the requests repeat the one before; without hooks it is %.1f %%", 100*share, 100*most)
			}
			for i, req := range requests[1:] {
				if got, want := preamble(t, req), preamble(t, requests[0]); got != want {
					t.Fatalf("request %d begins with %.300q, the first one with %.300q", i+2, got, want)
				}
			}
		})
	}
}

// together binds several hooks.
type together []agent.Hook

func (all together) Bind(h *agent.Hooks) {
	for _, hook := range all {
		h.Use(hook)
	}
}

// TestShortenedPromptsStayCacheable measures runs that are too long for their window. Each shortening changes the
// beginning of the requests, and so it must be rare.
func TestShortenedPromptsStayCacheable(t *testing.T) {
	const most = 8000 // tokens; a step has about 700
	for _, c := range []struct {
		name string
		hook agent.Hook
	}{
		{"TokenBudget", &window.TokenBudget{Max: most}},
		{"Guard, summaries", &window.Guard{Max: 2 * most}},
		{"Guard, blanks", &window.Guard{Max: most, FullFor: limit.None}},
		{"Guard, characters", &window.Guard{
			Max: limit.None, FullFor: limit.None, Aggregate: cacheSteps * cacheResult / 2,
		}},
		{"Guard, few steps in full", &window.Guard{FullFor: 4}},
		{"Auto", &window.Auto{
			Compactor: &window.Truncate{Keep: 4}, Window: 2 * most, WarnAt: most / 2, CompactAt: most,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			requests := runMeasured(t, c.hook)
			changed, before := 0, ""
			for _, req := range requests {
				if n := len(req.Messages); n > 0 && req.Messages[n-1].Name == agent.BriefingName {
					req.Messages = req.Messages[:n-1]
				}
				text := encoded(t, req)
				if !strings.HasPrefix(text, before) {
					changed++
				}
				before = text
			}
			if changed == 0 || changed > cacheSteps/4 {
				t.Errorf("%d of %d requests do not continue the one before", changed, len(requests))
			}
		})
	}
}

func TestEveryTextOfAHookComesLast(t *testing.T) {
	requests := runMeasured(t, &prompt.WorkingTheory{}, &limit.Warning{})
	for i, req := range requests {
		last := len(req.Messages) - 1
		for j, m := range req.Messages {
			if (m.Name == agent.BriefingName) != (j == last) {
				t.Errorf("request %d: message %d of %d is %.80q", i+1, j, last+1, m.Content)
			}
		}
	}
}
