package prompt_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleSteering() {
	steering := &prompt.Steering{}
	build := agent.Identity{Conversation: "build"}
	_ = steering.Steer(build, "Leave the tests alone.") // from any goroutine, at any time

	a := &loop.Agent{
		Model: looptest.NewScript(looptest.Func(func(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
			fmt.Println(req.Messages[len(req.Messages)-1].Content)
			return looptest.Reply("Understood.").Response(), nil
		})),
		Hooks: loop.Hooks(steering),
	}
	_, err := a.Do(context.Background(), loop.Request{Task: "Mend the build.", Conversation: "build"})
	fmt.Println(err, len(steering.Pending(build)))
	// Output:
	// [OPERATOR STEERING]
	// - Leave the tests alone.
	// <nil> 0
}

// all is the identity for a queue that everyone shares.
var all agent.Identity

func TestSteeringQueuesMessages(t *testing.T) {
	s := &prompt.Steering{Share: share.Everyone}
	for _, text := range []string{"", " \n", " one\r\ntwo ", "three"} {
		if err := s.Steer(all, text); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(s.Pending(all), "|"); got != "one\ntwo|three" || len(s.Pending(all)) != 2 {
		t.Errorf("pending: %q", got)
	}
	if s.Clear(all); len(s.Pending(all)) != 0 || s.Pending(all) != nil {
		t.Errorf("after Clear: %q", s.Pending(all))
	}
}

func TestSteeringSendsOneMessageOrAll(t *testing.T) {
	for whole, want := range map[bool][]string{
		false: {"[OPERATOR STEERING]\n- one\n  line", "[OPERATOR STEERING]\n- two", ""},
		true:  {"[OPERATOR STEERING]\n- one\n  line\n- two", "", ""},
	} {
		s := &prompt.Steering{All: whole, Share: share.Everyone}
		if err := s.Steer(all, "one\nline"); err != nil {
			t.Error(err)
		}
		if err := s.Steer(all, "two"); err != nil {
			t.Error(err)
		}
		ran := looptest.Harness{Turns: fixture.Work(2), Tools: fixture.Worker(), Hooks: []agent.Hook{s}}.Run(t, "x")
		for i, req := range ran.Script.Requests() {
			if got := fixture.Briefing(req); got != want[i] {
				t.Errorf("all %v, prompt %d: %q, want %q", whole, i, got, want[i])
			}
		}
		if len(s.Pending(all)) != 0 {
			t.Errorf("pending: %q", s.Pending(all))
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
			s := &prompt.Steering{Share: share.Everyone}
			if err := s.Steer(all, "mind the gap"); err != nil {
				t.Error(err)
			}
			l.Hooks = append(l.Hooks, s)
			l.Run(t, "x")
			if len(s.Pending(all)) != 1 {
				t.Fatal("the message is lost")
			}
			next := looptest.Harness{Turns: fixture.Work(0), Hooks: []agent.Hook{s}}.Run(t, "x")
			got := fixture.Briefing(next.Script.Requests()[0])
			if got != "[OPERATOR STEERING]\n- mind the gap" || len(s.Pending(all)) != 0 {
				t.Errorf("the next run is briefed %q, pending %q", got, s.Pending(all))
			}
		})
	}
}

func TestSteeringFindsOnlyItsOwnText(t *testing.T) {
	const header, line = "[OPERATOR STEERING]\n", "- mind the gap"
	for _, c := range []struct {
		name string
		sent []agent.Message
		left int
	}{
		{"its text", []agent.Message{fixture.System(header + line)}, 0},
		{"its text among others", []agent.Message{fixture.System("a\n" + header + line + "\nb")}, 0},
		{"quoted by the user", []agent.Message{fixture.User(header + line)}, 1},
		{"without its header", []agent.Message{fixture.System(line)}, 1},
		{"another message", []agent.Message{fixture.System(header + "- other")}, 1},
		{"the beginning of a line", []agent.Message{fixture.System(header + line + "s")}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &prompt.Steering{Share: share.Everyone}
			var hooks agent.Hooks
			hooks.Use(s)
			if err := s.Steer(all, "mind the gap"); err != nil {
				t.Fatal(err)
			}
			run := agent.NewRun(nil)
			hooks.Briefing.Fire(t.Context(), run, agent.Step{})
			_, err := hooks.AroundLLM.Fire(t.Context(), run, agent.LLMRequest{Messages: c.sent},
				func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) { return agent.LLMResponse{}, nil })
			if got := len(s.Pending(all)); err != nil || got != c.left {
				t.Errorf("%v: %d messages are pending, want %d", err, got, c.left)
			}
		})
	}
}

