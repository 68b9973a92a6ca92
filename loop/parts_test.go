package loop_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func image() []agent.Part { return []agent.Part{{MediaType: "image/png", Data: []byte("pixels")}} }

// screenshot returns a tool whose output is a text, an image and a warning.
func screenshot(err error) agent.Tool {
	return loop.ReadOnly(loop.Tool("work", "", func(context.Context, struct{}) (agent.ToolOutput, error) {
		return agent.ToolOutput{Text: "the page", Parts: image(), Warnings: []string{"the page is cut off"}}, err
	}))
}

func TestAToolReturnsPartsAndWarnings(t *testing.T) {
	for name, err := range map[string]error{"Success": nil, "Failure": errBoom} {
		t.Run(name, func(t *testing.T) {
			ran := looptest.Harness{
				Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")), Tools: tools(screenshot(err)),
			}.Run(t, "x")
			r, sent := ran.Calls[0], ran.Script.Requests()[1].Messages[2]
			if r.OK() != (err == nil) || !slices.Equal(r.Warnings, []string{"the page is cut off"}) {
				t.Errorf("recorded %+v", r)
			}
			if want := "the page\nwarning: the page is cut off"; sent.Content != want {
				t.Errorf("the model got %q, want %q", sent.Content, want)
			}
			for _, parts := range [][]agent.Part{r.Parts, sent.Parts, ran.Messages[2].Parts} {
				if diff := cmp.Diff(image(), parts); diff != "" {
					t.Errorf("parts (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestPlainCallOfToolReturnsItsText(t *testing.T) {
	if text, err := screenshot(errBoom).Call(t.Context(), agent.ToolCallRequest{Args: []byte(`{}`)}); text != "the page" ||
		err != errBoom {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestHooksReplacePartsAndWarnings(t *testing.T) {
	skip := atTool("work", agent.SkipTool{Result: agent.ToolCallResult{Parts: image(), Warnings: []string{"old"}}}, nil)
	replaced := afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
		r.Parts, r.Warnings = append(r.Parts, agent.Part{MediaType: "text/csv"}), append(r.Warnings, "from a hook")
		return agent.ReplaceAfterTool(r, "x"), nil
	})
	inPlace := afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
		r.Parts[0].Data[0], r.Warnings[0] = 'X', "forged"
		return nil, nil
	})
	for _, c := range []struct {
		name    string
		hook    agent.Hook
		parts   int
		content string
	}{
		{"Replaced", replaced, 2, "\nwarning: old\nwarning: from a hook"}, {"ChangedInPlace", inPlace, 1, "\nwarning: old"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := looptest.Harness{
				Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")), Hooks: hooks(skip, c.hook), Tools: tools(work()),
			}.Run(t, "x")
			r, sent := ran.Calls[0], ran.Script.Requests()[1].Messages[2]
			if len(ran.Warnings) > 0 || len(r.Parts) != c.parts || r.Content() != c.content || sent.Content != c.content {
				t.Errorf("recorded %+v, warnings %q", r, ran.Warnings)
			}
			if got := string(sent.Parts[0].Data); got != "pixels" {
				t.Errorf("the model got %q", got)
			}
		})
	}
}

func TestWarningsOfAToolAreBounded(t *testing.T) {
	flood := slices.Repeat([]string{strings.Repeat("ä", 300)}, 1000)
	tool := loop.Tool("work", "", func(context.Context, struct{}) (agent.ToolOutput, error) {
		return agent.ToolOutput{Warnings: flood}, nil
	})
	ran := looptest.Harness{Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")), Tools: tools(tool)}.Run(t, "x")
	if w := ran.Calls[0].Warnings; len(w) != 21 || len(w[0]) != 503 || w[20] != "980 more warnings" {
		t.Errorf("%d warnings, the last is %q", len(w), w[len(w)-1])
	}
}

func TestATaskHasParts(t *testing.T) {
	for _, task := range []string{"what is this?", ""} {
		t.Run(fmt.Sprintf("%q", task), func(t *testing.T) {
			shown := image()
			ran := looptest.Harness{
				Turns: turns(looptest.Reply("a cat")),
				Hooks: hooks(onStart(nil, nil), agent.OnRunStartFunc(func(
					_ context.Context, _ *agent.Run, start agent.RunStart,
				) (agent.OnRunStartOutcome, error) {
					//hookvet:ignore sharedpayload the caller must not see what this changes in place
					start.Parts[0].Data[0] = 'X'
					start.Parts = append(image(), start.Parts...)
					return agent.ReplaceOnRunStart(start, "x"), nil
				})),
			}.Do(t, t.Context(), loop.Request{Task: task, Parts: shown})
			want := agent.Message{Role: agent.RoleUser, Content: task, Parts: append(image(), agent.Part{
				MediaType: "image/png", Data: []byte("Xixels"),
			})}
			if diff := cmp.Diff([]agent.Message{want}, ran.Script.Requests()[0].Messages); diff != "" {
				t.Errorf("the model got (-want +got):\n%s", diff)
			}
			if string(shown[0].Data) != "pixels" {
				t.Error("the request of the caller was changed")
			}
		})
	}
}

func TestPartsCountAsTokens(t *testing.T) {
	m := agent.Message{Parts: []agent.Part{{Data: make([]byte, 4000)}}}
	if n := agentspec.EstimateTokens([]agent.Message{m}); n != 1004 {
		t.Errorf("a part of 4000 bytes has %d tokens", n)
	}
}
