package repair_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/builtin/guardrail"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// replied returns the content of a reply after AfterLLM fired with the hook.
func replied(t *testing.T, hook agent.Hook, format *agent.ResponseFormat, reply agent.LLMResponse) string {
	t.Helper()
	var hooks agent.Hooks
	hooks.Use(hook)
	run := agent.NewRun(nil)
	if _, err := hooks.BeforeLLM.Fire(t.Context(), run, &agent.LLMRequest{ResponseFormat: format}); err != nil {
		t.Fatal(err)
	}
	if _, err := hooks.AfterLLM.Fire(t.Context(), run, &reply); err != nil {
		t.Fatal(err)
	}
	return reply.Content
}

func TestEchoedPayloadReplacesOnlyErrorPayloads(t *testing.T) {
	const fallbackReply = "Sorry, I couldn't answer that."
	pad := func(n int) string { // an error payload of n bytes
		const before, after = `{"retry_hint":"`, `"}`
		return before + strings.Repeat("x", n-len(before)-len(after)) + after
	}
	envelope := `{"ok": false, "error": "bad", "retry_hint": "again"}`
	for name, c := range map[string]struct {
		content string
		json    bool
		want    string
	}{
		"bare":                  {envelope, false, fallbackReply},
		"fenced":                {"```json\n" + envelope + "\n```", false, fallbackReply},
		"fenced as a tool call": {"```tool_call\n" + envelope + "\n```", false, fallbackReply},
		"fenced plainly":        {"```\n" + envelope + "\n```", false, fallbackReply},
		"fenced on one line":    {"```json " + envelope + " ```", false, fallbackReply},
		"fenced with tildes":    {"~~~json\n" + envelope + "\n~~~", false, fallbackReply},
		"blanks before colons":  {`{"you_sent" : {} }`, false, fallbackReply},
		"an array":              {"[" + envelope + "," + envelope + "]", false, fallbackReply},
		"leading prose":         {"Here you are: " + envelope, false, fallbackReply},
		"ok and error alone":    {`{"ok":false,"error":"bad"}`, false, fallbackReply},
		"a tool given up": {`{"ok":false,"error":"down","retries_exhausted":true,"suggest":"x"}`, false,
			fallbackReply},
		"prose with brackets":  {"As for {x} and [y]: " + envelope, false, fallbackReply},
		"no failure":           {`{"ok":true,"error":""}`, false, `{"ok":true,"error":""}`},
		"an error alone":       {`{"error":"none"}`, false, `{"error":"none"}`},
		"an array of answers":  {`[{"error":"none"},` + envelope + `]`, false, `[{"error":"none"},` + envelope + `]`},
		"brackets without end": {strings.Repeat("[{", 100_000), false, strings.Repeat("[{", 100_000)},
		"a normal reply":       {"It is 12 degrees.", false, "It is 12 degrees."},
		"prose behind it": {envelope + " was the error; I fixed it.", false,
			envelope + " was the error; I fixed it."},
		"an object of one's own":  {`{"city":"Oslo","error":"none"}`, false, `{"city":"Oslo","error":"none"}`},
		"JSON that was asked for": {`{"ok":true,"error":""}`, true, `{"ok":true,"error":""}`},
		"a failure as an answer":  {`{"ok":false,"error":"bad"}`, true, `{"ok":false,"error":"bad"}`},
		"another reason":          {`{"ok":false,"reason":"bad"}`, false, `{"ok":false,"reason":"bad"}`},
		"an empty array":          {"[]", false, "[]"},
		"an array of numbers":     {"[1,2]", false, "[1,2]"},
		"a mebibyte":              {pad(1 << 20), false, fallbackReply},
		"more than a mebibyte":    {pad(1<<20 + 1), false, pad(1<<20 + 1)},
		"an echo all the same":    {envelope, true, fallbackReply},
		"empty":                   {"", false, ""},
		"an empty object":         {"{}", false, "{}"},
		"broken":                  {`{"ok": fal`, false, `{"ok": fal`},
	} {
		t.Run(name, func(t *testing.T) {
			var format *agent.ResponseFormat
			if c.json {
				format = &agent.ResponseFormat{}
			}
			if got := replied(t, &repair.EchoedPayload{}, format, agent.LLMResponse{Content: c.content}); got != c.want {
				t.Errorf("left %.100q, want %.100q", got, c.want)
			}
		})
	}
	if got := replied(t, &repair.EchoedPayload{}, &agent.ResponseFormat{Type: "text"},
		agent.LLMResponse{Content: `{"ok":false,"error":"bad"}`}); got != fallbackReply {
		t.Errorf("asked for text, it left %q", got)
	}
	calls := agent.LLMResponse{Content: envelope, ToolCalls: []agent.ToolCallRequest{{ID: "1", Name: "x"}}}
	if got := replied(t, &repair.EchoedPayload{}, nil, calls); got != envelope {
		t.Errorf("a reply with tool calls became %q", got)
	}
	if got := replied(t, &repair.EchoedPayload{Reply: "hm"}, nil, agent.LLMResponse{Content: envelope}); got != "hm" {
		t.Errorf("left %q, want the fallback", got)
	}
}

