package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func callTurns(n int, last ...looptest.Turn) []looptest.Turn {
	var turns []looptest.Turn
	for i := range n {
		turns = append(turns, looptest.Call("x",
			map[string]any{"n": i}).Uses(agent.Usage{Input: 10, Output: 1}))
	}
	return append(turns, last...)
}

func TestCheckpointIsSavedEveryFewSteps(t *testing.T) {
	dir := t.TempDir()
	hook := &session.Checkpoint{Store: session.Dir{Path: dir}, Every: 2}
	ran := looptest.Harness{
		Agent: &loop.Agent{Name: "clerk"},
		Turns: callTurns(4, looptest.Reply("done")),
		Tools: []agent.Tool{&looptest.Tool{Name: "x", Result: "y"}},
		Hooks: []agent.Hook{hook, hook},
	}.Do(t, t.Context(), loop.Request{Task: "go", Conversation: "c", User: "u"})
	for _, e := range ran.Trace.Events() {
		if e.Failure != nil {
			t.Error(e.Failure)
		}
	}
	keys, err := hook.Store.Keys(t.Context(), "")
	if want := []string{
		"checkpoint//u/c/counters", "checkpoint//u/c/step/2", "checkpoint//u/c/step/4",
	}; err != nil || !slices.Equal(keys, want) {
		t.Errorf("keys %q, %v", keys, err)
	}
	saved, err := session.Latest(t.Context(), hook.Store, agent.Identity{User: "u", Conversation: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if saved.StepNumber != 4 || len(saved.Messages) != 9 || saved.Agent != "clerk" || saved.Task != "go" ||
		saved.Identity != (agent.Identity{User: "u", Conversation: "c"}) || saved.Run == "" ||
		saved.Counters.Step != 5 || saved.Counters.ModelCalls != 5 || saved.Counters.Usage.Input != 40 ||
		saved.Counters.ToolCalls != 4 || saved.Counters.Tools["x"] != 4 || saved.Counters.Elapsed <= 0 ||
		saved.Time.IsZero() {
		t.Errorf("state: %+v", saved)
	}
}

func TestRunResumesFromLastCheckpoint(t *testing.T) {
	store := new(session.Map)
	request := loop.Request{Task: "go", Conversation: "c"}
	crash := errors.New("crash")
	tool := &looptest.Tool{Name: "x", Result: "y"}
	run := func(req loop.Request, resume bool, turns ...looptest.Turn) *looptest.Ran {
		return looptest.Harness{Turns: turns, Tools: []agent.Tool{tool},
			Hooks: []agent.Hook{&session.Checkpoint{Store: store, Every: 2, Resume: resume}}}.
			Do(t, t.Context(), req)
	}
	run(request, true, callTurns(3, looptest.Error(crash))...)

	// Resume manually, with the counters.
	c := agent.Identity{Conversation: "c"}
	saved, err := session.Latest(t.Context(), store, c)
	if err != nil || saved.StepNumber != 2 {
		t.Fatalf("%+v, %v", saved, err)
	}
	byHand := loop.Request{Messages: saved.Messages, Conversation: "by hand", Resume: loop.Resume{
		Steps: saved.Counters.Step, ModelCalls: saved.Counters.ModelCalls, Usage: saved.Counters.Usage,
		Rejections: saved.Counters.Rejections,
	}}
	if ran := run(byHand, false, looptest.Reply("done")); ran.Steps != 5 || ran.ModelCalls != 4 || ran.Usage.Input != 30 ||
		len(ran.Messages) != 6 {
		t.Errorf("by hand: %+v", ran.AgentResult)
	}

	// Resume automatically: the task appears once, the points fire, and the step numbers continue.
	ran := run(request, true, callTurns(2, looptest.Error(crash))...)
	if got := fixture.Transcript(ran.Script.Requests()[0].Messages); got != "user:go assistant: tool:y assistant: tool:y" {
		t.Errorf("went on with %s", got)
	}
	ran.Recorder.Decided(t, "OnRunStart", "session.Checkpoint", "Replace", "continues after step 2")
	saved, err = session.Latest(t.Context(), store, c)
	if err != nil || saved.StepNumber != 6 || saved.Task != "go" {
		t.Errorf("after going on: %+v, %v", saved, err)
	}

	// The run has completed and deleted its checkpoints.
	run(request, true, looptest.Reply("done"))
	if _, err := session.Latest(t.Context(), store, c); !errors.As(err, new(*agent.NotFound)) {
		t.Errorf("after the end: %v", err)
	}
	if ran := run(request, true, looptest.Reply("new")); fixture.Transcript(ran.Messages) != "user:go assistant:new" {
		t.Errorf("a new run: %s", fixture.Transcript(ran.Messages))
	}
}

// stepKey returns the key of a checkpoint of the conversation c.
func stepKey(step int) string { return fmt.Sprintf("checkpoint///c/step/%d", step) }

// checkpointed runs an agent whose model calls a tool in each of n steps and then fails.
func checkpointed(t *testing.T, store agent.Store, n int) *looptest.Ran {
	return looptest.Harness{Turns: callTurns(n, looptest.Error(errors.New("crash"))),
		Tools: []agent.Tool{&looptest.Tool{Name: "x", Result: "y"}},
		Hooks: []agent.Hook{&session.Checkpoint{Store: store, Every: 1}}}.
		Do(t, t.Context(), loop.Request{Task: "go", Conversation: "c"})
}

func TestUnreadableCheckpointEndsTheChain(t *testing.T) {
	for _, c := range []struct {
		name   string
		broken map[string]string
		want   int // the step of the latest checkpoint; 0: none
	}{
		{"nothing", nil, 3},
		{"the last", map[string]string{stepKey(3): "{"}, 2},
		{"of another step", map[string]string{stepKey(3): `{"step_number":2,"chain":"a","first":true}`}, 2},
		{"without a chain", map[string]string{stepKey(4): `{"step_number":4,"first":true,"time":"2999-01-01T00:00:00Z"}`}, 3},
		{"the first of a chain after others", map[string]string{
			stepKey(4): `{"step_number":4,"chain":"a","first":true,"from":1,"time":"2999-01-01T00:00:00Z"}`,
		}, 3},
		{"in between", map[string]string{stepKey(2): "{}"}, 1},
		{"the first", map[string]string{stepKey(1): "null"}, 0},
		{"the counters", map[string]string{"checkpoint///c/counters": "{"}, 3},
		{"foreign keys", map[string]string{
			"checkpoint///c/step/x": "{}", "checkpoint///c/step/09": "{}", "checkpoint///c/step/-1": "{}",
			"checkpoint///c/other/9": "{}", "checkpoint///d/step/99": "{}", "checkpoint///c/step/9/9": "{}",
		}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := new(session.Map)
			checkpointed(t, store, 3)
			for key, text := range c.broken {
				if err := store.Put(t.Context(), key, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			saved, err := session.Latest(t.Context(), store, agent.Identity{Conversation: "c"})
			if c.want == 0 {
				if !errors.As(err, new(*agent.NotFound)) {
					t.Errorf("step %d, %v", saved.StepNumber, err)
				}
				return
			}
			if err != nil || saved.StepNumber != c.want || len(saved.Messages) != 1+2*c.want {
				t.Errorf("step %d with %d messages, %v, want %d", saved.StepNumber, len(saved.Messages), err, c.want)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := session.Latest(ctx, store, agent.Identity{Conversation: "c"}); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
		})
	}
}

func TestANewRunReplacesOldCheckpoints(t *testing.T) {
	store := new(session.Map)
	for _, steps := range []int{5, 2, 3} {
		checkpointed(t, store, steps)
		saved, err := session.Latest(t.Context(), store, agent.Identity{Conversation: "c"})
		if err != nil || saved.StepNumber != steps || len(saved.Messages) != 1+2*steps ||
			saved.Counters.Step != steps+1 {
			t.Errorf("after %d steps there is step %d with %d messages and %+v, %v", steps, saved.StepNumber,
				len(saved.Messages), saved.Counters, err)
		}
	}
}

// deletions records the keys deleted from a store, in order.
type deletions struct {
	session.Map
	keys []string
}

func (d *deletions) Delete(ctx context.Context, key string) error {
	d.keys = append(d.keys, key)
	return d.Map.Delete(ctx, key)
}

// If the program is killed during the deletion, the next run must not resume the completed one.
func TestCompletedRunDeletesFirstCheckpointFirst(t *testing.T) {
	store := new(deletions)
	checkpointed(t, store, 11)
	store.keys = nil
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("ok")},
		Hooks: []agent.Hook{&session.Checkpoint{Store: store, Resume: true}}}.
		Do(t, t.Context(), loop.Request{Task: "go", Conversation: "c"})
	want := []string{"checkpoint///c/counters"}
	for step := range 11 {
		want = append(want, stepKey(step+1))
	}
	if !slices.Equal(store.keys, want) {
		t.Errorf("deleted in the order %q", store.keys)
	}
	if keys, _ := store.Keys(t.Context(), ""); len(keys) != 0 {
		t.Errorf("left %q", keys)
	}
}

func TestSubRunsHaveNoCheckpoints(t *testing.T) {
	store := new(session.Map)
	checkpointed(t, store, 1)
	script := looptest.NewScript(callTurns(3, looptest.Reply("helped"))...)
	helper := &loop.Agent{Name: "helper", Model: script, Tools: []agent.Tool{&looptest.Tool{Name: "x"}}}
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("helper", `{"task":"a"}`), looptest.Error(errors.New("crash"))},
		Tools: []agent.Tool{loop.Subagent(helper)},
		Hooks: []agent.Hook{&session.Checkpoint{Store: store, Every: 1, Resume: true}},
	}.Do(t, t.Context(), loop.Request{Task: "go", Conversation: "c"})
	want := []string{"checkpoint///c/counters", stepKey(1), stepKey(3)}
	if keys, _ := store.Keys(t.Context(), ""); !slices.Equal(keys, want) {
		t.Errorf("keys: %q", keys)
	}
	if got := fixture.Transcript(script.Requests()[0].Messages); got != "user:a" {
		t.Errorf("the sub-run began with %q", got)
	}
}

