package retry_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestModelWaitsLongerEachTime(t *testing.T) {
	clock := newWalkingClock()
	ran := run(t, clock, errorsThen(slices.Repeat([]error{overload{}}, 5)...), &retry.Model{Attempts: 6})
	if ran.Failed != nil || ran.Reply != "done" || ran.ModelCalls != 6 || len(clock.waits) != 5 {
		t.Fatalf("%v, replied %q after %d calls and waits of %v", ran.Failed, ran.Reply, ran.ModelCalls, clock.waits)
	}
	for i, seconds := range []time.Duration{1, 2, 4, 8, 16} {
		nominal := seconds * time.Second
		if got := clock.waits[i]; got < nominal/2 || got > nominal*3/2 {
			t.Errorf("wait %d is %v, want about %v", i, got, nominal)
		}
	}
}

func TestModelGivesUp(t *testing.T) {
	long := overload{wait: time.Hour}
	spent := looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
		return agent.LLMResponse{Usage: agent.Usage{Input: 100}}, overload{}
	})
	for _, c := range []struct {
		name   string
		hook   retry.Model
		limits loop.Limits
		turn   looptest.Turn
		calls  int
	}{
		{"default attempts", retry.Model{}, loop.Limits{}, looptest.Error(overload{}), 4},
		{"one attempt", retry.Model{Attempts: 1}, loop.Limits{}, looptest.Error(overload{}), 1},
		{"permanent error", retry.Model{}, loop.Limits{}, looptest.Error(refusal{}), 1},
		{"prompt too long", retry.Model{}, loop.Limits{}, looptest.Error(&agent.PromptTooLong{}), 1},
		{"longer wait than allowed", retry.Model{}, loop.Limits{}, looptest.Error(long), 1},
		{"tokens used up", retry.Model{}, loop.Limits{Tokens: 250}, spent, 3},
		{"time used up", retry.Model{Attempts: limit.None, FirstWait: 4 * time.Second}, loop.Limits{Time: time.Second},
			looptest.Error(overload{}), 1},
		{"own rule", retry.Model{Temporary: func(error) bool { return false }}, loop.Limits{},
			looptest.Error(overload{}), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			turns := slices.Repeat([]looptest.Turn{c.turn}, 10)
			ran := looptest.Harness{Agent: &loop.Agent{Limits: c.limits, Clock: newWalkingClock()}, Turns: turns,
				Hooks: []agent.Hook{&c.hook}}.Run(t, "go")
			if calls := len(ran.Script.Calls()); ran.Failed == nil || calls != c.calls || ran.ModelCalls != c.calls {
				t.Errorf("%v after %d calls, counted %d, want %d", ran.Failed, calls, ran.ModelCalls, c.calls)
			}
			if c.turn.Response().Usage == (agent.Usage{}) && !errors.Is(ran.Failed, ran.Script.Calls()[0].Err) {
				t.Errorf("the error is %v", ran.Failed)
			}
		})
	}
}

func TestModelRetriesWithOwnRule(t *testing.T) {
	down := errors.New("down")
	hook := &retry.Model{Temporary: func(err error) bool { return errors.Is(err, down) }}
	if ran := run(t, newWalkingClock(), errorsThen(down), hook); ran.Reply != "done" {
		t.Errorf("replied %q, %v", ran.Reply, ran.Failed)
	}
}

func TestModelWaitsAsAsked(t *testing.T) {
	clock := newWalkingClock()
	run(t, clock, errorsThen(overload{wait: 20 * time.Second}, overload{wait: time.Nanosecond}), &retry.Model{})
	if len(clock.waits) != 2 || clock.waits[0] != 20*time.Second || clock.waits[1] < time.Second {
		t.Errorf("waited %v", clock.waits)
	}
	clock = newWalkingClock()
	run(t, clock, errorsThen(overload{wait: time.Minute}), &retry.Model{}) // as long as MaxWait
	run(t, clock, errorsThen(overload{}), &retry.Model{FirstWait: 1})
	if len(clock.waits) != 2 || clock.waits[0] != time.Minute || clock.waits[1] > 2 {
		t.Errorf("waited %v", clock.waits)
	}
}

func TestModelWaitsAreBounded(t *testing.T) {
	clock := newWalkingClock()
	errs := slices.Repeat([]error{overload{}}, 50)
	ran := run(t, clock, errorsThen(errs...), &retry.Model{Attempts: limit.None, MaxWait: limit.AtMost(3 * time.Second)})
	if ran.Reply != "done" || len(clock.waits) != 50 || slices.Max(clock.waits) > 3*time.Second {
		t.Errorf("replied %q, waited %v", ran.Reply, clock.waits)
	}
}

func TestCancelledWaitEndsTheRun(t *testing.T) {
	clock := looptest.NewClock(time.Unix(1_700_000_000, 0))
	script := errorsThen(overload{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := &loop.Agent{Model: script, Clock: clock, Hooks: new(agent.Hooks), Limits: loop.Limits{ModelTime: -1}}
	a.Hooks.Use(&retry.Model{})
	go func() {
		if clock.Await(t.Context(), 1) == nil {
			cancel()
		}
	}()
	result, err := a.Run(ctx, "go")
	if err == nil || result.Stop.Cause != agent.CauseUserRequested || len(script.Calls()) != 1 || clock.Sleeping() != 0 {
		t.Errorf("%v, stopped by %v after %d calls, %d sleep", err, result.Stop, len(script.Calls()), clock.Sleeping())
	}
}

func TestCancelledAttemptIsNotRepeated(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	hooks := new(agent.Hooks)
	hooks.Use(&retry.Model{})
	_, err := hooks.AroundLLM.Fire(ctx, agent.NewRun(&agent.Env{Clock: newWalkingClock()}), agent.LLMRequest{},
		func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			calls++
			cancel()
			return agent.LLMResponse{}, overload{}
		})
	if !errors.Is(err, overload{}) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// A cutStream streams a word and fails, until its last attempt.
type cutStream struct {
	mu    sync.Mutex
	fails int
}

func (m *cutStream) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return m.Stream(ctx, req, func(agent.Delta) {})
}

func (m *cutStream) Stream(
	_ context.Context, _ agent.LLMRequest, emit func(agent.Delta),
) (agent.LLMResponse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	emit(agent.Delta{Content: "all "})
	if m.fails > 0 {
		m.fails--
		return agent.LLMResponse{}, overload{}
	}
	emit(agent.Delta{Content: "done"})
	return agent.LLMResponse{Content: "all done"}, nil
}

func TestStreamStartsAgainWithHigherAttempt(t *testing.T) {
	var chunks []agent.Chunk
	ran := looptest.Harness{
		Agent: &loop.Agent{Model: &cutStream{fails: 1}, Clock: newWalkingClock()}, Hooks: []agent.Hook{&retry.Model{}},
	}.Do(t, t.Context(), loop.Request{Task: "go", Events: func(e loop.Event) {
		if e.Chunk != nil {
			chunks = append(chunks, *e.Chunk)
		}
	}})
	if ran.Reply != "all done" || len(chunks) != 3 || chunks[0].Attempt != 1 || chunks[1].Attempt != 2 ||
		chunks[1].Index != 0 || chunks[2].Attempt != 2 {
		t.Errorf("replied %q with the chunks %+v", ran.Reply, chunks)
	}
}
