package screen_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/screen"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// screened returns the recorded result of a tool whose output passes the validators.
func screened(t *testing.T, out agent.ToolOutput, err error, validators ...screen.Validator) agent.ToolCallResult {
	t.Helper()
	tool := loop.Tool("work", "", func(context.Context, struct{}) (agent.ToolOutput, error) { return out, err })
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Reply("ok")}, Tools: []agent.Tool{tool},
		Hooks: []agent.Hook{&screen.Output{Validators: validators}},
	}.Run(t, "x")
	return ran.Calls[0]
}

func TestWarningsAreValidatedToo(t *testing.T) {
	noTrace := screen.ValidatorFunc(func(_ context.Context, _ agent.ToolCallRequest, text string) (string, string, error) {
		if strings.Contains(text, "trace") {
			return "", "a trace", nil
		}
		return text, "", nil
	})
	out := agent.ToolOutput{Text: `{"n":1}`, Warnings: []string{"ask jo@example.com", "trace of main.go"}}
	got := screened(t, out, nil, screen.RedactPersonal(), noTrace, screen.Schema(`{"type":"object"}`))
	if diff := cmp.Diff([]string{"ask [REDACTED]"}, got.Warnings); diff != "" || got.Output != `{"n":1}` {
		t.Errorf("output %q, warnings (-want +got):\n%s", got.Output, diff)
	}
	down := screen.ValidatorFunc(func(_ context.Context, _ agent.ToolCallRequest, text string) (string, string, error) {
		if strings.Contains(text, "trace") {
			return "", "", errors.New("down")
		}
		return text, "", nil
	})
	if got := screened(t, out, nil, down); got.OK() || got.Output != "" || got.Warnings != nil {
		t.Errorf("a result that could not be checked is %+v", got)
	}
}

func TestARejectedOutputHasNoOtherContent(t *testing.T) {
	got := screened(t, agent.ToolOutput{Text: "text", Parts: []agent.Part{{URL: "x"}}, Warnings: []string{"w"}}, nil,
		screen.Schema(`{"type":"object"}`))
	if got.OK() || got.Parts != nil || got.Warnings != nil || strings.Contains(got.Content(), "w\n") {
		t.Errorf("got %+v", got)
	}
}

func TestPersonalDataOfFailuresAreRemoved(t *testing.T) {
	out := agent.ToolOutput{Text: "try ann@example.com", Warnings: []string{"or bob@example.com"}}
	got := screened(t, out, errors.New("jo@example.com is unknown"), screen.RedactPersonal())
	if got.Err != "[REDACTED] is unknown" || got.Content() != "try [REDACTED]\nwarning: or [REDACTED]" {
		t.Errorf("got %+v", got)
	}
}
