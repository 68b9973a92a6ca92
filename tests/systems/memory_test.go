package systems

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestMemoryInjectorShowsFactsInEachPrompt(t *testing.T) {
	remembered := &memory.Facts{}
	hooks := new(agent.Hooks)
	hooks.Use(&memory.Injector{Store: remembered})
	run := func() *looptest.Ran {
		return looptest.Harness{
			Turns: working(2), Tools: all[agent.Tool](work()), Agent: &loop.Agent{
				Hooks: hooks.Layer("inner"), Instructions: "about ## Memory",
			},
		}.Run(t, "x")
	}
	ran := run()
	lacks(t, requestText(t, ran, 0), "Known facts", "\n## Memory")
	for i, fact := range []string{"tea", "coffee"} {
		if err := remembered.Put(t.Context(), memory.Fact{Key: "drink" + fmt.Sprint(i), Value: fact}); err != nil {
			t.Fatal(err)
		}
		ran = run()
		for request := range 3 {
			prompt := requestText(t, ran, request)
			contains(t, prompt, "Known facts", "drink0: tea")
			if strings.Count(prompt, "drink0: tea") != 1 || strings.Contains(prompt, "coffee") != (i == 1) {
				t.Errorf("run %d, prompt %d: %s", i, request, prompt)
			}
		}
	}
}

func TestNotesInjectorShowsTheEndOfTheNotes(t *testing.T) {
	notes := &memory.Notes{Path: filepath.Join(t.TempDir(), "notes.md")}
	for _, text := range all("first "+strings.Repeat("x", 10_000), "the last line") {
		if err := notes.Append(t.Context(), text, ""); err != nil {
			t.Fatal(err)
		}
	}
	ran := looptest.Harness{Turns: working(0), Hooks: all[agent.Hook](&memory.NotesInjector{Notes: notes})}.Run(t, "x")
	contains(t, requestText(t, ran, 0), "## Notes\nthe last line")
	lacks(t, requestText(t, ran, 0), "first", "xxx")
}

func TestCompactorsShortenLongConversations(t *testing.T) {
	always := agent.ShouldCompactFunc(compactAlways)
	run := func(messages []agent.Message, compactor agent.Compactor) *looptest.Ran {
		return looptest.Harness{
			Turns: all(looptest.Reply("a summary"), looptest.Reply("ok")), Hooks: all[agent.Hook](always),
			Agent: &loop.Agent{Compactor: compactor},
		}.Do(t, t.Context(), loop.Request{Task: "go on", Messages: messages})
	}
	for name, compactor := range map[string]agent.Compactor{
		"Summarize": &window.Summarize{Trigger: 500}, "Truncate": window.Truncate{}, "Default": &window.Default{
			Summarize: window.Summarize{Trigger: 500},
		},
	} {
		if ran := run(talk(20), compactor); len(ran.Messages) >= 42 || agentspec.CheckPairs(ran.Messages, false) != nil {
			t.Errorf("%s leaves %d messages", name, len(ran.Messages))
		}
	}
	if ran := run(talk(3), &window.Summarize{}); len(ran.Messages) != 8 ||
		ran.Reply != "a summary" { // no call for a summary
		t.Errorf("under the trigger: %+v", ran.AgentResult)
	}
	long := looptest.Harness{Turns: working(8), Tools: all[agent.Tool](work())}.Run(t, "the task").Messages
	ran := run(long, &window.Summarize{Trigger: limit.AtMost(0), PreserveCalls: true})
	contains(t, fmt.Sprint(ran.Messages), "a summary", `{"n":1}`, "done")
	if err := agentspec.CheckPairs(ran.Messages, false); err != nil || len(ran.Messages) >= len(long) {
		t.Errorf("%d messages of %d, %v", len(ran.Messages), len(long), err)
	}
	var messages []agent.Message
	for i := range 50 {
		ran := run(messages, &window.Default{Summarize: window.Summarize{Trigger: 200}})
		if messages = append(ran.Messages, talk(1)...); agentspec.EstimateTokens(messages) > 1000 {
			t.Fatalf("after %d runs there are %d tokens", i+1, agentspec.EstimateTokens(messages))
		}
	}
}

func TestEpisodesAndFactsSurviveFlushAndReload(t *testing.T) {
	dir := session.Dir{Path: t.TempDir()}
	remembered := &memory.Facts{In: dir, Share: share.Everyone}
	if err := remembered.Put(t.Context(), memory.Fact{Key: "drink", Value: "tea"}); err != nil {
		t.Fatal(err)
	}
	looptest.Harness{
		Turns: all(looptest.Call("work", nil), looptest.Call("bad", nil), looptest.Reply("ok")),
		Tools: all[agent.Tool](work(), &looptest.Tool{Name: "bad", Err: errBoom}),
		Hooks: all[agent.Hook](&record.Episodes{Store: remembered}),
		Agent: &loop.Agent{Name: "clerk"},
	}.Run(t, "x")
	again := &memory.Facts{In: dir, Share: share.Everyone}
	facts, _, _ := again.Search(t.Context(), memory.Query{})
	episodes, _ := memory.Episodes(t.Context(), again, 9)
	if len(facts) != 1 || facts[0].Value != "tea" || len(episodes) != 2 {
		t.Fatalf("there are %+v and %+v", facts, episodes)
	}
	for i, want := range all("failed clerk bad", "ok clerk work") { // the newest first
		var payload struct{ Name string }
		err := json.Unmarshal(episodes[i].Payload, &payload)
		if got := episodes[i].Outcome + " " + episodes[i].Agent + " " + payload.Name; got != want || err != nil {
			t.Errorf("episode %d is %s, want %s; %v", i, got, want, err)
		}
	}
}

func TestAuditLogWritesOnlyValidLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "audit.jsonl")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = write
	looptest.Harness{
		Turns: working(1), Tools: all[agent.Tool](&looptest.Tool{Name: "work", Result: strings.Repeat("é\n\"", 900)}),
		Hooks: all[agent.Hook](&record.Audit{Path: path}),
	}.Run(t, "x")
	os.Stdout = stdout
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := io.ReadAll(read); len(out) != 0 || err != nil {
		t.Errorf("on standard output: %q, %v", out, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var points []string
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		var r hooklog.Event
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Errorf("%s: %v", s.Bytes(), err)
		}
		points = append(points, r.Point)
	}
	if want := all("AfterLLM", "BeforeTool", "AfterTool", "AfterLLM", "OnRunEnd"); !slices.Equal(points, want) {
		t.Errorf("recorded %v, want %v", points, want)
	}
}

func TestTheSavedConversationHoldsTheUsersMessage(t *testing.T) {
	sessions := session.Sessions{Store: session.Dir{Path: t.TempDir()}}
	for id, turns := range map[string][]looptest.Turn{"good": working(0), "../failed": all(looptest.Error(errBoom))} {
		looptest.Harness{Turns: turns, Hooks: all[agent.Hook](&session.Persist{Store: sessions})}.
			Do(t, t.Context(), loop.Request{Task: "hello there", Conversation: id})
		s, err := sessions.Load(t.Context(), agent.Identity{Conversation: id})
		if err != nil || len(s.Messages) == 0 || s.Messages[0].Role != agent.RoleUser ||
			s.Messages[0].Content != "hello there" {
			t.Errorf("%s: %+v, %v", id, s.Messages, err)
		}
	}
}
