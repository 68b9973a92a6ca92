package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func ExampleArchive() {
	store, hooks := new(memory.Facts), new(agent.Hooks)
	hooks.Use(&memory.Archive{Store: store})
	a := loop.Agent{Hooks: hooks, Model: looptest.NewScript(looptest.Reply("First migrate the users, then the orders."))}
	_, _ = a.Do(context.Background(), loop.Request{Task: "Make a plan for the migration.", Conversation: "c"})
	ctx := agentspec.WithIdentity(context.Background(), agent.Identity{Conversation: "c"})
	turns, _, _ := store.Search(ctx, memory.Query{Text: "migration", Scope: memory.TurnScope})
	var turn struct{ User, Reply string }
	_ = json.Unmarshal([]byte(turns[0].Value), &turn)
	fmt.Println(turn.User, turn.Reply)
	// Output: Make a plan for the migration. First migrate the users, then the orders.
}

// archivedTurns returns the archived turns of an owner, newest first, as user=reply.
func archivedTurns(t *testing.T, store memory.Store, id agent.Identity) (turns []string) {
	t.Helper()
	facts, _, err := store.Search(agentspec.WithIdentity(t.Context(), id), memory.Query{Scope: memory.TurnScope})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range facts {
		var turn struct{ User, Reply string }
		if err := json.Unmarshal([]byte(f.Value), &turn); err != nil {
			t.Fatal(err)
		}
		turns = append(turns, turn.User+"="+turn.Reply)
	}
	return turns
}

func TestSuspendedRunsArchiveNoOpenQuestion(t *testing.T) {
	store, id := new(memory.Facts), agent.Identity{Conversation: "c"}
	ask := agent.OnPermissionFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		return agent.Ask{Reason: "money"}, nil
	})
	ran := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Call("pay", nil).Says("I ask the manager first, this takes a while."),
			looptest.Reply("The invoice is paid."),
		},
		Tools: []agent.Tool{&looptest.Tool{Name: "pay"}},
		Hooks: []agent.Hook{&memory.Archive{Store: store}, ask},
		Agent: &loop.Agent{Approver: fixture.Later{}},
	}.Do(t, t.Context(), loop.Request{Task: "Pay the invoice of May.", Messages: asked(1), Conversation: "c"})
	const earlier = "Question number 1 about it=Answer number 1 about it"
	if got := archivedTurns(t, store, id); ran.Suspended == nil || !slices.Equal(got, []string{earlier}) {
		t.Fatalf("archived %q", got)
	}
	yes := loop.AnswerTo(ran.Suspended.Questions[0], agent.Approval{Allow: true})
	if _, err := ran.Agent.Resume(t.Context(), *ran.Suspended, yes); err != nil {
		t.Fatal(err)
	}
	if got := archivedTurns(t, store, id); !slices.Equal(got, []string{
		"Pay the invoice of May.=The invoice is paid.", earlier,
	}) {
		t.Errorf("archived %q", got)
	}
}

// asked returns a conversation of the turns with these numbers.
func asked(numbers ...int) (messages []agent.Message) {
	for _, n := range numbers {
		messages = append(messages, fixture.User(fmt.Sprintf("Question number %d about it", n)),
			agent.Message{Role: agent.RoleAssistant, Content: fmt.Sprintf("Answer number %d about it", n)})
	}
	return messages
}

func TestLastTurnsAreArchivedOnce(t *testing.T) {
	turn := func(n int) string {
		return fmt.Sprintf("Question number %d about it=Answer number %d about it", n, n)
	}
	for _, c := range []struct {
		name string
		runs [][]agent.Message // stored conversations at the end of each run
		want []string          // newest first
	}{
		{"one", [][]agent.Message{asked(1)}, []string{turn(1)}},
		{"last three", [][]agent.Message{asked(1, 2, 3, 4, 5)}, []string{turn(5), turn(4), turn(3)}},
		{"again", [][]agent.Message{asked(1), asked(1, 2)}, []string{turn(2), turn(1)}},
		{"too short", [][]agent.Message{{fixture.User("hi"), {Role: agent.RoleAssistant, Content: "hello"}}}, nil},
		{"no reply", [][]agent.Message{{fixture.User(strings.Repeat("q", 40))}}, nil},
		{"no question", [][]agent.Message{{fixture.User(" "), {Role: agent.RoleAssistant,
			Content: strings.Repeat("a", 40)}}}, nil},
		{"just long enough", [][]agent.Message{{fixture.User(strings.Repeat("ä", 20)), {Role: agent.RoleAssistant,
			Content: strings.Repeat("ö", 20)}}}, []string{strings.Repeat("ä", 20) + "=" + strings.Repeat("ö", 20)}},
		{"one character less", [][]agent.Message{{fixture.User(strings.Repeat("ä", 20)), {Role: agent.RoleAssistant,
			Content: strings.Repeat("ö", 19)}}}, nil},
		{"last reply", [][]agent.Message{append(asked(1),
			agent.Message{Role: agent.RoleAssistant, Content: "All of it is done"})},
			[]string{"Question number 1 about it=All of it is done"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := &memory.Facts{Share: share.Everyone}
			hook := &memory.Archive{Store: store}
			var hooks agent.Hooks
			hooks.Use(hook)
			hooks.Use(hook)
			for _, messages := range c.runs {
				hooks.OnRunEnd.Fire(t.Context(), agent.NewRun(nil), agent.AgentResult{Messages: messages})
			}
			if got := archivedTurns(t, store, agent.Identity{}); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("archived %q, want %q", got, c.want)
			}
		})
	}
}

