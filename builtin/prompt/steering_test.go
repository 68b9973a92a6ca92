package prompt_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// steered returns the messages of the operator in a request.
func steered(req agent.LLMRequest) (texts []string) {
	for _, m := range req.Messages {
		if m.Role == agent.RoleUser && strings.HasPrefix(m.Content, "[OPERATOR STEERING]") {
			texts = append(texts, m.Content)
		}
	}
	return texts
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

func TestSteeringSendsOneTextOrAll(t *testing.T) {
	const one, two = "[OPERATOR STEERING]\n- one\n  line", "\n- two"
	for whole, want := range map[bool][][]string{
		false: {{one}, {one, "[OPERATOR STEERING]" + two}, {one, "[OPERATOR STEERING]" + two}},
		true:  {{one + two}, {one + two}, {one + two}},
	} {
		s := &prompt.Steering{All: whole, Share: share.Everyone}
		if err := errors.Join(s.Steer(all, "one\nline"), s.Steer(all, "two")); err != nil {
			t.Error(err)
		}
		ran := looptest.Harness{Turns: fixture.Work(2), Tools: fixture.Worker(), Hooks: []agent.Hook{s}}.Run(t, "x")
		for i, req := range ran.Script.Requests() {
			if got := steered(req); !slices.Equal(got, want[i]) {
				t.Errorf("all %v, prompt %d: %q, want %q", whole, i, got, want[i])
			}
		}
		if len(s.Pending(all)) != 0 {
			t.Errorf("pending: %q", s.Pending(all))
		}
	}
}

// TestSteeringLosesNoText: once a run has a text, it is part of the conversation. Until then it is pending.
func TestSteeringLosesNoText(t *testing.T) {
	stop := agent.OnRunStartFunc(func(context.Context, *agent.Run, agent.RunStart) (agent.OnRunStartOutcome, error) {
		return agent.EndTurn{Reply: "stopped"}, nil
	})
	for name, l := range map[string]looptest.Harness{
		"a small briefing":          {Turns: fixture.Work(0), Agent: &loop.Agent{Limits: loop.Limits{Briefing: 1}}},
		"the model failed":          {Turns: []looptest.Turn{looptest.Error(errors.New("down"))}},
		"no step begins":            {Hooks: []agent.Hook{stop}},
		"a prompt that is too long": {Turns: []looptest.Turn{looptest.Error(&agent.PromptTooLong{})}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &prompt.Steering{Share: share.Everyone}
			if err := s.Steer(all, "mind the gap"); err != nil {
				t.Error(err)
			}
			l.Hooks = append(l.Hooks, s)
			stored := len(steered(agent.LLMRequest{Messages: l.Run(t, "x").Messages}))
			if pending := len(s.Pending(all)); stored+pending != 1 {
				t.Errorf("%d texts are in the conversation, and %d are pending", stored, pending)
			}
		})
	}
}

func TestSteeringWaitsForARunThatTakesMessages(t *testing.T) {
	s := &prompt.Steering{Share: share.Everyone}
	hooks := loop.Hooks(s)
	if err := s.Steer(all, "mind the gap"); err != nil {
		t.Error(err)
	}
	refuses := &agent.Env{Send: func(agent.Message) error { return loop.ErrNotRunning }}
	for _, env := range []*agent.Env{nil, {}, refuses} {
		hooks.BeforeStep.Fire(t.Context(), agent.NewRun(env), agent.Step{Number: 1})
		if got := s.Pending(all); !slices.Equal(got, []string{"mind the gap"}) {
			t.Errorf("pending: %q", got)
		}
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
		for _, text := range steered(req) {
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
			got := len(steered(ran.Script.Requests()[0])) > 0
			if left := len(s.Pending(ann)); got != c.gets || (left == 0) != c.gets {
				t.Errorf("delivered: %t, %d pending", got, left)
			}
		})
	}
	if err := new(prompt.Steering).Steer(agent.Identity{User: "ann"}, "x"); err == nil {
		t.Error("a message for no conversation was accepted")
	}
}
