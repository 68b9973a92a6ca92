package prompt_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleSteering() {
	steering := &prompt.Steering{}
	steering.Steer("Leave the tests alone.") // from any goroutine, at any time

	a := &loop.Agent{
		Model: looptest.NewScript(looptest.Func(func(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
			fmt.Println(req.Messages[len(req.Messages)-1].Content)
			return looptest.Reply("Understood.").Response(), nil
		})),
		Use: []agent.Hook{steering},
	}
	_, err := a.Run(context.Background(), "Mend the build.")
	fmt.Println(err, steering.Len())
	// Output:
	// [OPERATOR STEERING]
	// - Leave the tests alone.
	// <nil> 0
}

func TestSteeringQueuesMessages(t *testing.T) {
	s := &prompt.Steering{}
	for _, text := range []string{"", " \n", " one\r\ntwo ", "three"} {
		s.Steer(text)
	}
	if got := strings.Join(s.Pending(), "|"); got != "one\ntwo|three" || s.Len() != 2 {
		t.Errorf("pending: %q", got)
	}
	if s.Clear(); s.Len() != 0 || s.Pending() != nil {
		t.Errorf("after Clear: %q", s.Pending())
	}
}

func TestSteeringSendsOneMessageOrAll(t *testing.T) {
	for all, want := range map[bool][]string{
		false: {"[OPERATOR STEERING]\n- one\n  line", "[OPERATOR STEERING]\n- two", ""},
		true:  {"[OPERATOR STEERING]\n- one\n  line\n- two", "", ""},
	} {
		s := &prompt.Steering{All: all}
		s.Steer("one\nline")
		s.Steer("two")
		ran := looptest.Harness{Turns: fixture.Work(2), Tools: fixture.Worker(), Hooks: []agent.Hook{s}}.Run(t, "x")
		for i, req := range ran.Script.Requests() {
			if got := fixture.Briefing(req); got != want[i] {
				t.Errorf("all %v, prompt %d: %q, want %q", all, i, got, want[i])
			}
		}
		if s.Len() != 0 {
			t.Errorf("pending: %q", s.Pending())
		}
	}
}

func TestSteeringKeepsUnansweredMessages(t *testing.T) {
	reply := looptest.Reply("cached").Response()
	for name, l := range map[string]looptest.Harness{
		"the briefing was over its limit": {Turns: fixture.Work(0), Agent: &loop.Agent{Limits: loop.Limits{Briefing: 1}}},
		"the model failed":                {Turns: []looptest.Turn{looptest.Error(errors.New("down"))}},
		"a hook answered": {Hooks: []agent.Hook{agent.BeforeLLMFunc(func(context.Context, *agent.Run,
			agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
			return agent.UseReply{Response: reply}, nil
		})}},
		"a hook took it out": {Turns: fixture.Work(0),
			Hooks: []agent.Hook{agent.BeforeLLMFunc(func(_ context.Context, _ *agent.Run,
				req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
				req.Messages = req.Messages[:len(req.Messages)-1]
				return agent.ReplaceBeforeLLM(req, "shorter"), nil
			})}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &prompt.Steering{}
			s.Steer("mind the gap")
			l.Hooks = append(l.Hooks, s)
			l.Run(t, "x")
			if s.Len() != 1 {
				t.Fatal("the message is lost")
			}
			next := looptest.Harness{Turns: fixture.Work(0), Hooks: []agent.Hook{s}}.Run(t, "x")
			if got := fixture.Briefing(next.Script.Requests()[0]); got != "[OPERATOR STEERING]\n- mind the gap" || s.Len() != 0 {
				t.Errorf("the next run is briefed %q, pending %q", got, s.Pending())
			}
		})
	}
}

func TestSteeringKeepsMessagesUntilSuccessfulRetry(t *testing.T) {
	s := &prompt.Steering{}
	s.Steer("x")
	long := looptest.Error(&agent.PromptTooLong{})
	compactor := fixture.CompactorFunc(func(_ context.Context, _ *agent.Env, c agent.Compaction) (agent.Compacted, error) {
		return agent.Compacted{Messages: c.Messages[1:]}, nil
	})
	tested := looptest.Harness{Turns: []looptest.Turn{long, looptest.Reply("ok")}, Hooks: []agent.Hook{s},
		Agent: &loop.Agent{Compactor: compactor}}
	ran := tested.Do(t, t.Context(), loop.Request{Task: "now", Messages: []agent.Message{fixture.User("before")}})
	requests := ran.Script.Requests()
	if len(requests) != 2 || fixture.Briefing(requests[0]) == "" ||
		fixture.Briefing(requests[1]) != fixture.Briefing(requests[0]) || s.Len() != 0 {
		t.Errorf("%d prompts, pending %q", len(requests), s.Pending())
	}
}

func TestSteeringDistinguishesEqualMessages(t *testing.T) {
	s := &prompt.Steering{}
	var hooks agent.Hooks
	hooks.Use(s)
	s.Steer("same")
	s.Steer("same")
	one, two := agent.NewRun(nil), agent.NewRun(nil)
	var req agent.LLMRequest
	for _, run := range []*agent.Run{one, two} {
		req.Messages = []agent.Message{fixture.System(hooks.Briefing.Fire(t.Context(), run, agent.Step{})[0])}
	}
	_, err := hooks.AroundLLM.Fire(t.Context(), two, req,
		func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			return agent.LLMResponse{}, nil
		})
	if err != nil || s.Len() != 1 {
		t.Errorf("%v: %d messages are pending, want that of the first run", err, s.Len())
	}
}

func TestSteeringDeliversEachMessageOnce(t *testing.T) {
	s := &prompt.Steering{}
	var producers, runs sync.WaitGroup
	var mu sync.Mutex
	seen := make(map[string]int)
	script := looptest.NewScript(looptest.Func(func(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
		mu.Lock()
		defer mu.Unlock()
		if text := fixture.Briefing(req); text != "" {
			seen[text]++
		}
		return looptest.Reply("ok").Response(), nil
	})).ForEachRun()
	a := &loop.Agent{Model: script, Use: []agent.Hook{s}}
	for p := range 4 {
		producers.Go(func() {
			for i := range 25 {
				s.Steer(fmt.Sprint(p, " ", i))
			}
		})
	}
	producers.Wait()
	for range 120 {
		runs.Go(func() {
			if _, err := a.Run(t.Context(), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	runs.Wait()
	if len(seen) != 100 || s.Len() != 0 {
		t.Errorf("%d messages arrived, pending %q", len(seen), s.Pending())
	}
	for text, n := range seen {
		if n != 1 {
			t.Errorf("%q arrived %d times", text, n)
		}
	}
}