// sizes counts the bytes that are put into a store.
type sizes struct {
	session.Map
	put int
}

func (s *sizes) Put(ctx context.Context, key string, value []byte) error {
	s.put += len(value)
	return s.Map.Put(ctx, key, value)
}

// stored returns the bytes in the store.
func (s *sizes) stored(t *testing.T) (n int) {
	keys, err := s.Keys(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		value, err := s.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		n += len(value)
	}
	return n
}

func TestCheckpointsAreAsLongAsTheConversation(t *testing.T) {
	const steps, size = 100, 4096
	run := func(t *testing.T, every int, hooks ...agent.Hook) *sizes {
		store := new(sizes)
		turns := make([]looptest.Turn, steps)
		for i := range turns {
			turns[i] = looptest.Call("x", nil)
		}
		looptest.Harness{
			Turns: append(turns, looptest.Error(errors.New("crash"))), Tools: []agent.Tool{
				&looptest.Tool{Name: "x", Result: strings.Repeat("y", size)},
			},
			Hooks: append(hooks, &session.Checkpoint{Store: store, Every: limit.AtMost(every)}),
			Agent: &loop.Agent{
				Limits: loop.Limits{Steps: -1}, Instructions: strings.Repeat("s", 10_000),
				Compactor: &dropping{},
			},
		}.Do(t, t.Context(), loop.Request{Task: strings.Repeat("t", 1000), Conversation: "c"})
		return store
	}
	for _, every := range []int{1, 5} {
		t.Run(fmt.Sprintf("every %d steps", every), func(t *testing.T) {
			store := run(t, every)
			if n := store.stored(t); n > steps*size*5/4 {
				t.Errorf("%d bytes are stored of a conversation of %d", n, steps*size)
			}
			if store.put > steps*size*3/2 {
				t.Errorf("%d bytes were written for a conversation of %d", store.put, steps*size)
			}
		})
	}
	t.Run("after compactions", func(t *testing.T) {
		compacts := agent.ShouldCompactFunc(func(
			_ context.Context, _ *agent.Run, use agent.ContextUse,
		) (agent.ShouldCompactOutcome, error) {
			if len(use.Messages) < 40 {
				return nil, nil
			}
			return agent.Compact{}, nil
		})
		store := run(t, 1, compacts)
		if n := store.stored(t); n > 40*size {
			t.Errorf("%d bytes are stored, although the conversation never had more than 20 results", n)
		}
		saved, err := session.Latest(t.Context(), store, agent.Identity{Conversation: "c"})
		if err != nil || saved.StepNumber != steps || saved.Task != strings.Repeat("t", 1000) {
			t.Errorf("step %d of the task %.9s, %v", saved.StepNumber, saved.Task, err)
		}
	})
}

