package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A limit allows exactly its number and refuses one more.
func TestLimitsIncludeTheirNumber(t *testing.T) {
	for over, want := range []agent.Cause{agent.CauseCompleted, agent.CauseTokenLimit} {
		t.Run(fmt.Sprint("estimate/", over), func(t *testing.T) {
			// The only prompt has one message, so that its estimate is the constant.
			a := &loop.Agent{Model: looptest.NewScript(looptest.Reply("a")), Tokens: constantTokens(10 + over),
				Limits: loop.Limits{Tokens: 10}}
			result, err := looptest.Ended(a.Run(t.Context(), "x"))
			if err != nil || result.Stop.Cause != want {
				t.Errorf("%v, %v", result.Stop, err)
			}
		})
		t.Run(fmt.Sprint("arguments/", over), func(t *testing.T) {
			args := `{"a":"` + strings.Repeat("x", 12+over) + `"}`
			tool := &looptest.Tool{Name: "work"}
			a := &loop.Agent{Model: looptest.NewScript(looptest.Call("work", args), looptest.Reply("a")),
				Tools: []agent.Tool{tool}, Limits: loop.Limits{ArgBytes: 20}}
			if _, err := a.Run(t.Context(), "x"); err != nil || tool.Count() != 1-over {
				t.Errorf("%d bytes: %d calls, %v", len(args), tool.Count(), err)
			}
		})
		t.Run(fmt.Sprint("answers/", over), func(t *testing.T) {
			answer := `{"number":"` + strings.Repeat("x", 10+over) + `","total":1}`
			a := &loop.Agent{Model: looptest.NewScript(looptest.Reply(answer)), Limits: loop.Limits{ArgBytes: 33, Rejections: 1}}
			_, result, err := loop.RunAs[invoice](t.Context(), a, loop.Request{Task: "x"})
			if (err == nil) != (over == 0) {
				t.Errorf("%d bytes: %v, %v", len(answer), result.Stop, err)
			}
		})
	}
}

func TestHooksOfAnAgentAreBoundOnce(t *testing.T) {
	bound := 0
	a := &loop.Agent{
		Model: looptest.NewScript(looptest.Reply("a"), looptest.Reply("b"), looptest.Reply("c")),
		Hooks: loop.Hooks(bindCounter{&bound}),
	}
	for range 3 {
		if _, err := a.Run(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if bound != 1 {
		t.Errorf("bound %d times", bound)
	}
}

type bindCounter struct{ n *int }

func (b bindCounter) Bind(h *agent.Hooks) {
	*b.n++
	h.OnRunEnd.AddFunc(func(context.Context, *agent.Run, agent.AgentResult) error { return nil })
}

// A model may keep its reply. The loop must not change it, and yet its own copy must be valid JSON.
func TestExtrasOfAReplyAreCopied(t *testing.T) {
	kept := map[string]json.RawMessage{"a": json.RawMessage("{"), "b": json.RawMessage("1")}
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Func(
		func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			return agent.LLMResponse{Content: "x", Extra: kept}, nil
		})}}.Run(t, "x")
	if string(kept["a"]) != "{" {
		t.Errorf("the model's reply has now %s", kept["a"])
	}
	last := ran.Messages[len(ran.Messages)-1]
	if string(last.Extra["a"]) != `"{"` || string(last.Extra["b"]) != "1" {
		t.Errorf("the message has %s", last.Extra)
	}
}

func TestDenialsWithoutAReasonSaySo(t *testing.T) {
	var denial agent.Denial
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Reply("a")},
		Tools: []agent.Tool{&looptest.Tool{Name: "work"}},
		Hooks: []agent.Hook{
			agent.OnPermissionFunc(func(
				context.Context, *agent.Run, agent.ToolCallRequest,
			) (agent.OnPermissionOutcome, error) {
				return agent.Deny{}, nil
			}),
			agent.OnPermissionDeniedFunc(func(_ context.Context, _ *agent.Run, d agent.Denial) error {
				denial = d
				return nil
			}),
		},
	}.Run(t, "x")
	if denial.Reason != "no reason given" || !strings.Contains(ran.Calls[0].Err, "no reason given") {
		t.Errorf("%+v; the model reads %q", denial, ran.Calls[0].Err)
	}
}

