package loop_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// streamed runs a harness with Stream, and stops reading when read returns false.
func streamed(t *testing.T, l looptest.Harness, read func(loop.Event) bool) *looptest.Ran {
	t.Helper()
	ran := l.Make()
	for e, err := range ran.Agent.Stream(t.Context(), loop.Request{Task: "x"}) {
		if e.Kind == loop.EventEnd && e.End != nil {
			ran.AgentResult, ran.Failed = looptest.Ended(*e.End, err)
		}
		if read != nil && !read(e) {
			break
		}
	}
	if ended := hooktest.PayloadsOf[agent.AgentResult](ran.Recorder, "OnRunEnd"); read != nil && len(ended) == 1 {
		ran.AgentResult = ended[0]
	}
	return ran
}

func TestAStreamShowsARunAsItHappens(t *testing.T) {
	var kinds []string
	var text strings.Builder
	ran := streamed(t, looptest.Harness{
		Turns: turns(looptest.Call("work", nil).Says("let me see"), looptest.Reply("it is done")),
		Tools: tools(work()),
	}, func(e loop.Event) bool {
		kinds = append(kinds, string(e.Kind))
		if e.Chunk != nil {
			text.WriteString(e.Chunk.Delta.Content)
		}
		if e.Run == "" || e.Agent != "tested" {
			t.Errorf("got %+v", e)
		}
		return true
	})
	kinds = slices.Compact(kinds)
	if want := "step chunk reply calling returned result step chunk reply end"; strings.Join(kinds, " ") != want {
		t.Errorf("got %v, want %s", kinds, want)
	}
	if text.String() != "let me seeit is done" || ran.Reply != "it is done" {
		t.Errorf("read %q, replied %q", text.String(), ran.Reply)
	}
	for _, c := range ran.Script.Calls() {
		if !c.Streamed {
			t.Error("the model did not stream")
		}
	}
}

func TestAReturnedCallIsShownAtOnce(t *testing.T) {
	for name, order := range map[string][]string{"SlowFirst": {"slow", "cheap"}, "CheapFirst": {"cheap", "slow"}} {
		t.Run(name, func(t *testing.T) {
			shown := make(chan struct{})
			slow := loop.ReadOnly(&looptest.Tool{Name: "slow", Func: func(
				ctx context.Context, _ agent.ToolCallRequest,
			) (string, error) {
				select {
				case <-shown:
					return "slow output", nil
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}})
			var events []string
			ran := streamed(t, looptest.Harness{
				Turns: turns(looptest.Calls(looptest.Call(order[0], nil), looptest.Call(order[1], nil)), looptest.Reply("ok")),
				Tools: tools(slow, &looptest.Tool{Name: "cheap", ReadOnly: true, Result: "cheap output"}),
				Hooks: hooks(afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
					r.Output = "edited"
					return agent.ReplaceAfterTool(r, "x"), nil
				})),
				Agent: &loop.Agent{Limits: loop.Limits{ToolTime: time.Minute}},
			}, func(e loop.Event) bool {
				if e.Result != nil {
					events = append(events, string(e.Kind)+" "+e.Result.Call.Name+" "+e.Result.Output)
				}
				if e.Kind == loop.EventReturned && e.Result.Call.Name == "cheap" {
					close(shown)
				}
				return true
			})
			want := []string{"returned cheap cheap output", "returned slow slow output",
				"result " + order[0] + " edited", "result " + order[1] + " edited"}
			if !slices.Equal(events, want) {
				t.Errorf("got %q\nwant %q", events, want)
			}
			if got := ran.Messages[2].Name; got != order[0] {
				t.Errorf("the first result in the conversation is that of %s", got)
			}
		})
	}
}