type weather struct {
	City string `json:"city" jsonschema:"where"`
	Days int    `json:"days,omitempty"`
}

func forecast(context.Context, weather) (string, error) { return "sun", nil }

func TestSchemaRetryExplainsFirstBadCall(t *testing.T) {
	bad := looptest.Call("forecast", map[string]any{"town": "Oslo"})
	ran := looptest.Harness{
		Turns: []looptest.Turn{bad, bad, looptest.Reply("done")},
		Tools: []agent.Tool{loop.Tool("forecast", "The weather.", forecast)},
		Hooks: []agent.Hook{&repair.SchemaRetry{}},
	}.Run(t, "go")
	first, second := ran.Calls[0], ran.Calls[1]
	for _, want := range []string{"arguments are wrong", "- city (string, required): where", "- days (integer, optional)",
		"once more"} {
		if !strings.Contains(first.Output, want) {
			t.Errorf("the output does not say %q:\n%s", want, first.Output)
		}
	}
	if first.Err == "" || second.Err == "" || second.Output == first.Output {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if !strings.Contains(fixture.Shown(ran, 1), "- city (string, required)") {
		t.Error("the hint is not in the next prompt")
	}
}

// noTools are the tools of a host that has none.
type noTools struct{ agent.ToolTable }

func (noTools) Lookup(string) (agent.ToolSchema, bool) { return agent.ToolSchema{}, false }

func TestUnknownToolsAreNotExplained(t *testing.T) {
	for name, env := range map[string]*agent.Env{
		"no environment": nil, "no tools": {}, "other tools": {Tools: noTools{}},
	} {
		t.Run(name, func(t *testing.T) {
			var hooks agent.Hooks
			hooks.Use(&repair.SchemaRetry{})
			result := agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "x"}, Err: "wrong", Kind: agent.FailArguments}
			if _, err := hooks.AfterTool.Fire(t.Context(), agent.NewRun(env), &result); err != nil || result.Output != "" {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}

func TestSchemaRetryIgnoresOtherFailures(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("x", nil), looptest.Call("missing", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "x", Err: errors.New("argument of the gods")}},
		Hooks: []agent.Hook{&repair.SchemaRetry{}},
	}.Run(t, "go")
	for _, c := range ran.Calls {
		if strings.Contains(c.Output, "arguments are wrong") {
			t.Errorf("%s was explained: %s", c.Call.Name, c.Output)
		}
	}
}

func TestToolErrorRetryStopsFailingTool(t *testing.T) {
	failing := func(tool string) agent.ToolCallResult {
		return agent.ToolCallResult{Call: agent.ToolCallRequest{Name: tool}, Err: "down", Kind: agent.FailTool, Attempts: 1}
	}
	ok := agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "a"}, Output: "fine", Attempts: 1}
	wrong := failing("a")
	wrong.Kind = agent.FailArguments
	refused := failing("a")
	refused.Attempts = 0
	for name, c := range map[string]struct {
		hook    *repair.ToolErrorRetry
		results []agent.ToolCallResult
		gaveUp  []bool
	}{
		"passes under the limit, replaces at it": {&repair.ToolErrorRetry{},
			[]agent.ToolCallResult{failing("a"), failing("a"), failing("a")}, []bool{false, true, true}},
		"a success begins anew": {&repair.ToolErrorRetry{},
			[]agent.ToolCallResult{failing("a"), ok, failing("a"), failing("a")}, []bool{false, false, false, true}},
		"arguments do not count": {&repair.ToolErrorRetry{}, []agent.ToolCallResult{wrong, wrong, failing("a")},
			[]bool{false, false, false}},
		"refusals do not count": {&repair.ToolErrorRetry{}, []agent.ToolCallResult{refused, refused, failing("a")},
			[]bool{false, false, false}},
		"tools count apart": {&repair.ToolErrorRetry{}, []agent.ToolCallResult{failing("a"), failing("b"), failing("a")},
			[]bool{false, false, true}},
		"one is enough": {&repair.ToolErrorRetry{MaxFailures: 1}, []agent.ToolCallResult{failing("a")}, []bool{true}},
	} {
		t.Run(name, func(t *testing.T) {
			var hooks agent.Hooks
			hooks.Use(c.hook)
			for range 2 { // fresh in each run
				run := agent.NewRun(nil)
				for i, r := range c.results {
					was := r.Err
					if _, err := hooks.AfterTool.Fire(t.Context(), run, &r); err != nil {
						t.Fatal(err)
					}
					if got := strings.Contains(r.Output, `"retries_exhausted":true`); got != c.gaveUp[i] {
						t.Errorf("result %d: gave up %v, want %v", i, got, c.gaveUp[i])
					}
					if r.NoRetry != c.gaveUp[i] {
						t.Errorf("result %d may be tried again: %t", i, !r.NoRetry)
					}
					if r.Err != was {
						t.Errorf("result %d: Err became %q", i, r.Err)
					}
				}
			}
		})
	}
}

