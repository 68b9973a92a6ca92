package looptest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

var errDown = errors.New("down")

func ask(t *testing.T, m agent.Model, text string) (agent.LLMResponse, error) {
	t.Helper()
	return m.Generate(t.Context(), agent.LLMRequest{Messages: []agent.Message{{Role: agent.RoleUser, Content: text}}})
}

func TestAScriptPlaysItsTurnsInOrder(t *testing.T) {
	s := looptest.NewScript(
		looptest.Reply("hello").Finish("length").Uses(agent.Usage{Input: 3}),
		looptest.Calls(looptest.Call("a", map[string]int{"n": 1}), looptest.Call("b", nil),
			looptest.Call("c", `{bad`)).Says("both"),
		looptest.Error(errDown),
		looptest.Func(func(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
			return agent.LLMResponse{Content: req.Messages[0].Content + "!"}, nil
		}),
	)
	if r, err := ask(t, s, "one"); err != nil || r.Content != "hello" || r.FinishReason != "length" || r.Usage.Input != 3 {
		t.Errorf("got %+v, %v", r, err)
	}
	r, err := ask(t, s, "two")
	if err != nil || r.Content != "both" || len(r.ToolCalls) != 3 || r.FinishReason != "tool_calls" {
		t.Fatalf("got %+v, %v", r, err)
	}
	for i, want := range []string{`call_2_1 a {"n":1}`, `call_2_2 b {}`, `call_2_3 c {bad`} {
		if c := r.ToolCalls[i]; c.ID+" "+c.Name+" "+string(c.Args) != want {
			t.Errorf("call %d is %+v, want %s", i, c, want)
		}
	}
	if _, err := ask(t, s, "three"); !errors.Is(err, errDown) {
		t.Errorf("got %v", err)
	}
	if r, _ := ask(t, s, "four"); r.Content != "four!" || s.Remaining() != 0 {
		t.Errorf("got %+v, %d left", r, s.Remaining())
	}
	if _, err := ask(t, s, "five"); !errors.Is(err, looptest.ErrExhausted) || !strings.Contains(err.Error(), "4 turns") {
		t.Errorf("got %v", err)
	}
	calls := s.Calls()
	if len(calls) != 5 || calls[0].Request.Messages[0].Content != "one" || calls[0].Response.Content != "hello" ||
		!errors.Is(calls[2].Err, errDown) || calls[4].Err == nil {
		t.Errorf("recorded %+v", calls)
	}
	s.Add(looptest.Reply("more"))
	if r, err := ask(t, s, "six"); err != nil || r.Content != "more" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestIDsOfCallsAreUniqueAndStable(t *testing.T) {
	script := func() *looptest.Script {
		return looptest.NewScript(looptest.Call("a", nil), looptest.Calls(looptest.Call("a", nil),
			looptest.Call("a", nil).ID("mine"))).Named("x").Add(looptest.Call("a", nil))
	}
	ids := func(s *looptest.Script) []string {
		var out []string
		for s.Remaining() > 0 {
			r, _ := ask(t, s, "x")
			for _, c := range r.ToolCalls {
				out = append(out, c.ID)
			}
		}
		return out
	}
	want := []string{"x_call_1_1", "x_call_2_1", "mine", "x_call_3_1"}
	if got := ids(script()); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if !slices.Equal(ids(script()), ids(script())) {
		t.Error("the ids differ from time to time")
	}
}

func TestAScriptCanBeSharedByRuns(t *testing.T) {
	s := looptest.NewScript(looptest.Reply("one"), looptest.Reply("two")).ForEachRun()
	var wait sync.WaitGroup
	for _, run := range []string{"a", "b", "c", "d"} {
		wait.Go(func() {
			ctx := agentspec.WithRun(context.Background(), run)
			for _, want := range []string{"one", "two"} {
				if r, err := s.Generate(ctx, agent.LLMRequest{}); err != nil || r.Content != want {
					t.Errorf("run %s got %q, %v, want %s", run, r.Content, err, want)
				}
			}
			if _, err := s.Generate(ctx, agent.LLMRequest{}); !errors.Is(err, looptest.ErrExhausted) {
				t.Errorf("run %s got %v", run, err)
			}
		})
	}
	wait.Wait()
	if len(s.Calls()) != 12 || s.Calls()[0].Run == "" {
		t.Errorf("recorded %d calls", len(s.Calls()))
	}
}

func TestRecordedRequestsCannotBeChanged(t *testing.T) {
	s := looptest.NewScript(looptest.Call("a", `{"n":1}`), looptest.Call("a", `{"n":1}`))
	req := agent.LLMRequest{Messages: []agent.Message{{Content: "was"}}}
	r, _ := s.Generate(t.Context(), req)
	req.Messages[0].Content, r.ToolCalls[0].Args[0] = "is", '!'
	s.Calls()[0].Request.Messages[0].Content = "is"
	if got := s.Requests()[0].Messages[0].Content; got != "was" {
		t.Errorf("the request was recorded as %q", got)
	}
	if got := s.Calls()[0].Response.ToolCalls[0].Args; string(got) != `{"n":1}` {
		t.Errorf("the reply was recorded as %s", got)
	}
}

func TestAScriptStreams(t *testing.T) {
	s := looptest.NewScript(looptest.Call("a", `{"n":1}`).Says("one two"), looptest.Error(errDown))
	var got []string
	emit := func(d agent.Delta) {
		text := d.Content
		if c := d.ToolCall; c != nil {
			text = c.ID + c.Name + c.Args
		}
		got = append(got, text)
	}
	r, err := s.Stream(t.Context(), agent.LLMRequest{}, emit)
	if err != nil || r.Content != "one two" || !slices.Equal(got, []string{"one ", "two", `call_1_1a{"n":1}`}) {
		t.Errorf("got %q, %+v, %v", got, r, err)
	}
	if _, err := s.Stream(t.Context(), agent.LLMRequest{}, emit); !errors.Is(err, errDown) || len(got) != 3 ||
		!s.Calls()[1].Streamed {
		t.Errorf("got %q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := looptest.NewScript(looptest.Reply("x")).Generate(ctx, agent.LLMRequest{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAnEchoRepeatsTheResultEnvelope(t *testing.T) {
	r := looptest.Echo("a", `{"n":1}`, "no such n").Response()
	for _, part := range []string{
		`"ok":false`, `"error":"no such n"`, `"you_sent":{"arguments":{"n":1},"name":"a"}`, `"retry_hint"`,
		`"expected_schema"`,
	} {
		if !strings.Contains(r.Content, part) {
			t.Errorf("%s is not in %s", part, r.Content)
		}
	}
	if len(r.ToolCalls) != 0 {
		t.Errorf("got %+v", r)
	}
}
