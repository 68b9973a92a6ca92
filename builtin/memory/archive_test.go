package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/compact"
	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func ExampleArchive() {
	store, hooks := new(memory.Map), new(agent.Hooks)
	hooks.Use(&memory.Archive{Store: store})
	a := loop.Agent{Hooks: hooks, Model: looptest.NewScript(looptest.Reply("First migrate the users, then the orders."))}
	_, _ = a.Do(context.Background(), loop.Request{Task: "Make a plan for the migration.", Conversation: "c"})
	ctx := agentspec.WithIdentity(context.Background(), agent.Identity{Conversation: "c"})
	turns, _ := store.Recent(ctx, 1, "turn")
	var turn struct{ User, Reply string }
	_ = json.Unmarshal(turns[0].Payload, &turn)
	fmt.Println(turn.User, turn.Reply)
	// Output: Make a plan for the migration. First migrate the users, then the orders.
}

// archivedTurns returns the archived turns of an owner, newest first, as user=reply.
func archivedTurns(t *testing.T, store memory.Store, id agent.Identity) (turns []string) {
	t.Helper()
	episodes, err := store.Recent(agentspec.WithIdentity(t.Context(), id), 100, "turn")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range episodes {
		var turn struct{ User, Reply string }
		if err := json.Unmarshal(e.Payload, &turn); err != nil {
			t.Fatal(err)
		}
		turns = append(turns, turn.User+"="+turn.Reply)
	}
	return turns
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
		{"no reply", [][]agent.Message{asked(1)[:1]}, nil},
		{"last reply", [][]agent.Message{append(asked(1),
			agent.Message{Role: agent.RoleAssistant, Content: "All of it is done"})},
			[]string{"Question number 1 about it=All of it is done"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := &memory.Map{Share: share.Everyone}
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
	store := new(memory.Map)
	always := agent.ShouldCompactFunc(
		func(_ context.Context, _ *agent.Run, use agent.ContextUse) (agent.ShouldCompactOutcome, error) {
			return agent.Compact{Reason: "test"}, nil
		})
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("The third answer, which is long enough.")},
		Hooks: []agent.Hook{&memory.Archive{Store: store}, always},
		Agent: &loop.Agent{Compactor: &compact.Truncate{Keep: 1}},
	}.Do(t, t.Context(), loop.Request{Task: "the third question", Conversation: "c", Messages: asked(1, 2)})
	got := archivedTurns(t, store, agent.Identity{Conversation: "c"})
	if len(got) != 3 || !strings.Contains(got[2], "number 1") || !strings.Contains(got[0], "third") {
		t.Errorf("archived %q after a run with %d messages", got, len(ran.Messages))
	}
}

func TestArchivedTextsAreRedactedAndShort(t *testing.T) {
	store := new(memory.Map)
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("The key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789 " +
			strings.Repeat("works well, ", 1000))},
		Hooks: []agent.Hook{&memory.Archive{Store: store}},
	}.Do(t, t.Context(), loop.Request{Task: strings.Repeat("long ", 1000), Conversation: "c"})
	got := archivedTurns(t, store, agent.Identity{Conversation: "c"})
	if len(got) != 1 || strings.Contains(got[0], "abcdefgh") || utf8.RuneCountInString(got[0]) > 4001 {
		t.Errorf("archived %.300q", got)
	}
	if other := archivedTurns(t, store, agent.Identity{Conversation: "d"}); len(other) != 0 {
		t.Errorf("another conversation has %q", other)
	}
}

// brokenStore fails to store episodes.
type brokenStore struct{ memory.Store }

func (brokenStore) AddEpisode(context.Context, memory.Episode) error { return errors.New("disk full") }

func TestArchiveFailureDoesNotEndRun(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("This reply is long enough to be archived.")},
		Hooks: []agent.Hook{&memory.Archive{Store: brokenStore{new(memory.Map)}}},
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
