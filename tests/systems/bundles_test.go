package systems

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/builtin/guardrail"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestBundlesComposeAndStayUnderTheLimit(t *testing.T) {
	remembered, notes := &memory.Facts{Share: share.Everyone}, &memory.Notes{}
	for i := range 50 {
		if err := remembered.Put(t.Context(), memory.Fact{
			Key:   fmt.Sprint("k", i),
			Value: strings.Repeat("v", 50),
		}); err != nil {
			t.Fatal(err)
		}
		if err := notes.Append(t.Context(), strings.Repeat("n", 50), ""); err != nil {
			t.Fatal(err)
		}
	}
	const limit = 1500
	ran := looptest.Harness{
		Turns: working(12), Tools: all[agent.Tool](&looptest.Tool{Name: "work", Result: strings.Repeat("r", 9000)}),
		Hooks: all[agent.Hook](builtin.SmallModel{}, &memory.Injector{Store: remembered}, &memory.NotesInjector{Notes: notes},
			&window.TruncateOutput{MaxChars: 500}, &window.TokenBudget{Max: limit}),
	}.Run(t, "the task")
	for i, r := range ran.Script.Requests() {
		if n := agentspec.EstimateTokens(r.Messages) + agentspec.EstimateTools(r.Tools); n > limit {
			t.Errorf("request %d has %d tokens", i, n)
		}
		contains(t, requestText(t, ran, i), "the task", "## Memory", "## Notes")
		if err := agentspec.CheckPairs(r.Messages, false); err != nil {
			t.Errorf("request %d: %v", i, err)
		}
	}
	var have []string
	for _, p := range ran.Agent.Hooks.Points() {
		have = append(have, names(p.Hooks())...)
	}
	contains(t, strings.Join(have, " "), "LoopDetector", "EchoedPayload", "SchemaRetry")
	if ran.Reply != "ok" || len(ran.Calls) != 12 {
		t.Errorf("got %+v", ran.AgentResult)
	}
}

func TestManyBuiltinsWorkInOneRun(t *testing.T) {
	for _, n := range []int{11, 13} {
		dir := t.TempDir()
		remembered, notes := &memory.Facts{Share: share.Everyone}, &memory.Notes{}
		if err := remembered.Put(t.Context(), memory.Fact{Key: "drink", Value: "tea"}); err != nil {
			t.Fatal(err)
		}
		if err := notes.Append(t.Context(), "noted", ""); err != nil {
			t.Fatal(err)
		}
		timing, asked := &record.Timing{}, 0
		hooks := all[agent.Hook](
			&guardrail.Input{Block: all("bomb")}, &permission.DenyTools{Deny: all("rm")},
			&permission.Confirm{Tools: all("send")},
			&memory.Injector{Store: remembered}, &memory.NotesInjector{Notes: notes}, &window.TokenBudget{Max: 600},
			builtin.SmallModel{}, &window.TruncateOutput{MaxChars: 400}, &record.Episodes{Store: remembered},
			&record.Audit{Path: filepath.Join(dir, "audit")}, timing,
			&guardrail.Output{Validators: all[guardrail.Validator](guardrail.RedactPersonal())},
			&session.Persist{Store: session.Sessions{Store: session.Dir{Path: dir}}},
		)[:n]
		l := looptest.Harness{
			Turns: all(looptest.Call("work", `{"n":1}`), looptest.Call("work", `{"n":1}`), looptest.Call("rm", nil),
				looptest.Call("send", `{"town":1}`),
				looptest.Call("send", `{"city":"Oslo"}`), looptest.Echo("send", "{}", "again")),
			Tools: all[agent.Tool](&looptest.Tool{Name: "work", Result: "jo@example.com " + strings.Repeat("x", 500)},
				&looptest.Tool{Name: "rm"},
				loop.Tool("send", "Sends.", func(context.Context, place) (string, error) { return "sent", nil })),
			Hooks: hooks,
			Agent: &loop.Agent{
				Approver: person(func(agent.Question) (agent.Approval, error) { asked++; return agent.Approval{Allow: true}, nil }),
			},
		}
		ran := l.Do(t, t.Context(), loop.Request{Task: "the task", Messages: talk(30), Conversation: "s"})
		if statuses(ran) != "succeeded refused refused failed succeeded" || asked != 1 ||
			ran.Reply != "Sorry, I couldn't answer that." {
			t.Fatalf("%d: %s, asked %d times, %+v", n, statuses(ran), asked, ran.AgentResult)
		}
		contains(t, ran.Calls[1].Err+ran.Calls[2].Err+ran.Calls[3].Output, "already called", "denied by policy",
			"- city (string, required)")
		contains(t, requestText(t, ran, 0), "drink: tea", "noted", "the task")
		if got := ran.Calls[0].Output; len([]rune(got)) > 400+len(":email") ||
			strings.Contains(got, "jo@example.com") != (n < 13) {
			t.Errorf("%d: the output is %q", n, got)
		}
		if sent := ran.Script.Requests()[0].Messages; len(sent) > 25 || len(ran.Messages) < 70 {
			t.Errorf("%d: %d messages sent, %d stored", n, len(sent), len(ran.Messages))
		}
		episodes, _ := memory.Episodes(t.Context(), remembered, 99)
		audit, err := os.ReadFile(filepath.Join(dir, "audit"))
		if len(episodes) != 5 || len(timing.Samples()) != 8 || strings.Count(string(audit), "\n") < 17 || err != nil {
			t.Errorf("%d: %d episodes, %d samples, audit %v: %s", n, len(episodes), len(timing.Samples()), err, audit)
		}
		if _, err := os.Stat(filepath.Join(dir, "session%2f%2f%2fs.json")); (err == nil) != (n == 13) {
			t.Errorf("%d: the session: %v", n, err)
		}
		if again := (looptest.Harness{Hooks: hooks}).Run(t, "a bomb"); again.Stop.Message != "blocklist match: bomb" {
			t.Errorf("%d: %+v", n, again.AgentResult)
		}
	}
}
