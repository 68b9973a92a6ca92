package loop_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestKeysWithoutToolAreReported(t *testing.T) {
	for name, c := range map[string]struct {
		key  string
		want string // the tool in the warning; "": no warning
	}{
		"the tool":          {"desk__refund", ""},
		"other case":        {"Bash", "bash"},
		"typing mistake":    {"bsah", "bash"},
		"without qualifier": {"refund", "desk__refund"},
		"unlike any tool":   {"search", ""},
		"longer than names": {strings.Repeat("bash", 1<<18), ""},
	} {
		t.Run(name, func(t *testing.T) {
			judged := 0
			ran := looptest.Harness{
				Turns: turns(looptest.Call("bash", nil), looptest.Reply("ok")),
				Agent: &loop.Agent{Tools: tools(&looptest.Tool{Name: "bash"}, &looptest.Tool{Name: "desk__refund"})},
				Hooks: hooks(bind(func(h *agent.Hooks) {
					h.Use(beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
						judged++
						return nil, nil
					}), agent.ForTool(c.key))
				})),
			}.Run(t, "x")
			if warned := slices.ContainsFunc(ran.Warnings, func(w string) bool {
				return strings.Contains(w, `did you mean "`+c.want+`"`)
			}); warned != (c.want != "") || len(ran.Warnings) > 1 || judged != 0 {
				t.Errorf("warned %q, the guard was called %d times", ran.Warnings, judged)
			}
		})
	}
}