func TestRawOutputsOfToolsStayUnchanged(t *testing.T) {
	for name, c := range map[string]struct {
		out  any
		want string
	}{
		"raw JSON":     {json.RawMessage(`{"a": 1}`), `{"a": 1}`},
		"not JSON":     {json.RawMessage(`{`), `{`},
		"text":         {"a", "a"},
		"named text":   {agent.Cause("a"), "a"},
		"nothing":      {nil, ""},
		"a nil map":    {map[string]int(nil), ""},
		"a nil list":   {[]int(nil), ""},
		"an empty one": {[]int{}, "[]"},
		"a struct":     {struct{ A int }{1}, `{"A":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			tool := loop.Tool("work", "works", func(context.Context, struct{}) (any, error) { return c.out, nil })
			ran := looptest.Harness{Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Reply("a")},
				Tools: []agent.Tool{tool}}.Run(t, "x")
			if got := ran.Calls[0]; got.Output != c.want || got.Err != "" {
				t.Errorf("%q, %q", got.Output, got.Err)
			}
		})
	}
}

func TestSchemaHasTheMarksOfATool(t *testing.T) {
	plain := &looptest.Tool{Name: "work"}
	for name, c := range map[string]struct {
		tool                 agent.Tool
		readOnly, idempotent bool
	}{
		"none": {plain, false, false}, "read-only": {loop.ReadOnly(plain), true, false},
		"idempotent": {loop.Idempotent(plain), false, true}, "both": {loop.Idempotent(loop.ReadOnly(plain)), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			if s := c.tool.Schema(); s.ReadOnly != c.readOnly || s.Idempotent != c.idempotent || s.Name != "work" {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestUnknownPropertiesAreNamedInOrder(t *testing.T) {
	tool := loop.Tool("work", "works", func(context.Context, struct {
		Path string `json:"path"`
	}) (string, error) {
		return "", nil
	})
	for range 20 { // the order of a map changes
		ran := looptest.Harness{
			Turns: []looptest.Turn{looptest.Call("work", `{"z":1,"path":"p","y":1,"x":1}`), looptest.Reply("a")},
			Tools: []agent.Tool{tool},
		}.Run(t, "x")
		want := `"x" is not a property, "y" is not a property, "z" is not a property; the properties are: path (required)`
		if got := ran.Calls[0].Err; !strings.Contains(got, want) {
			t.Fatalf("got %s", got)
		}
	}
}

// The seed of an inner run follows from the seed of the outer one.
func TestInnerSeedsDependOnTheOuterSeed(t *testing.T) {
	seeds := func(seed uint64) uint64 {
		var got uint64
		inner := &loop.Agent{Name: "inner", Model: looptest.NewScript(looptest.Func(
			func(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
				if req.Seed != nil {
					got = *req.Seed
				}
				return agent.LLMResponse{Content: "a"}, nil
			}))}
		outer := &loop.Agent{
			Model: looptest.NewScript(looptest.Call("inner", `{"task":"x"}`), looptest.Reply("b")),
			Tools: []agent.Tool{loop.Subagent(inner)},
		}
		if _, err := outer.Do(t.Context(), loop.Request{Task: "x", Seed: seed}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	first, again, other := seeds(1), seeds(1), seeds(2)
	if first != again || first == other || first == 0 {
		t.Errorf("%d, %d, %d", first, again, other)
	}
}

func TestASecondFailureIsAWarning(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Error(errors.New("the model is gone"))},
		Hooks: []agent.Hook{agent.OnStopFunc(func(context.Context, *agent.Run, agent.Stopping) ([]agent.EndRun, error) {
			return []agent.EndRun{{Cause: agent.CauseError, Message: "a second failure"}}, nil
		})},
	}.Run(t, "x")
	if ran.Failed == nil || !strings.Contains(ran.Failed.Error(), "the model is gone") ||
		strings.Contains(ran.Failed.Error(), "a second failure") {
		t.Errorf("the error is %v", ran.Failed)
	}
}

func TestATaskCanBeOnePart(t *testing.T) {
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("a")}}.Do(t, t.Context(), loop.Request{
		Parts: []agent.Part{{MediaType: "image/png", Data: []byte("x")}},
	})
	if ran.Failed != nil || len(ran.Messages) != 2 || len(ran.Messages[0].Parts) != 1 {
		t.Errorf("%+v, %v", ran.Messages, ran.Failed)
	}
}