func TestWholeRepliesWithTextAreShown(t *testing.T) {
	for name, c := range map[string]struct {
		reply agent.LLMResponse
		want  string
	}{
		"Text":      {agent.LLMResponse{Content: "a"}, "a|"},
		"Reasoning": {agent.LLMResponse{Reasoning: "b"}, "|b"},
		"Nothing":   {agent.LLMResponse{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			deltas := []string{}
			l := looptest.Harness{Agent: &loop.Agent{Model: whole{c.reply}, Limits: loop.Limits{Steps: 1}}}
			streamed(t, l, func(e loop.Event) bool {
				if e.Chunk != nil {
					deltas = append(deltas, e.Chunk.Delta.Content+"|"+e.Chunk.Delta.Reasoning)
				}
				return true
			})
			if got := strings.Join(deltas, " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// whole is a model with one reply.
type whole struct{ reply agent.LLMResponse }

func (w whole) Generate(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
	return w.reply, nil
}

func TestWithoutStreamingModelRepliesComeWhole(t *testing.T) {
	var chunks []agent.Chunk
	streamed(t, looptest.Harness{Agent: &loop.Agent{Model: plain{}}}, func(e loop.Event) bool {
		if e.Chunk != nil {
			chunks = append(chunks, *e.Chunk)
		}
		return true
	})
	if len(chunks) != 1 || chunks[0].Delta.Content != "plain text" || chunks[0].Step != 1 || chunks[0].Attempt != 1 {
		t.Errorf("got %+v", chunks)
	}
}

type plain struct{}

func (plain) Generate(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
	return agent.LLMResponse{Content: "plain text"}, nil
}

func TestAReaderThatStopsCancelsTheRun(t *testing.T) {
	for _, kind := range []loop.EventKind{loop.EventStep, loop.EventChunk, loop.EventReply, loop.EventResult} {
		ran := streamed(t, looptest.Harness{
			Turns: turns(two(), two(), looptest.Reply("never")),
			Tools: tools(work()),
		}, func(e loop.Event) bool { return e.Kind != kind })
		checkPaired(t, ran.Recorder)
		ran.Recorder.Times(t, "OnRunEnd", 1)
		if ran.Stop.Cause != agent.CauseUserRequested || ran.Stop.Message != loop.ErrStoppedReading.Error() {
			t.Errorf("%s: stopped by %+v", kind, ran.Stop)
		}
		checkAnswered(t, ran.Messages)
	}
}

func TestAReaderThatPanicsEndsTheRun(t *testing.T) {
	ran := looptest.Harness{Turns: turns(two(), looptest.Reply("x")), Tools: tools(work())}.Make()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		for range ran.Agent.Stream(t.Context(), loop.Request{Task: "x"}) {
			panic("reader")
		}
	}()
	ran.Recorder.Times(t, "OnRunEnd", 1)
}

func TestStreamYieldsTheErrorOfItsRun(t *testing.T) {
	var last error
	var end *agent.AgentResult
	failing := looptest.Harness{Turns: turns(looptest.Error(errBoom))}.Make()
	for e, err := range failing.Agent.Stream(t.Context(), loop.Request{Task: "x"}) {
		last, end = err, e.End
	}
	if !errors.Is(last, errBoom) || end == nil || end.Stop.Cause != agent.CauseError {
		t.Errorf("got %v, %+v", last, end)
	}
	n := 0
	for _, err := range (&loop.Agent{}).Stream(t.Context(), loop.Request{}) {
		n++
		last = err
	}
	if n != 1 || last == nil || !strings.Contains(last.Error(), "set Model") {
		t.Errorf("%d events, %v", n, last)
	}
}

func TestStreamedRetryIsAnotherAttempt(t *testing.T) {
	var attempts []int
	ran := streamed(t, looptest.Harness{
		Turns: turns(looptest.Error(errBoom), looptest.Reply("one two")),
		Hooks: hooks(agent.AroundLLMFunc(retryLLM)),
	}, func(e loop.Event) bool {
		if e.Chunk != nil {
			attempts = append(attempts, e.Chunk.Attempt)
		}
		return true
	})
	if !slices.Equal(attempts, []int{2, 2}) || ran.Reply != "one two" {
		t.Errorf("attempts %v, replied %q", attempts, ran.Reply)
	}
}

func TestStreamShowsSubrunsUnderTheirOwnRun(t *testing.T) {
	l, _, _ := calling(work(), two(), looptest.Reply("inner answer"))
	agents := make(map[string]string)
	streamed(t, l, func(e loop.Event) bool {
		agents[e.Run] = e.Agent
		return true
	})
	if len(agents) != 2 {
		t.Errorf("events of %v", agents)
	}
}

func TestLateChunksAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &late{release: make(chan struct{}), emitted: make(chan struct{})}
		var got []string
		ran := streamed(t, looptest.Harness{
			Hooks: hooks(agent.AroundLLMFunc(retryLLM)),
			Agent: &loop.Agent{Model: model, Limits: loop.Limits{ModelTime: time.Minute}},
		}, func(e loop.Event) bool {
			if e.Chunk != nil {
				got = append(got, e.Chunk.Delta.Content)
			}
			return true
		})
		if !slices.Equal(got, []string{"in time", "second"}) || ran.Reply != "second" {
			t.Errorf("got %q, replied %q", got, ran.Reply)
		}
	})
}

// late is a model whose first reply hangs until the second call, and then continues.
type late struct {
	calls            int
	release, emitted chan struct{}
}

func (m *late) Generate(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
	panic("it is asked to stream")
}

func (m *late) Stream(_ context.Context, _ agent.LLMRequest, emit func(agent.Delta)) (agent.LLMResponse, error) {
	m.calls++
	if m.calls == 1 {
		emit(agent.Delta{Content: "in time"})
		<-m.release
		emit(agent.Delta{Content: "late"})
		close(m.emitted)
		return agent.LLMResponse{}, nil
	}
	close(m.release)
	<-m.emitted
	emit(agent.Delta{Content: "second"})
	return agent.LLMResponse{Content: "second"}, nil
}