// dropping keeps the last four messages of a conversation.
type dropping struct{}

func (*dropping) Compact(_ context.Context, _ *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	return agent.Compacted{Messages: c.Messages[len(c.Messages)-4:]}, nil
}

// A supervisor starts a run again whenever it crashes, here in the middle of each step.
func TestCrashLoopsReachTheLimits(t *testing.T) {
	prices := agent.OnRunStartFunc(func(
		_ context.Context, run *agent.Run, _ agent.RunStart,
	) (agent.OnRunStartOutcome, error) {
		run.Env.UsePricer(dollar{})
		return nil, nil
	})
	for name, c := range map[string]struct {
		limits loop.Limits
		hook   agent.Hook
		cause  agent.Cause
		most   int // model calls
	}{
		"steps":           {loop.Limits{Steps: 7}, nil, agent.CauseStepsLimit, 7},
		"tokens":          {loop.Limits{Tokens: 77}, nil, agent.CauseTokenLimit, 7},
		"cost":            {loop.Limits{Cost: 7}, nil, agent.CauseTokenLimit, 7},
		"a hook's tokens": {loop.Limits{}, &limit.Tokens{Max: 77}, agent.CauseTokenLimit, 7},
		"a hook's steps":  {loop.Limits{}, &limit.Steps{Max: 7}, agent.CauseStepsLimit, 7},
	} {
		t.Run(name, func(t *testing.T) {
			store, asked := new(killed), 0
			var ended agent.AgentResult
			for range 40 {
				store.dead = false
				hooks := []agent.Hook{&session.Checkpoint{Store: store, Every: 3, Resume: true}, prices}
				if c.hook != nil {
					hooks = append(hooks, c.hook)
				}
				turn := looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
					if !store.dead {
						asked++
					}
					return looptest.Call("x", nil).Uses(agent.Usage{Input: 10, Output: 1}).Response(), nil
				})
				calls := 0
				crash := &looptest.Tool{Name: "x", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
					calls++
					store.dead = calls == 2
					return "", nil
				}}
				ran := looptest.Harness{
					Turns: []looptest.Turn{turn, turn, looptest.Reply("never")}, Tools: []agent.Tool{crash}, Hooks: hooks,
					Agent: &loop.Agent{Limits: c.limits},
				}.Do(t, t.Context(), loop.Request{Task: "go", Conversation: "c"})
				ended = ran.AgentResult
			}
			if ended.Stop.Cause != c.cause || asked > c.most || asked < c.most-2 {
				t.Errorf("%d model calls, and at last %+v", asked, ended.Stop)
			}
		})
	}
}

