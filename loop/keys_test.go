package loop_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestKeysWithoutToolAreReported(t *testing.T) {
	unlike := fmt.Sprint("search", rand.Uint64()) // it is logged once in a process
	for name, c := range map[string]struct {
		key  string
		want string // the tool in the warning; "": no warning
		log  string // in the one line of the log; "": no line
	}{
		"the tool":          {"desk__refund", "", ""},
		"other case":        {"Bash", "bash", ""},
		"typing mistake":    {"bsah", "bash", ""},
		"without qualifier": {"refund", "desk__refund", ""},
		"unlike any tool":   {unlike, "", unlike},
		"longer than names": {unlike + strings.Repeat("bash", 1<<18), "", unlike + "bash"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			before := slog.Default()
			defer slog.SetDefault(before)
			slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
			judged := 0
			harness := looptest.Harness{
				Agent: &loop.Agent{Tools: tools(&looptest.Tool{Name: "bash"}, &looptest.Tool{Name: "desk__refund"})},
				Hooks: hooks(bind(func(h *agent.Hooks) {
					h.Use(beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
						judged++
						return nil, nil
					}), agent.ForTool(c.key))
				})),
			}
			for range 2 {
				harness.Turns = turns(looptest.Call("bash", nil), looptest.Reply("ok"))
				ran := harness.Run(t, "x")
				if warned := slices.ContainsFunc(ran.Warnings, func(w string) bool {
					return strings.Contains(w, `did you mean "`+c.want+`"`) && strings.Contains(w, "loop/looptest/harness.go:")
				}); warned != (c.want != "") || len(ran.Warnings) > 1 || judged != 0 {
					t.Errorf("warned %q, the guard was called %d times", ran.Warnings, judged)
				}
			}
			if lines := strings.Count(log.String(), "\n"); !strings.Contains(log.String(), c.log) || c.log == "" && lines > 0 ||
				lines > 1 || log.Len() > 1000 {
				t.Errorf("logged %d lines: %.1000s", lines, log.String())
			}
		})
	}
}

func TestManyKeysWithoutToolAreReportedInShort(t *testing.T) {
	var keys []string
	for i := range 10_000 {
		keys = append(keys, fmt.Sprint("bash", i))
	}
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("ok")),
		Agent: &loop.Agent{Tools: tools(&looptest.Tool{Name: "bash"})},
		Hooks: hooks(bind(func(h *agent.Hooks) {
			h.Use(beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) { return nil, nil }),
				agent.ForTool(keys...))
		})),
	}.Run(t, "x")
	if n := len(ran.Warnings); n == 0 || n > 101 || !strings.Contains(ran.Warnings[n-1], "for 9900 more tools") {
		t.Errorf("%d warnings, the last one of %.200q", n, ran.Warnings)
	}
}