func TestCompactedTurnsAreArchived(t *testing.T) {
	store := new(memory.Facts)
	always := agent.ShouldCompactFunc(
		func(_ context.Context, _ *agent.Run, use agent.ContextUse) (agent.ShouldCompactOutcome, error) {
			return agent.Compact{Reason: "test"}, nil
		})
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("The third answer, which is long enough.")},
		Hooks: []agent.Hook{&memory.Archive{Store: store}, always},
		Agent: &loop.Agent{Compactor: &window.Truncate{Keep: 1}},
	}.Do(t, t.Context(), loop.Request{Task: "the third question", Conversation: "c", Messages: asked(1, 2)})
	got := archivedTurns(t, store, agent.Identity{Conversation: "c"})
	if len(got) != 3 || !strings.Contains(got[2], "number 1") || !strings.Contains(got[0], "third") {
		t.Errorf("archived %q after a run with %d messages", got, len(ran.Messages))
	}
}

func TestArchivedTextsAreRedactedAndShort(t *testing.T) {
	store := new(memory.Facts)
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("Ask bob@example.org. " +
			"The key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789 " + strings.Repeat("works well, ", 1000))},
		Hooks: []agent.Hook{&memory.Archive{Store: store}},
	}.Do(t, t.Context(), loop.Request{Task: strings.Repeat("long ", 1000), Conversation: "c"})
	got := archivedTurns(t, store, agent.Identity{Conversation: "c"})
	if len(got) != 1 || strings.Contains(got[0], "abcdefgh") || !strings.Contains(got[0], "bob@example.org") ||
		utf8.RuneCountInString(got[0]) > 4001 {
		t.Errorf("archived %.300q", got)
	}
	if other := archivedTurns(t, store, agent.Identity{Conversation: "d"}); len(other) != 0 {
		t.Errorf("another conversation has %q", other)
	}
}

func TestARefusedCompactionRemovesNothing(t *testing.T) {
	for name, refuse := range map[string]agent.BeforeCompactFunc{
		"skipped": func(context.Context, *agent.Run, agent.Compaction) (agent.BeforeCompactOutcome, error) {
			return agent.SkipCompaction{}, nil
		},
		"failed": func(context.Context, *agent.Run, agent.Compaction) (agent.BeforeCompactOutcome, error) {
			return nil, errors.New("no")
		},
		"not refused": func(context.Context, *agent.Run, agent.Compaction) (agent.BeforeCompactOutcome, error) {
			return nil, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := &memory.Facts{Share: share.Everyone}
			var hooks agent.Hooks
			hooks.Use(&memory.Archive{Store: store})
			hooks.BeforeCompact.AddFunc(refuse)
			run := agent.NewRun(nil)
			_, _ = hooks.BeforeCompact.Fire(t.Context(), run, agent.Compaction{Messages: asked(1)})
			hooks.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{Messages: asked(2)})
			got, want := archivedTurns(t, store, agent.Identity{}), 1
			if name == "not refused" {
				want = 2
			}
			if len(got) != want {
				t.Errorf("archived %q", got)
			}
		})
	}
}

