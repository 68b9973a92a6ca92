package claudecode

import (
	"strings"
	"testing"
)

// A script meant to deny, and its output is not what Claude Code reads. It must not be taken for the output of a script
// that decides nothing: with FailClosed, a failure refuses.
func TestDamagedAnswersAreFailures(t *testing.T) {
	const deny = `{"hookSpecificOutput":{"permissionDecision":"deny"}}`
	for name, c := range map[string]struct{ stdout, want string }{
		"text before it":       {"checking\n" + deny, "comes after other text"},
		"lines before it":      {"checking\n\n{\n\"decision\":\n\"block\"}\n", "comes after other text"},
		"text after it":        {deny + "\ndone", "invalid character 'd' after top-level value"},
		"two answers":          {deny + deny, "after top-level value"},
		"a key twice":          {`{"decision":"block","decision":"approve"}`, `the key "decision" occurs twice`},
		"a key in two cases":   {`{"decision":"block","Decision":"approve"}`, `unknown key "Decision"; did you mean`},
		"an inner key twice":   {`{"hookSpecificOutput":{"updatedInput":{},"updatedInput":{"a":1}}}`, "occurs twice"},
		"a behavior twice":     {`{"hookSpecificOutput":{"decision":{"behavior":"deny","behavior":"allow"}}}`, "twice"},
		"an outer decision":    {`{"permissionDecision":"deny"}`, "permissionDecision belongs in hookSpecificOutput"},
		"a misspelled key":     {`{"desicion":"block"}`, `unknown key "desicion"; did you mean "decision"?`},
		"another notation":     {`{"hook_specific_output":{}}`, `did you mean "hookSpecificOutput"?`},
		"a misspelled inside":  {`{"hookSpecificOutput":{"permisionDecision":"deny"}}`, `did you mean "permissionDecision"?`},
		"an unknown decision":  {`{"hookSpecificOutput":{"permissionDecision":"Deny"}}`, "is not one of"},
		"a text for a boolean": {`{"continue":"false"}`, "cannot unmarshal string"},
		"deep nesting":         {`{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}", "max depth"},
		"an end in the middle": {`{"decision":"blo`, "unexpected end"},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := read("PreToolUse", []byte(c.stdout), "", 0)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v; want an error with %q", v, err, c.want)
			}
		})
	}
}

func TestAnswersThatClaudeCodeReads(t *testing.T) {
	for name, c := range map[string]struct{ event, stdout, permission, context string }{
		"a byte order mark":    {"PreToolUse", "\ufeff\u00a0" + `{"decision":"block"}` + "\ufeff", "deny", ""},
		"an unknown key":       {"PreToolUse", `{"later":{"a":1,"a":2},"decision":"block"}`, "deny", ""},
		"a later key":          {"PreToolUse", `{"continued":true,"decision":"block"}`, "deny", ""},
		"any keys of an input": {"PreToolUse", `{"hookSpecificOutput":{"updatedInput":{"A":1,"a":2}}}`, "", ""},
		"a half of a pair":     {"PreToolUse", `{"decision":"block","reason":"\ud83d"}`, "deny", ""},
		"all keys": {"PreToolUse", `{"continue":true,"stopReason":"","suppressOutput":true,"systemMessage":"","reason":"",` +
			`"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"r",` +
			`"updatedInput":{},"additionalContext":"c","updatedToolOutput":"o","updatedMCPToolOutput":"m"}}`, "allow", "c"},
		"text alone":        {"PreToolUse", "all {fine}\n{ }", "", ""},
		"context with JSON": {"SessionStart", "see\n{\"decision\":\"block\"}", "", "see\n{\"decision\":\"block\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := read(c.event, []byte(c.stdout), "", 0)
			if err != nil || v.permission != c.permission || strings.Join(v.context, "") != c.context {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}
