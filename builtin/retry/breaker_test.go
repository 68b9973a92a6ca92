package retry_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A server answers calls of a model with its error.
type server struct {
	mu    sync.Mutex
	err   error
	calls int
}

func (s *server) answer(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return agent.LLMResponse{}, s.err
}

// request sends a request of a user through the hooks. It reports "ok", "open", "failed", or
// "opens" if the failure opens the breaker.
func (s *server) request(t *testing.T, hooks *agent.Hooks, clock agent.Clock, user, model string) string {
	t.Helper()
	run := agent.NewRun(&agent.Env{Clock: clock, User: user})
	_, err := hooks.AroundLLM.Fire(t.Context(), run, agent.LLMRequest{Model: model}, s.answer)
	switch open := new(retry.OpenError); {
	case err == nil:
		return "ok"
	case errors.As(err, &open) && open.Cause == nil:
		return "open"
	case errors.As(err, &open):
		return "opens"
	}
	return "failed"
}

func using(h agent.Hook) *agent.Hooks {
	hooks := new(agent.Hooks)
	hooks.Use(h)
	return hooks
}

func TestBreakerOpensProbesAndCloses(t *testing.T) {
	clock, s := newWalkingClock(), &server{}
	hooks := using(&retry.Breaker{Failures: 3, Share: share.Everyone})
	for i, step := range []struct {
		err  error
		wait time.Duration
		want string
	}{
		{overload{}, 0, "failed"}, {overload{}, 0, "failed"},
		{nil, 0, "ok"}, // ends the row
		{overload{}, 0, "failed"}, {overload{}, 0, "failed"},
		{refusal{}, 0, "failed"}, // so does an answer
		{overload{}, 0, "failed"}, {overload{}, 0, "failed"},
		{context.Canceled, 0, "failed"}, // neither
		{overload{}, 0, "opens"},
		{nil, 0, "open"}, {nil, 29 * time.Second, "open"},
		{overload{}, time.Second, "opens"}, // the probe
		{nil, 29 * time.Second, "open"},
		{context.Canceled, time.Second, "failed"}, // a probe without a result
		{nil, 0, "ok"},
		{overload{}, 0, "failed"}, {nil, 0, "ok"},
		{overload{}, 0, "failed"}, {overload{}, 0, "failed"},
		{overload{}, 61 * time.Minute, "failed"}, // forgets the two
		{nil, 0, "ok"},
	} {
		clock.advance(step.wait)
		s.err = step.err
		before := s.calls
		if got := s.request(t, hooks, clock, "ann", ""); got != step.want || (s.calls > before) != (got != "open") {
			t.Fatalf("step %d: %s, want %s", i, got, step.want)
		}
	}
}

func TestBreakerMakesOneProbe(t *testing.T) {
	clock, s := newWalkingClock(), &server{err: overload{}}
	breaker := &retry.Breaker{Failures: 1, Share: share.Everyone}
	hooks := using(breaker)
	s.request(t, hooks, clock, "ann", "")
	clock.advance(time.Minute)
	run := agent.NewRun(&agent.Env{Clock: clock})
	_, err := hooks.AroundLLM.Fire(t.Context(), run, agent.LLMRequest{}, func(
		context.Context, agent.LLMRequest,
	) (agent.LLMResponse, error) {
		if got := s.request(t, hooks, clock, "bob", ""); got != "open" {
			t.Errorf("during the probe: %s", got)
		}
		return agent.LLMResponse{}, nil
	})
	if got := s.request(t, hooks, clock, "bob", ""); err != nil || got != "opens" {
		t.Errorf("after the probe: %v, %s", err, got)
	}
}

func TestPanickingProbeIsReleased(t *testing.T) {
	clock, s := newWalkingClock(), &server{err: overload{}}
	hooks := using(&retry.Breaker{Failures: 1, Share: share.Everyone})
	s.request(t, hooks, clock, "ann", "")
	clock.advance(time.Minute)
	_, err := hooks.AroundLLM.Fire(t.Context(), agent.NewRun(&agent.Env{Clock: clock}), agent.LLMRequest{},
		func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) { panic("broken") })
	s.err = nil
	if got := s.request(t, hooks, clock, "ann", ""); err == nil || got != "ok" {
		t.Errorf("after the probe: %v, %s", err, got)
	}
}

func TestAProbeThatExitsIsReleased(t *testing.T) {
	clock, s := newWalkingClock(), &server{err: overload{}}
	hooks := using(&retry.Breaker{Failures: 1, Share: share.Everyone})
	s.request(t, hooks, clock, "ann", "")
	clock.advance(time.Minute)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = hooks.AroundLLM.Fire(t.Context(), agent.NewRun(&agent.Env{Clock: clock}), agent.LLMRequest{},
			func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
				runtime.Goexit()
				return agent.LLMResponse{}, nil
			})
	}()
	<-done
	s.err = nil
	if got := s.request(t, hooks, clock, "ann", ""); got != "ok" {
		t.Errorf("after the probe: %s", got)
	}
}

