package systems

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/screen"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestE51_TimingSamplesCallsAndEchoSeesEveryPoint(t *testing.T) {
	timing, out := &observe.Timing{}, new(bytes.Buffer)
	three := looptest.Calls(looptest.Call("work", nil), looptest.Call("work", nil), looptest.Call("work", nil))
	ran := looptest.Harness{
		Turns: all(three, looptest.Reply("ok")), Tools: all[agent.Tool](work()),
		Hooks: all[agent.Hook](timing, &observe.DebugLog{Writer: out}),
	}.Run(t, "x")
	var kinds []string
	for _, s := range timing.Samples() {
		kinds = append(kinds, s.Kind+s.Name)
	}
	if want := all("llm", "toolwork", "toolwork", "toolwork", "llm"); !slices.Equal(kinds, want) {
		t.Errorf("samples of %v, want %v", kinds, want)
	}
	if got, fired := strings.Count(out.String(), "\n"), len(ran.Recorder.Fires()); got != fired {
		t.Errorf("%d lines for %d fires", got, fired)
	}
	for _, f := range ran.Recorder.Fires() {
		contains(t, out.String(), "[hook:"+f.Point+"]")
	}
}

func TestE52_LoopDetectorHintsAndThenEnds(t *testing.T) {
	tool := work()
	a := &loop.Agent{
		Tools: all[agent.Tool](tool), Use: all[agent.Hook](&repair.LoopDetector{}),
		Model: looptest.NewScript(looptest.Call("work", `{"a":1,"b":2}`), looptest.Call("work", `{"a":2}`),
			looptest.Call("work", `{"b":2,"a":1.0}`), looptest.Call("work", `{"a":1,"b":2}`)).ForEachRun(),
	}
	for i := range 2 { // the second run starts with zero
		result, err := a.Run(t.Context(), "x")
		if err != nil || result.Reply != "Sorry, I couldn't complete that request." ||
			result.Stop.Message != "loop: work x3" {
			t.Errorf("run %d: %+v, %v", i, result, err)
		}
		contains(t, result.Calls[2].Err, "you already called work with exactly these arguments")
		if tool.Count() != 2*(i+1) {
			t.Errorf("run %d: the tool ran %d times", i, tool.Count())
		}
	}
}

func TestE53_EchoedPayloadIsReplaced(t *testing.T) {
	echo := looptest.Echo("work", `{"n":1}`, "wrong").Response().Content
	const sorry = "Sorry, I couldn't answer that."
	for reply, want := range map[string]string{
		echo:                                sorry,
		"```json\n" + echo + "\n```":        sorry,
		"```tool_call\n" + echo + "\n```":   sorry,
		"It is 12 degrees.":                 "It is 12 degrees.",
		`{"city": "Oslo", "error": "none"}`: `{"city": "Oslo", "error": "none"}`,
	} {
		ran := looptest.Harness{
			Turns: all(looptest.Reply(reply)),
			Hooks: all[agent.Hook](&repair.EchoedPayload{}),
		}.Run(t, "x")
		if ran.Reply != want {
			t.Errorf("%q became %q", reply, ran.Reply)
		}
	}
	ran := looptest.Harness{
		Turns: all(looptest.Call("work", nil).Says(echo), looptest.Reply("ok")), Tools: all[agent.Tool](work()),
		Hooks: all[agent.Hook](&repair.EchoedPayload{}),
	}.Run(t, "x")
	if ran.Messages[1].Content != echo || ran.Calls[0].Output != "done" {
		t.Errorf("a reply with a call became %+v", ran.Messages[1])
	}
}

type place struct {
	City string `json:"city"`
}

func TestE54_SchemaRetryExplainsTheFirstBadCall(t *testing.T) {
	weather := func(name string) agent.Tool {
		return loop.Tool(name, "The weather.", func(context.Context, place) (string, error) { return "sun", nil })
	}
	bad := func(tool string) looptest.Turn { return looptest.Call(tool, `{"town":"Oslo"}`) }
	ran := looptest.Harness{
		Turns: all(bad("now"), bad("now"), bad("later"), looptest.Call("now", `{"city":"Oslo"}`), looptest.Reply("ok")),
		Tools: all(weather("now"), weather("later")), Hooks: all[agent.Hook](&repair.SchemaRetry{}),
	}.Run(t, "x")
	for i, explained := range all(true, false, true, false) {
		if c := ran.Calls[i]; strings.Contains(c.Output, "- city (string, required)") != explained || c.OK() != (i == 3) {
			t.Errorf("call %d: %+v", i, c)
		}
	}
	contains(t, heard(t, ran, 1), "- city (string, required)", "arguments are wrong")
}