// killed is a store that ignores all changes while it is dead, like the store of a program that was killed.
type killed struct {
	session.Map
	dead bool
}

func (k *killed) Put(ctx context.Context, key string, value []byte) error {
	if k.dead {
		return nil
	}
	return k.Map.Put(ctx, key, value)
}

func (k *killed) Delete(ctx context.Context, key string) error {
	if k.dead {
		return nil
	}
	return k.Map.Delete(ctx, key)
}

type dollar struct{}

func (dollar) Price(agent.LLMRequest, agent.LLMResponse) (float64, bool) { return 1, true }

func TestFailureToSaveCheckpointIsReported(t *testing.T) {
	var reported []string
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("x")},
		Hooks: []agent.Hook{&session.Checkpoint{Store: new(fullStore), Every: 1, OnError: func(err error) {
			reported = append(reported, err.Error())
		}}},
	}.Do(t, t.Context(), loop.Request{Task: "go", Conversation: "c"})
	if want := []string{
		"the counters of step 1 are not saved: no space left", "the counters of step 1 are not saved: no space left",
		"step 1 is not saved: no space left",
	}; ran.Failed != nil || !slices.Equal(reported, want) {
		t.Errorf("%v, reported %q", ran.Failed, reported)
	}
	fixture.MustPanic(t, "Store is nil", func() { new(agent.Hooks).Use(&session.Checkpoint{}) })
	fixture.MustPanic(t, "Every is -1", func() {
		new(agent.Hooks).Use(&session.Checkpoint{Store: new(session.Map), Every: -1})
	})
}

func ExampleCheckpoint() {
	ctx := context.Background()
	store := new(session.Map) // or session.Dir{Path: "checkpoints"}
	tool := &looptest.Tool{Name: "look", Result: "a door"}
	agentWith := func(turns ...looptest.Turn) *loop.Agent {
		return &loop.Agent{
			Model: looptest.NewScript(turns...), Tools: []agent.Tool{tool},
			Hooks: loop.Hooks(&session.Checkpoint{Store: store, Every: 1, Resume: true}),
		}
	}
	request := loop.Request{Task: "Find the way out.", Conversation: "maze"}
	_, err := agentWith(looptest.Call("look", nil), looptest.Error(errors.New("power cut"))).Do(ctx, request)
	fmt.Println(strings.Contains(err.Error(), "power cut"))

	result, _ := agentWith(looptest.Reply("Through the door.")).Do(ctx, request)
	for _, m := range result.Messages {
		fmt.Printf("%s: %q\n", m.Role, m.Content)
	}
	// Output:
	// true
	// user: "Find the way out."
	// assistant: ""
	// tool: "a door"
	// assistant: "Through the door."
}