// validated returns a result after AfterTool fired with the validators.
func validated(t *testing.T, output string, vs ...guardrail.Validator) agent.ToolCallResult {
	t.Helper()
	var hooks agent.Hooks
	hooks.Use(&guardrail.Output{Validators: vs})
	result := agent.ToolCallResult{Output: output}
	if _, err := hooks.AfterTool.Fire(t.Context(), agent.NewRun(nil), &result); err != nil {
		t.Fatal(err)
	}
	return result
}

func TestOutputValidatorsChangeAndReject(t *testing.T) {
	object := guardrail.Schema(`{"type":"object","required":["n"],"properties":{"n":{"enum":[1,2]}}}`)
	own := guardrail.ValidatorFunc(func(_ context.Context, _ agent.ToolCallRequest, out string) (string, string, error) {
		if out == "bad" {
			return "", "bad is bad", nil
		}
		return out + "!", "", nil
	})
	for name, c := range map[string]struct {
		output      string
		validators  []guardrail.Validator
		want, error string
	}{
		"text capped": {strings.Repeat("é", 50), []guardrail.Validator{guardrail.LengthCap(30)},
			strings.Repeat("é", 9) + " (capped at 30 chars)", ""},
		"text that fits": {"short", []guardrail.Validator{guardrail.LengthCap(30)}, "short", ""},
		"large JSON": {`["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]`, []guardrail.Validator{guardrail.LengthCap(30)}, "",
			"output validation: output size 42 > 30 (too large; narrow the query)"},
		"e-mail": {"write to a.b@example.org now", []guardrail.Validator{guardrail.RedactPersonal()},
			"write to [REDACTED:email] now", ""},
		"nested": {`{"a":[{"mail":"a.b@example.org"}]}`, []guardrail.Validator{guardrail.RedactPersonal()},
			`{"a":[{"mail":"[REDACTED:email]"}]}`, ""},
		"a card": {"card 4111 1111 1111 1111", []guardrail.Validator{guardrail.RedactPersonal()}, "card [REDACTED:card]",
			""},
		"an order number": {"order 4111 1111 1111 1112", []guardrail.Validator{guardrail.RedactPersonal()},
			"order 4111 1111 1111 1112", ""},
		"a pattern of one's own": {"code X-17", []guardrail.Validator{guardrail.RedactPersonal(regexp.MustCompile(`X-\d+`))},
			"code [REDACTED]", ""},
		"in order, once each": {
			`{"z":"x","a@b.org":1,"c@d.org":[{"e@f.org":null}],"card":4111111111111111,"n":1.50,"t":true}`,
			[]guardrail.Validator{guardrail.RedactPersonal()},
			`{"[REDACTED:email]":1,"[REDACTED:email] 2":[{"[REDACTED:email]":null}],` +
				`"card":0,"n":1.50,"t":true,"z":"x"}`,
			"",
		},
		"escaped": {`["a\u0040b.org","<b>"]`, []guardrail.Validator{guardrail.RedactPersonal()}, `["[REDACTED:email]","<b>"]`,
			""},
		"nothing to redact": {`{"b": 1, "a": 2.0}`, []guardrail.Validator{guardrail.RedactPersonal()},
			`{"b": 1, "a": 2.0}`, ""},
		"schema pass":     {`{"n":1}`, []guardrail.Validator{object}, `{"n":1}`, ""},
		"schema not JSON": {`n=1`, []guardrail.Validator{object}, "", "output validation: the output is not JSON"},
		"in order":        {"a", []guardrail.Validator{own, guardrail.LengthCap(2)}, "a!", ""},
		"own rejection":   {"bad", []guardrail.Validator{own}, "", "output validation: bad is bad"},
	} {
		t.Run(name, func(t *testing.T) {
			got := validated(t, c.output, c.validators...)
			if got.Output != c.want || got.Err != c.error {
				t.Errorf("left %q, %q; want %q, %q", got.Output, got.Err, c.want, c.error)
			}
		})
	}
	if got := validated(t, `{"n":3}`, object); !strings.HasPrefix(got.Err, "output validation: ") || got.Output != "" {
		t.Errorf("a value outside the enum left %+v", got)
	}
	var hooks agent.Hooks
	hooks.Use(&guardrail.Output{Validators: []guardrail.Validator{guardrail.LengthCap(1)}})
	failed := agent.ToolCallResult{Output: "guidance", Err: "down"}
	if _, err := hooks.AfterTool.Fire(t.Context(), agent.NewRun(nil), &failed); err != nil || failed.Output != "guidance" {
		t.Errorf("a failed result became %+v (%v)", failed, err)
	}
}

