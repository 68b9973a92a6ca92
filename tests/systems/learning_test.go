package systems

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/declared"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestRunsTeachAndGateLaterOnes(t *testing.T) {
	id := agent.Identity{Conversation: "c"}
	as := agentspec.WithIdentity(t.Context(), id)
	t.Run("archive", func(t *testing.T) {
		for _, on := range all(false, true) {
			store := new(memory.Facts)
			var hooks []agent.Hook
			if on {
				hooks = all[agent.Hook](&memory.Archive{Store: store})
			}
			looptest.Harness{Turns: all(looptest.Reply("The migration takes two hours at night.")), Hooks: hooks}.Do(
				t, t.Context(), loop.Request{Task: "How long does it take?", Conversation: "c"})
			turns, _, err := store.Search(as, memory.Query{Scope: memory.TurnScope})
			if err != nil || (len(turns) == 1) != on {
				t.Errorf("on: %t, archived %+v, %v", on, turns, err)
			}
		}
	})
	t.Run("review", func(t *testing.T) {
		for steps, want := range map[int]int{9: 0, 10: 1} { // with a call in each step but the last
			store := new(memory.Facts)
			looptest.Harness{
				Turns: append(working(steps-1), looptest.Reply(`{"facts":[{"kind":"procedure","key":"a","text":"b: 1. c 2. d"}]}`)),
				Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](&memory.Extractor{Store: store, Procedures: true}),
			}.Do(t, t.Context(), loop.Request{Task: "go", Conversation: "c"})
			facts, _, err := store.Search(as, memory.Query{})
			if err != nil || len(facts) != want {
				t.Errorf("%d steps: learned %+v, %v", steps, facts, err)
			}
		}
	})
	t.Run("gate", func(t *testing.T) {
		var events diary
		gate := new(session.WriteGate)
		tool := &looptest.Tool{Name: "work", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
			defer events.note("call")
			return "", gate.Write(ctx, func(context.Context) error { events.note("write"); return nil })
		}}
		looptest.Harness{Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](gate,
			onRunEnd(func(agent.AgentResult) error { events.note("end"); return nil }))}.Run(t, "x")
		events.want(t, "call", "end", "write")
	})
	t.Run("loader", func(t *testing.T) {
		f := &declared.File{Path: filepath.Join(t.TempDir(), "hooks.json")}
		f.Ready = all(declared.Of[limit.Steps](), declared.Of[permission.DenyTools]())
		hooks := new(agent.Hooks)
		listed := func(text string) string {
			if err := os.WriteFile(f.Path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := f.Load(hooks); err != nil {
				t.Error(err)
			}
			found := slices.Concat(names(hooks.ShouldStop.List()), names(hooks.OnPermission.List()))
			return strings.Join(found, " ")
		}
		const steps, tools = `{"name": "steps", "use": "limit.Steps"`, `{"name": "tools", "use": "permission.DenyTools", ` +
			`"with": {"Deny": ["x"]}`
		for _, c := range []struct{ text, want string }{
			{steps + "}, " + tools + "}", "steps tools"}, {steps + `, "enabled": false}, ` + tools + "}", "tools"},
			{steps + "}, " + tools + "}", "steps tools"}, {"", ""},
		} {
			if got := listed(`{"hooks": [` + c.text + "]}"); got != c.want {
				t.Errorf("%s: listed %q, want %q", c.text, got, c.want)
			}
		}
	})
}