// The hook fires outside of the loop, so that only the run names the owner.
func TestTurnsBelongToOwnerOfRun(t *testing.T) {
	store := new(memory.Facts)
	var hooks agent.Hooks
	hooks.Use(&memory.Archive{Store: store})
	run := agent.NewRun(&agent.Env{User: "ann", Conversation: conversation{"c", asked(1)}})
	hooks.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{})
	if got := archivedTurns(t, store, agent.Identity{User: "ann", Conversation: "c"}); len(got) != 1 {
		t.Errorf("ann has %q", got)
	}
	if got := archivedTurns(t, store, agent.Identity{}); len(got) != 0 {
		t.Errorf("everybody has %q", got)
	}
}

// conversation is a conversation with a name.
type conversation struct {
	name     string
	messages []agent.Message
}

func (c conversation) ID() string                { return c.name }
func (c conversation) Messages() []agent.Message { return c.messages }

func TestSubRunsAreNotRemembered(t *testing.T) {
	store, asked := &memory.Facts{Share: share.Everyone}, 0
	long := strings.Repeat("a long task ", 9)
	extract := func(context.Context, *agent.Run, []agent.Message) ([]memory.Extracted, error) {
		asked++
		return nil, nil
	}
	extractor := &memory.Extractor{Store: store, Extract: extract}
	helper := &loop.Agent{Name: "helper", Tools: []agent.Tool{&looptest.Tool{Name: "x"}}, Model: looptest.NewScript(
		looptest.Call("x", nil), looptest.Call("x", nil), looptest.Call("x", nil), looptest.Reply(long))}
	looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Call("helper", `{"task":"`+long+`"}`), looptest.Call("helper", `{"task":"`+long+`"}`), looptest.Reply("ok"),
		},
		Tools: []agent.Tool{loop.Subagent(helper)},
		Hooks: []agent.Hook{&memory.Archive{Store: store}, extractor, extractor},
	}.Run(t, "hi")
	if got := archivedTurns(t, store, agent.Identity{}); len(got) != 0 {
		t.Errorf("archived %q", got)
	}
	if asked != 1 {
		t.Errorf("%d conversations were searched", asked)
	}
}

// failingStore fails in one of its methods.
type failingStore struct {
	memory.Store
	method string
}

func (s failingStore) fail(method string) error {
	if s.method == method {
		return errors.New(method + " failed")
	}
	return nil
}

func (s failingStore) Search(ctx context.Context, q memory.Query) ([]memory.Fact, int, error) {
	found, more, err := s.Store.Search(ctx, q)
	return found, more, errors.Join(err, s.fail("Search"))
}

func (s failingStore) Put(ctx context.Context, facts ...memory.Fact) error {
	return errors.Join(s.Store.Put(ctx, facts...), s.fail("Put"))
}

func (s failingStore) Forget(ctx context.Context, key, scope string) (bool, error) {
	_, err := s.Store.Forget(ctx, key, scope)
	return true, errors.Join(err, s.fail("Forget"))
}

// failures returns the failures of hooks at the end of a run without a name.
func failures(t *testing.T, hook agent.Hook, messages []agent.Message) (texts []string) {
	var hooks agent.Hooks
	hooks.HandleFailures(func(_ context.Context, f *hookkit.Failure) { texts = append(texts, f.Error()) })
	hooks.Use(hook)
	hooks.OnRunEnd.Fire(t.Context(), agent.NewRun(nil), agent.AgentResult{Messages: messages})
	return texts
}

func TestFailuresOfTheStoreAreReported(t *testing.T) {
	phrases := func(_ context.Context, _ *agent.Run, messages []agent.Message) ([]memory.Extracted, error) {
		return memory.Extract(messages), nil
	}
	store := failingStore{&memory.Facts{Share: share.Everyone}, "Put"}
	for _, hook := range []agent.Hook{
		&memory.Archive{Store: store}, &memory.Extractor{Store: store, Extract: phrases},
	} {
		got := failures(t, hook, slices.Concat(asked(1), factTalk))
		if len(got) == 0 || !strings.Contains(got[0], "Put failed") {
			t.Errorf("%T reported %q", hook, got)
		}
	}
}

func TestArchiveFailureDoesNotEndRun(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("This reply is long enough to be archived.")},
		Hooks: []agent.Hook{&memory.Archive{Store: failingStore{new(memory.Facts), "Put"}}},
	}.Run(t, "go")
	reported := false
	for _, e := range ran.Trace.Events() {
		reported = reported || e.Failure != nil
	}
	if ran.Failed != nil || !reported {
		t.Errorf("reported: %t, the run: %v", reported, ran.Failed)
	}
	if text := fixture.UsePanic(&memory.Archive{}); !strings.Contains(text, "Store is nil") {
		t.Errorf("panicked with %q", text)
	}
}
