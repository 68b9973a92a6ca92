package kit_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
)

// watching is a hook that watches names.
type watching struct{ names []kit.ToolName }

func (w watching) Bind(h *agent.Hooks) {
	h.OnRunEnd.AddFunc(func(context.Context, *agent.Run, agent.AgentResult) error { return nil })
	kit.WatchTools("room.Hook", w.names...).AtStart(h)
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

// logged returns the lines of the log that begin in f.
func logged(f func()) []string {
	before := slog.Default()
	defer slog.SetDefault(before)
	var log bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	f()
	return slices.Collect(strings.Lines(log.String()))
}

// reportsOf returns the reports of two runs with the tools.
func reportsOf(t *testing.T, names []kit.ToolName, tools ...string) []string {
	t.Helper()
	hooks := new(agent.Hooks)
	hooks.Use(watching{names})
	return logged(func() {
		for range 2 {
			run := agent.NewRun(&agent.Env{Agent: "desk", Tools: table(tools)})
			if _, err := hooks.OnRunStart.Fire(t.Context(), run, &agent.RunStart{}); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestNamesWithoutToolAreReported(t *testing.T) {
	list := func(names ...string) []kit.ToolName { return kit.ToolNames("Tools", names) }
	for _, c := range []struct {
		name  string
		names []kit.ToolName
		tools []string
		want  []string // one for each report
	}{
		{"qualified tool", list("refund"), []string{"find", "desk__refund"},
			[]string{`hook=room.Hook at=Tools[0] name=refund agent=desk similar=desk__refund`}},
		{"other case", list("Refund"), []string{"refund"}, []string{"similar=refund"}},
		{"typing mistake", list("refnud"), []string{"find", "refund"}, []string{"similar=refund"}},
		{"pattern", list("fs_*"), []string{"desk__fs_read"}, []string{"name=fs_* agent=desk similar=desk__fs_read"}},
		{"other case of a qualified tool", list("refund"), []string{"desk.Refund"}, []string{"similar=desk.Refund"}},
		{"second of two", list("find", "refund"), []string{"find", "desk/refund"}, []string{"Tools[1]"}},
		{"both", list("pay", "send"), []string{"shop-pay", "shop-send"}, []string{"Tools[0]", "Tools[1]"}},
		{"a key", kit.ToolKeys("Limits", map[string]int{"find": 1}), []string{"db:find"},
			[]string{`at="Limits[\"find\"]" name=find`}},
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
			if len(reports) != len(c.want) {
				t.Fatalf("%d reports: %q", len(reports), reports)
			}
			for i, part := range c.want {
				if !strings.Contains(reports[i], part) {
					t.Errorf("the report %q lacks %s", reports[i], part)
				}
			}
		})
	}
}

func TestReportsOfInventedAgentsAreBounded(t *testing.T) {
	hooks := new(agent.Hooks)
	hooks.Use(watching{kit.ToolNames("Tools", []string{"refund"})})
	reports := logged(func() {
		for i := range 1100 {
			run := agent.NewRun(&agent.Env{Agent: fmt.Sprint(i), Tools: table{"desk__refund"}})
			if _, err := hooks.OnRunStart.Fire(t.Context(), run, &agent.RunStart{}); err != nil {
				t.Fatal(err)
			}
		}
	})
	if len(reports) != 1000 {
		t.Errorf("%d reports", len(reports))
	}
}
