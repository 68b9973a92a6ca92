package kit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// watching is a hook that watches names.
type watching struct{ names []kit.ToolName }

func (w watching) Bind(h *agent.Hooks) {
	h.OnRunEnd.AddFunc(func(context.Context, *agent.Run, agent.AgentResult) error { return nil })
	kit.WatchTools(h, "room.Hook", w.names...)
}

// table is a table of tools with these names.
type table []string

func (t table) Lookup(string) (schema agent.ToolSchema, ok bool) { return schema, false }
func (t table) Add(agent.Tool) error                             { return nil }

func (t table) Schemas() (all []agent.ToolSchema) {
	for _, name := range t {
		all = append(all, agent.ToolSchema{Name: name})
	}
	return all
}

// reportsOf returns the failures of two runs of two steps with the tools.
func reportsOf(t *testing.T, names []kit.ToolName, tools ...string) (reports []string) {
	t.Helper()
	hooks := new(agent.Hooks)
	hooks.HandleFailures(func(_ context.Context, f *hookkit.Failure) { reports = append(reports, f.Error()) })
	hooks.Use(watching{names})
	for range 2 {
		run := agent.NewRun(&agent.Env{Agent: "desk", Tools: table(tools)})
		hooks.BeforeStep.Fire(t.Context(), run, agent.Step{Number: 1})
		hooks.BeforeStep.Fire(t.Context(), run, agent.Step{Number: 2})
	}
	return reports
}

func TestNamesWithoutToolAreReported(t *testing.T) {
	list := func(names ...string) []kit.ToolName { return kit.ToolNames("Tools", names) }
	for _, c := range []struct {
		name  string
		names []kit.ToolName
		tools []string
		want  []string // in the only report; nil: no report
	}{
		{"qualified tool", list("refund"), []string{"find", "desk__refund"},
			[]string{`Tools[0] is "refund"`, `did you mean "desk__refund"?`, "room.Hook"}},
		{"other case", list("Refund"), []string{"refund"}, []string{`did you mean "refund"?`}},
		{"typing mistake", list("refnud"), []string{"find", "refund"}, []string{`did you mean "refund"?`}},
		{"pattern", list("fs_*"), []string{"desk__fs_read"}, []string{`"fs_*"`, `did you mean "desk__fs_read"?`}},
		{"other case of a qualified tool", list("refund"), []string{"desk.Refund"}, []string{`did you mean "desk.Refund"?`}},
		{"second of two", list("find", "refund"), []string{"find", "desk/refund"}, []string{"Tools[1]"}},
		{"both", list("pay", "send"), []string{"shop-pay", "shop-send"}, []string{"Tools[0]", "Tools[1]"}},
		{"a key", kit.ToolKeys("Limits", map[string]int{"find": 1}), []string{"db:find"}, []string{`Limits["find"]`}},
		{"a key with a star", kit.ToolKeys("Limits", map[string]int{"f*": 1}), []string{"find"}, nil},
		{"tool of another agent", list("pay"), []string{"find", "read"}, nil},
		{"part of a word", list("read"), []string{"threads"}, nil},
		{"match of a pattern", list("*und"), []string{"refund"}, nil},
		{"every tool", list("*"), []string{"refund"}, nil},
		{"match of a key", kit.ToolKeys("Limits", map[string]int{"find": 1}), []string{"find"}, nil},
		{"no tools", list("refund"), nil, nil},
		{"no names", nil, []string{"find"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			reports := reportsOf(t, c.names, c.tools...)
			if len(reports) != min(len(c.want), 1) {
				t.Fatalf("%d reports: %q", len(reports), reports)
			}
			for _, part := range c.want {
				if !strings.Contains(reports[0], part) {
					t.Errorf("the report %q lacks %s", reports[0], part)
				}
			}
		})
	}
}

func TestReportsOfInventedAgentsAreBounded(t *testing.T) {
	reports := 0
	hooks := new(agent.Hooks)
	hooks.HandleFailures(func(context.Context, *hookkit.Failure) { reports++ })
	hooks.Use(watching{kit.ToolNames("Tools", []string{"refund"})})
	for i := range 1100 {
		run := agent.NewRun(&agent.Env{Agent: fmt.Sprint(i), Tools: table{"desk__refund"}})
		hooks.BeforeStep.Fire(t.Context(), run, agent.Step{Number: 1})
	}
	if reports != 1000 {
		t.Errorf("%d reports", reports)
	}
}
