package claudecode

import "testing"

// FuzzReadOutput reads any output of a script. An output that is not understood must be an error and never a decision,
// and exit status 2 must block whatever the output is.
func FuzzReadOutput(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"continue": false, "stopReason": "x"}`, `{"decision": "block", "reason": "no"}`, `{"decision": "approve"}`,
		`{"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"a": 1}}}`, `text`, ``, `{`, "\xff", `[1]`,
		`{"hookSpecificOutput": {"decision": {"behavior": "allow"}}}`, `{"hookSpecificOutput": {"updatedInput": null}}`,
		`{"hookSpecificOutput": {"updatedInput": 1}}`, `{} {}`,
		`{"hookSpecificOutput": {"decision": {"behavior": "perhaps"}}}`, "\ufeff{}", "log\n{\"decision\": \"block\"}",
		`{"decision": "block", "Decision": "approve"}`, `{"permissionDecision": "deny"}`,
	} {
		f.Add(s, 0, "PreToolUse")
		f.Add(s, 2, "PermissionRequest")
	}
	f.Fuzz(func(t *testing.T, stdout string, status int, event string) {
		v, err := read(event, []byte(stdout), "why", status)
		if status == 2 && (err != nil || !v.blocks || event == "PreToolUse" && v.permission != "deny") {
			t.Errorf("status 2: %+v, %v", v, err)
		}
		if err != nil && (v.blocks || v.permission != "" || v.stops || v.request != nil) {
			t.Errorf("%+v with the error %v", v, err)
		}
		if both := merge([]verdict{v, {permission: "deny", blocks: true}}); !both.blocks || both.permission != "deny" {
			t.Errorf("a denial is lost: %+v", both)
		}
	})
}
