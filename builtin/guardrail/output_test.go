package guardrail_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/guardrail"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// screened returns the recorded result of a tool whose output passes the validators.
func screened(t *testing.T, out agent.ToolOutput, err error, validators ...guardrail.Validator) agent.ToolCallResult {
	t.Helper()
	tool := loop.Tool("work", "", func(context.Context, struct{}) (agent.ToolOutput, error) { return out, err })
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Reply("ok")}, Tools: []agent.Tool{tool},
		Hooks: []agent.Hook{&guardrail.Output{Validators: validators}},
	}.Run(t, "x")
	return ran.Calls[0]
}

func TestWarningsAreValidatedToo(t *testing.T) {
	noTrace := guardrail.ValidatorFunc(func(
		_ context.Context, _ agent.ToolCallRequest, text string,
	) (string, string, error) {
		if strings.Contains(text, "trace") {
			return "", "a trace", nil
		}
		return text, "", nil
	})
	out := agent.ToolOutput{Text: `{"n":1}`, Warnings: []string{"ask jo@example.com", "trace of main.go"}}
	got := screened(t, out, nil, guardrail.RedactPersonal(), noTrace, guardrail.Schema(`{"type":"object"}`))
	if diff := cmp.Diff([]string{"ask [REDACTED:email]"}, got.Warnings); diff != "" || got.Output != `{"n":1}` {
		t.Errorf("output %q, warnings (-want +got):\n%s", got.Output, diff)
	}
	down := guardrail.ValidatorFunc(func(
		_ context.Context, _ agent.ToolCallRequest, text string,
	) (string, string, error) {
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
		guardrail.Schema(`{"type":"object"}`))
	if got.OK() || got.Parts != nil || got.Warnings != nil || strings.Contains(got.Content(), "w\n") {
		t.Errorf("got %+v", got)
	}
}

func TestSecretsAreRemoved(t *testing.T) {
	key := "AKIA" + "IOSFODNN7EXAMPLE"
	for _, c := range []struct {
		name, output, want string
		redactor           redact.Redactor
	}{
		{"text", "mail ada@example.com; " + key + " password=hunter22",
			"mail [REDACTED:email]; [REDACTED:aws-access-key] password=[REDACTED]", redact.Redactor{}},
		{"only secrets", "mail ada@example.com; " + key, "mail ada@example.com; [REDACTED:aws-access-key]",
			redact.Redactor{KeepPersonal: true}},
		{"a key of one's own", `{"ticket":"T1"}`, `{"ticket":"[REDACTED]"}`, redact.Redactor{Keys: []string{"ticket"}}},
		{"JSON", `{"user":{"password":"hunter22","at":[` + `"` + key + `"]}}`,
			`{"user":{"at":["[REDACTED:aws-access-key]"],"password":"[REDACTED]"}}`, redact.Redactor{}},
		{"JSON without secrets", `{ "z": 1.0, "a": "é <b>" }`, `{ "z": 1.0, "a": "é <b>" }`, redact.Redactor{}},
		{"a key given twice", `{"password":"hunter22","password":"[REDACTED]"}`, `{"password":"[REDACTED]"}`,
			redact.Redactor{}},
		{"a text without secrets", "as before", "as before", redact.Redactor{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := agent.ToolOutput{Text: c.output, Warnings: []string{"see " + key}}
			got := screened(t, out, nil, guardrail.Redact(c.redactor))
			if got.Output != c.want || strings.Join(got.Warnings, "") != "see [REDACTED:aws-access-key]" {
				t.Errorf("got %q, warnings %q; want %q", got.Output, got.Warnings, c.want)
			}
			failed := screened(t, agent.ToolOutput{Text: c.output}, errors.New("no access with "+key),
				guardrail.Redact(c.redactor))
			if failed.Err != "no access with [REDACTED:aws-access-key]" || failed.Output != c.want {
				t.Errorf("a failure is %q, %q", failed.Err, failed.Output)
			}
		})
	}
	t.Run("a nil pattern", func(t *testing.T) {
		defer func() {
			if v := recover(); !strings.Contains(fmt.Sprint(v), "Validators[0]: guardrail.Redact: Patterns[0] is nil") {
				t.Errorf("panicked with %v", v)
			}
		}()
		new(agent.Hooks).Use(&guardrail.Output{Validators: []guardrail.Validator{
			guardrail.Redact(redact.Redactor{Patterns: []*regexp.Regexp{nil}}),
		}})
	})
}

func TestPersonalDataOfFailuresAreRemoved(t *testing.T) {
	out := agent.ToolOutput{Text: "try ann@example.com", Warnings: []string{"or bob@example.com"}}
	got := screened(t, out, errors.New("jo@example.com is unknown"), guardrail.RedactPersonal())
	if got.Err != "[REDACTED:email] is unknown" || got.Content() != "try [REDACTED:email]\nwarning: or [REDACTED:email]" {
		t.Errorf("got %+v", got)
	}
}

func TestAnUnchangedOutputIsNotReplaced(t *testing.T) {
	hook := &guardrail.Output{Validators: []guardrail.Validator{guardrail.RedactPersonal(), guardrail.LengthCap(100)}}
	for _, result := range []agent.ToolCallResult{
		{Output: "fine", Warnings: []string{"slow"}, Context: []string{"a note"}}, {Output: "partly", Err: "down"},
	} {
		t.Run(result.Output, func(t *testing.T) {
			if outcome, err := hook.AfterTool(t.Context(), agent.NewRun(nil), result); outcome != nil || err != nil {
				t.Errorf("%+v becomes %+v, %v", result, outcome, err)
			}
		})
	}
}

func TestTheContextOfOthersIsNotOverwritten(t *testing.T) {
	hook := &guardrail.Output{Validators: []guardrail.Validator{guardrail.RedactPersonal()}}
	result := agent.ToolCallResult{
		Err: "down", Context: []string{"ask jo@example.com"}, Warnings: []string{"or ann@example.com"},
	}
	outcome, err := hook.AfterTool(t.Context(), agent.NewRun(nil), result)
	if outcome == nil || err != nil || result.Context[0] != "ask jo@example.com" ||
		result.Warnings[0] != "or ann@example.com" {
		t.Errorf("%+v, %v; the result of the caller is %+v", outcome, err, result)
	}
}

func TestUncheckableContextIsAnError(t *testing.T) {
	hook := &guardrail.Output{Validators: []guardrail.Validator{guardrail.RedactPersonal(), noProject}}
	for _, output := range []string{"fine", "Zeus"} { // accepted and rejected
		t.Run(output, func(t *testing.T) {
			result := agent.ToolCallResult{Output: output, Context: []string{"broken"}}
			outcome, err := hook.AfterTool(t.Context(), agent.NewRun(nil), result)
			if outcome != nil || err == nil || !strings.Contains(err.Error(), "the classifier is down") {
				t.Errorf("%+v, %v", outcome, err)
			}
		})
	}
}

func TestLengthCapCountsItsMark(t *testing.T) {
	for _, c := range []struct {
		most              int
		output, want, why string
	}{
		{30, strings.Repeat("é", 30), strings.Repeat("é", 30), ""},
		{30, strings.Repeat("é", 31), strings.Repeat("é", 9) + " (capped at 30 chars)", ""},
		{5, "abcdefgh", " (ca…", ""},
		{5, "[1,2,3]", "", "output size 7 > 5 (too large; narrow the query)"},
	} {
		t.Run(c.output, func(t *testing.T) {
			got, why, err := guardrail.LengthCap(c.most).Validate(t.Context(), agent.ToolCallRequest{}, c.output)
			if got != c.want || why != c.why || err != nil {
				t.Errorf("got %q, %q, %v; want %q, %q", got, why, err, c.want, c.why)
			}
		})
	}
}

func TestPersonalDataHasMarkerOfOnesOwn(t *testing.T) {
	ticket := regexp.MustCompile(`T-\d+`)
	for output, want := range map[string]string{
		"jo@example.com wrote T-1":           "<gone> wrote <gone>",
		`{"by":"jo@example.com","in":"T-1"}`: `{"by":"<gone>","in":"<gone>"}`,
		"nothing personal":                   "nothing personal",
	} {
		t.Run(output, func(t *testing.T) {
			got := screened(t, agent.ToolOutput{Text: output}, nil, guardrail.Redact(redact.Redactor{
				KeepSecrets: true, Patterns: []*regexp.Regexp{ticket}, Mark: func(string, string) string { return "<gone>" },
			}))
			if got.Output != want {
				t.Errorf("got %q, want %q", got.Output, want)
			}
		})
	}
}

func TestOnlyJSONMatchesASchema(t *testing.T) {
	for output, want := range map[string]string{
		`{"n":1}`: "", `{}`: "output validation: validating root", `[]`: "output validation: validating root",
		"n": "output validation: the output is not JSON", "": "output validation: the output is not JSON",
	} {
		t.Run(output, func(t *testing.T) {
			got := screened(t, agent.ToolOutput{Text: output}, nil, guardrail.Schema(`{"type":"object","required":["n"]}`))
			if !strings.HasPrefix(got.Err, want) || got.OK() != (want == "") {
				t.Errorf("got %+v, want %q", got, want)
			}
		})
	}
}

func TestInvalidValidatorsPanicInUse(t *testing.T) {
	for want, validators := range map[string][]guardrail.Validator{
		"Validators is empty":                                 nil,
		"Validators[1] is nil":                                {guardrail.LengthCap(1), nil},
		"Validators[0]: LengthCap(0)":                         {guardrail.LengthCap(0)},
		"Validators[0]: guardrail.Redact: Patterns[1] is nil": {guardrail.RedactPersonal(regexp.MustCompile("x"), nil)},
		"Validators[0]: guardrail.Schema: unexpected end of ": {guardrail.Schema(`{`)},
	} {
		t.Run(want, func(t *testing.T) {
			fixture.MustPanic(t, want, func() { new(agent.Hooks).Use(&guardrail.Output{Validators: validators}) })
		})
	}
}