func TestInvalidSmallModelHooksPanicInBind(t *testing.T) {
	for want, hook := range map[string]agent.Hook{
		"MaxFailures is -1":   &repair.ToolErrorRetry{MaxFailures: -1},
		"MaxPerTool is -1":    &repair.SchemaRetry{MaxPerTool: -1},
		"NudgeAfter is -2":    &repair.Stagnation{NudgeAfter: -2},
		"NudgeAfter is 1":     &repair.Stagnation{NudgeAfter: 1},
		"Ignore[0] is empty":  &repair.Stagnation{Ignore: []string{""}},
		"Validators is empty": &guardrail.Output{},
		"LengthCap(0)":        &guardrail.Output{Validators: []guardrail.Validator{guardrail.LengthCap(0)}},
		"guardrail.Schema":    &guardrail.Output{Validators: []guardrail.Validator{guardrail.Schema("{")}},
		"Patterns[0] is nil":  &guardrail.Output{Validators: []guardrail.Validator{guardrail.RedactPersonal(nil)}},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, want) {
					t.Errorf("panicked with %q, want %q in it", r, want)
				}
			}()
			new(agent.Hooks).Use(hook)
		})
	}
}

func TestSmallModelBundlesThreeHooks(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("x", nil), looptest.Call("x", nil), looptest.Echo("x", nil, "bad")},
		Tools: []agent.Tool{&looptest.Tool{Name: "x", Result: "1"}},
		Hooks: []agent.Hook{builtin.SmallModel{}},
	}.Run(t, "go")
	if ran.Reply != "Sorry, I couldn't answer that." || ran.Calls[1].Err == "" {
		t.Errorf("reply %q, second call %+v", ran.Reply, ran.Calls[1])
	}
}
