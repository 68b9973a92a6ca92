package hooktest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
)

// failures collects what assertions report.
type failures struct {
	testing.TB
	texts []string
}

func (f *failures) Helper() {}

func (f *failures) Errorf(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

func recorded(t *testing.T) *hooktest.Recorder {
	t.Helper()
	hooks := new(agent.Hooks)
	hooks.BeforeTool.Add(agent.BeforeToolFunc(func(_ context.Context, _ *agent.Run, call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		call.Name = "other"
		return agent.ReplaceBeforeTool(call, "renamed"), nil
	}), hookkit.Named("renamer"))
	hooks.BeforeTool.Add(agent.BeforeToolFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		return agent.SkipTool{Reason: "cached"}, nil
	}), hookkit.Named("cache"))
	rec := &hooktest.Recorder{}
	rec.Attach(hooks)
	run := agent.NewRun(nil)
	call := agent.ToolCallRequest{ID: "a", Name: "work"}
	if _, err := hooks.BeforeTool.Fire(t.Context(), run, &call); err != nil {
		t.Fatal(err)
	}
	hooks.BeforeStep.Fire(t.Context(), run.Child(nil), agent.Step{Number: 1})
	return rec
}

func TestARecorderRemembersFiresDecisionsAndWhoTookThem(t *testing.T) {
	rec := recorded(t)
	rec.Fired(t, "BeforeTool", "BeforeStep")
	rec.InOrder(t, "BeforeStep")
	rec.InOrder(t, "BeforeTool", "BeforeStep")
	rec.Times(t, "BeforeTool", 1)
	rec.Times(t, "AfterTool", 0)
	rec.Decided(t, "BeforeTool", "cache", "SkipTool", "cached")
	rec.Ran(t, "BeforeTool", "renamer", "cache")
	calls := hooktest.Payloads[agent.ToolCallRequest](rec, "BeforeTool")
	if len(calls) != 1 || calls[0].Name != "work" {
		t.Errorf("payloads %+v", calls)
	}
	fires := rec.Fires()
	if left, ok := fires[0].Left.(agent.ToolCallRequest); !ok || left.Name != "other" {
		t.Errorf("left %+v", fires[0].Left)
	}
	if fires[1].Parent != fires[0].Run || fires[0].Parent != "" {
		t.Errorf("runs %s of %s, %s of %s", fires[0].Run, fires[0].Parent, fires[1].Run, fires[1].Parent)
	}
	rec.Reset()
	if len(rec.Fires())+len(rec.Events()) != 0 {
		t.Error("something is left")
	}
}

func TestTheAssertionsOfARecorderFail(t *testing.T) {
	rec := recorded(t)
	for want, check := range map[string]func(testing.TB){
		"want:  [BeforeStep]":         func(t testing.TB) { rec.Fired(t, "BeforeStep") },
		"there was no BeforeTool":     func(t testing.TB) { rec.InOrder(t, "BeforeStep", "BeforeTool") },
		"fired 1 times, want 2":       func(t testing.TB) { rec.Times(t, "BeforeTool", 2) },
		"never decided as {renamer":   func(t testing.TB) { rec.Decided(t, "BeforeTool", "renamer", "Replace", "renamed") },
		"ran [renamer cache], want [": func(t testing.TB) { rec.Ran(t, "BeforeTool", "cache") },
	} {
		f := &failures{TB: t}
		check(f)
		if len(f.texts) != 1 || !strings.Contains(f.texts[0], want) {
			t.Errorf("reported %q, want %q", f.texts, want)
		}
	}
}