func TestParallelFailuresCountTogether(t *testing.T) {
	clock, s := newWalkingClock(), &server{err: overload{}}
	hooks := using(&retry.Breaker{Failures: 2, Share: share.Everyone})
	run := agent.NewRun(&agent.Env{Clock: clock})
	_, err := hooks.AroundLLM.Fire(t.Context(), run, agent.LLMRequest{Model: "large"}, func(
		context.Context, agent.LLMRequest,
	) (agent.LLMResponse, error) {
		s.request(t, hooks, clock, "ann", "large")
		return agent.LLMResponse{}, overload{}
	})
	want := "the model large failed too often and is not called for 30s: overloaded"
	if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, overload{}) {
		t.Errorf("the second failure: %v", err)
	}
	if got := s.request(t, hooks, clock, "ann", "large"); got != "open" {
		t.Errorf("after two failures: %s", got)
	}
	_, err = hooks.AroundTool.Fire(t.Context(), run, agent.ToolCallRequest{Name: "large"}, func(
		context.Context, agent.ToolCallRequest,
	) (agent.ToolCallResult, error) {
		return agent.ToolCallResult{}, nil
	})
	if err != nil {
		t.Errorf("a tool with the name of the model: %v", err)
	}
}

func TestFailuresAreForgottenAfterAnHour(t *testing.T) {
	for wait, want := range map[time.Duration]string{time.Hour: "opens", time.Hour + 1: "failed"} {
		t.Run(wait.String(), func(t *testing.T) {
			clock, s := newWalkingClock(), &server{err: overload{}}
			hooks := using(&retry.Breaker{Failures: 2, Share: share.Everyone})
			s.request(t, hooks, clock, "ann", "")
			clock.advance(wait)
			if got := s.request(t, hooks, clock, "ann", ""); got != want {
				t.Errorf("the second failure: %s, want %s", got, want)
			}
		})
	}
}

func TestOpenErrorSaysHowLong(t *testing.T) {
	for want, err := range map[string]*retry.OpenError{
		"x failed too often and is being probed; try again later": {What: "x"},
		"x failed too often and is not called for 1ns":            {What: "x", Wait: 1},
		"x failed too often and is not called for 2s: overloaded": {What: "x", Wait: 2 * time.Second, Cause: overload{}},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestLateResultsDoNotCount(t *testing.T) {
	clock, s := newWalkingClock(), &server{err: overload{}}
	hooks := using(&retry.Breaker{Failures: 2, Share: share.Everyone})
	s.request(t, hooks, clock, "ann", "")
	run := agent.NewRun(&agent.Env{Clock: clock})
	_, err := hooks.AroundLLM.Fire(t.Context(), run, agent.LLMRequest{}, func(
		context.Context, agent.LLMRequest,
	) (agent.LLMResponse, error) {
		s.request(t, hooks, clock, "ann", "") // opens the breaker
		return agent.LLMResponse{}, nil
	})
	if err != nil {
		t.Errorf("the call itself succeeded: %v", err)
	}
	if got := s.request(t, hooks, clock, "ann", ""); got != "open" {
		t.Errorf("a call from before closed the breaker: %s", got)
	}
}

func TestBreakersAreApart(t *testing.T) {
	for _, c := range []struct {
		name  string
		share share.Scope
		user  string
		model string
		want  string
	}{
		{"same", share.User, "ann", "a", "open"},
		{"other model", share.User, "ann", "b", "ok"},
		{"other user", share.User, "bob", "a", "ok"},
		{"other conversation", share.Conversation, "ann", "a", "ok"},
		{"everyone", share.Everyone, "bob", "a", "open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock, s := newWalkingClock(), &server{err: overload{}}
			hooks := using(&retry.Breaker{Failures: 1, Share: c.share})
			s.request(t, hooks, clock, "ann", "a")
			s.err = nil
			if got := s.request(t, hooks, clock, c.user, c.model); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestOpenBreakerRefusesTool(t *testing.T) {
	work := &looptest.Tool{Name: "work", Err: overload{}}
	other := &looptest.Tool{Name: "other", Err: overload{}}
	turns := []looptest.Turn{}
	for range 3 {
		turns = append(turns, looptest.Calls(looptest.Call("work", nil), looptest.Call("other", nil)))
	}
	ran := looptest.Harness{
		Agent: &loop.Agent{Clock: newWalkingClock()}, Tools: []agent.Tool{work, other},
		Turns: append(turns, looptest.Reply("done")),
		Hooks: []agent.Hook{&retry.Breaker{Failures: 2, Tools: []string{"work"}}},
	}.Run(t, "go")
	last := ran.Calls[4]
	if work.Count() != 2 || other.Count() != 3 || ran.Reply != "done" || last.Attempts != 0 ||
		last.Err != "the tool work failed too often and is not called for 30s" || !strings.Contains(last.By, "Breaker") {
		t.Errorf("%d and %d calls, replied %q, %+v", work.Count(), other.Count(), ran.Reply, last)
	}
}

func TestBreakerIsSafeForConcurrentUse(t *testing.T) {
	clock := newWalkingClock()
	hooks := using(&retry.Breaker{Failures: 3, Pause: limit.AtMost(time.Second), Share: share.Everyone})
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			s := &server{}
			for i := range 100 {
				if s.err = nil; (w+i)%3 > 0 {
					s.err = overload{}
				}
				s.request(t, hooks, clock, "ann", fmt.Sprint(i%3))
				clock.advance(time.Duration(w) * time.Second)
			}
		})
	}
	all.Wait()
	clock.advance(time.Minute)
	s := &server{}
	for i := range 3 {
		if got := s.request(t, hooks, clock, "ann", fmt.Sprint(i)); got != "ok" {
			t.Errorf("%d: the breaker stays open: %s", i, got)
		}
	}
}