func TestSteeringKeepsMessagesUntilSuccessfulRetry(t *testing.T) {
	s := &prompt.Steering{Share: share.Everyone}
	if err := s.Steer(all, "x"); err != nil {
		t.Error(err)
	}
	long := looptest.Error(&agent.PromptTooLong{})
	compactor := fixture.CompactorFunc(func(_ context.Context, _ *agent.Env, c agent.Compaction) (agent.Compacted, error) {
		return agent.Compacted{Messages: c.Messages[1:]}, nil
	})
	tested := looptest.Harness{Turns: []looptest.Turn{long, looptest.Reply("ok")}, Hooks: []agent.Hook{s},
		Agent: &loop.Agent{Compactor: compactor}}
	ran := tested.Do(t, t.Context(), loop.Request{Task: "now", Messages: []agent.Message{fixture.User("before")}})
	requests := ran.Script.Requests()
	if len(requests) != 2 || fixture.Briefing(requests[0]) == "" ||
		fixture.Briefing(requests[1]) != fixture.Briefing(requests[0]) || len(s.Pending(all)) != 0 {
		t.Errorf("%d prompts, pending %q", len(requests), s.Pending(all))
	}
}

func TestSteeringDistinguishesEqualMessages(t *testing.T) {
	s := &prompt.Steering{Share: share.Everyone}
	var hooks agent.Hooks
	hooks.Use(s)
	if err := s.Steer(all, "same"); err != nil {
		t.Error(err)
	}
	if err := s.Steer(all, "same"); err != nil {
		t.Error(err)
	}
	one, two := agent.NewRun(nil), agent.NewRun(nil)
	var req agent.LLMRequest
	for _, run := range []*agent.Run{one, two} {
		req.Messages = []agent.Message{fixture.System(hooks.Briefing.Fire(t.Context(), run, agent.Step{})[0])}
	}
	_, err := hooks.AroundLLM.Fire(t.Context(), two, req,
		func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			return agent.LLMResponse{}, nil
		})
	if err != nil || len(s.Pending(all)) != 1 {
		t.Errorf("%v: %d messages are pending, want that of the first run", err, len(s.Pending(all)))
	}
}

func TestSteeringDeliversEachMessageOnce(t *testing.T) {
	s := &prompt.Steering{Share: share.Everyone}
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
	a := &loop.Agent{Model: script, Hooks: loop.Hooks(s)}
	for p := range 4 {
		producers.Go(func() {
			for i := range 25 {
				if err := s.Steer(all, fmt.Sprint(p, " ", i)); err != nil {
					t.Error(err)
				}
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
	if len(seen) != 100 || len(s.Pending(all)) != 0 {
		t.Errorf("%d messages arrived, pending %q", len(seen), s.Pending(all))
	}
	for text, n := range seen {
		if n != 1 {
			t.Errorf("%q arrived %d times", text, n)
		}
	}
}

func TestSteeringReachesOnlyItsConversation(t *testing.T) {
	ann := agent.Identity{Tenant: "t", User: "ann", Conversation: "1"}
	for _, c := range []struct {
		name  string
		scope share.Scope
		req   loop.Request
		gets  bool
	}{
		{"the conversation", share.Conversation, loop.Request{Tenant: "t", User: "ann", Conversation: "1"}, true},
		{"another one", share.Conversation, loop.Request{Tenant: "t", User: "ann", Conversation: "2"}, false},
		{"another user", share.Conversation, loop.Request{Tenant: "t", User: "bob", Conversation: "1"}, false},
		{"another tenant", share.Conversation, loop.Request{User: "ann", Conversation: "1"}, false},
		{"no identity", share.Conversation, loop.Request{}, false},
		{"the user", share.User, loop.Request{Tenant: "t", User: "ann", Conversation: "2"}, true},
		{"not the user", share.User, loop.Request{Tenant: "t", User: "bob", Conversation: "1"}, false},
		{"the tenant", share.Tenant, loop.Request{Tenant: "t", User: "bob", Conversation: "3"}, true},
		{"everyone", share.Everyone, loop.Request{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &prompt.Steering{Share: c.scope}
			if err := s.Steer(ann, "mind the gap"); err != nil {
				t.Fatal(err)
			}
			c.req.Task = "x"
			ran := looptest.Harness{Turns: fixture.Work(0), Hooks: []agent.Hook{s}}.Do(t, t.Context(), c.req)
			got := fixture.Briefing(ran.Script.Requests()[0]) != ""
			if left := len(s.Pending(ann)); got != c.gets || (left == 0) != c.gets {
				t.Errorf("delivered: %t, %d pending", got, left)
			}
		})
	}
	if err := new(prompt.Steering).Steer(agent.Identity{User: "ann"}, "x"); err == nil {
		t.Error("a message for no conversation was accepted")
	}
}