func TestE55_ToolErrorRetryStopsAFailingTool(t *testing.T) {
	results := map[string]string{"down": "", "up": "fine"}
	tool := func(name string) agent.Tool {
		return &looptest.Tool{Name: name, Parameters: `{"type":"object","required":["go"]}`, Func: func(
			_ context.Context, c agent.ToolCallRequest,
		) (string, error) {
			var args struct{ Go string }
			if err := json.Unmarshal(c.Args, &args); err != nil || results[args.Go] == "" {
				return "", errors.Join(errBoom, err)
			}
			return results[args.Go], nil
		}}
	}
	hook := &repair.ToolErrorRetry{}
	for range 2 { // fresh in the second run
		var turns []looptest.Turn
		var want []string
		for _, step := range []struct{ tool, args, then string }{
			{"a", `{"go":"down"}`, "passes"}, {"a", `{}`, "passes"}, {"b", `{"go":"down"}`, "passes"}, {"a",
				`{"go":"up"}`, "passes"},
			{"a", `{"go":"down"}`, "passes"}, {"a", `{"go":"down","n":1}`, "given up"}, {"a", `{"go":"down","n":2}`, "given up"},
		} {
			turns, want = append(turns, looptest.Call(step.tool, step.args)), append(want, step.then)
		}
		ran := looptest.Harness{
			Turns: append(turns, looptest.Reply("ok")), Tools: all(tool("a"), tool("b")), Hooks: all[agent.Hook](hook),
		}.Run(t, "x")
		for i, c := range ran.Calls {
			if got := strings.Contains(c.Output, `"retries_exhausted":true`); got != (want[i] == "given up") ||
				c.OK() != (i == 3) {
				t.Errorf("call %d, %s: %+v", i, want[i], c)
			}
		}
	}
}

func TestE56_OutputValidatorChecksAndRedacts(t *testing.T) {
	run := func(tool *looptest.Tool, validators ...screen.Validator) *looptest.Ran {
		tool.Name = "work"
		return looptest.Harness{
			Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](&screen.Output{Validators: validators}),
		}.Run(t, "x")
	}
	own := screen.ValidatorFunc(func(_ context.Context, _ agent.ToolCallRequest, out string) (string, string, error) {
		if strings.Contains(out, "forbidden") {
			return "", "it is forbidden", nil
		}
		return out + "+", "", nil
	})
	for _, c := range []struct {
		output, left, err string
		validators        []screen.Validator
	}{
		{strings.Repeat("x", 99), "(capped at 50 chars)", "", all[screen.Validator](screen.LengthCap(50))},
		{`["` + strings.Repeat("x", 99) + `"]`, "", "output size 103 > 50", all[screen.Validator](screen.LengthCap(50))},
		{
			`{"a":[{"to":"jo@example.com","tel":"(555) 123-4567"}]}`,
			`[REDACTED]`,
			"",
			all[screen.Validator](screen.RedactPersonal()),
		},
		{`{"n":1}`, `{"n":1}`, "", all[screen.Validator](screen.Schema(`{"type":"object","required":["n"]}`))},
		{`{"m":1}`, "", "output validation: ", all[screen.Validator](screen.Schema(`{"type":"object","required":["n"]}`))},
		{"forbidden", "", "output validation: it is forbidden", all[screen.Validator](own)},
		{"jo@example.com", "[REDACTED]+", "", all[screen.Validator](screen.RedactPersonal(), own)}, // in order
	} {
		ran := run(&looptest.Tool{Result: c.output}, c.validators...)
		got := ran.Calls[0]
		if !strings.Contains(got.Output, c.left) || (c.left == "") != (got.Output == "") ||
			!strings.Contains(got.Err, c.err) || (c.err == "") != got.OK() {
			t.Errorf("%.60q: output %q, error %q", c.output, got.Output, got.Err)
		}
		lacks(t, heard(t, ran, 1), "jo@example.com", "123-4567") // before the prompt
	}
	if got := run(&looptest.Tool{Err: fmt.Errorf("forbidden for jo@example.com")},
		own).Calls[0]; got.Err != "forbidden for jo@example.com" {
		t.Errorf("a failed result became %+v", got)
	}
}
