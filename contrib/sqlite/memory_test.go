package sqlite

import (
	"errors"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestMemoryIsSharedAsAsked(t *testing.T) {
	owners := []agent.Identity{
		{Tenant: "acme", User: "ann", Conversation: "1"}, {Tenant: "acme", User: "ann", Conversation: "2"},
		{Tenant: "acme", User: "bob", Conversation: "1"}, {Tenant: "else", User: "ann", Conversation: "1"}, {},
	}
	for scope, visible := range map[share.Scope]int{
		share.Conversation: 1, share.User: 2, share.Tenant: 3, share.Everyone: 5,
	} {
		t.Run(scope.String(), func(t *testing.T) {
			m := &Memory{DB: newDB(t), Share: scope}
			if err := m.SetPreference(agentspec.WithIdentity(t.Context(), owners[0]), "k", "v"); err != nil {
				t.Fatal(err)
			}
			for i, id := range owners {
				all, err := m.Preferences(agentspec.WithIdentity(t.Context(), id))
				if err != nil || (len(all) > 0) != (i < visible) {
					t.Errorf("%+v has %+v, %v", id, all, err)
				}
			}
		})
	}
}

func TestUnnamedConversationsAreNotWritten(t *testing.T) {
	db := newDB(t)
	m := &Memory{DB: db}
	ctx := agentspec.WithIdentity(t.Context(), agent.Identity{User: "ann", Conversation: "run 0123456789abcdef"})
	_, err := m.AddFact(ctx, memory.Fact{Key: "k", Value: "v"})
	if err = errors.Join(err, m.SetPreference(ctx, "k", "v"), m.AddEpisode(ctx, memory.Episode{Kind: "k"}),
		m.SetPreference(t.Context(), "common", "v")); err != nil {
		t.Fatal(err)
	}
	if all, err := m.Preferences(ctx); len(all) != 2 || err != nil {
		t.Errorf("the run has %+v, %v", all, err)
	}
	var rows int
	if err := db.row(t.Context(), []any{&rows}, `SELECT (SELECT count(*) FROM facts) + (SELECT count(*) FROM episodes) +
		(SELECT count(*) FROM preferences)`); err != nil || rows != 1 {
		t.Errorf("the file has %d rows, %v", rows, err)
	}
}

func TestHistoryIsInOrderWhateverTheClock(t *testing.T) {
	clock := looptest.NewClock(time.Unix(1_700_000_000, 0))
	m := &Memory{DB: newDB(t), Clock: clock}
	for _, value := range []string{"a", "b", "c"} {
		if _, err := m.AddFact(t.Context(), memory.Fact{Key: "k", Value: value}); err != nil {
			t.Fatal(err)
		}
		clock.Advance(-time.Hour) // somebody sets the clock back
	}
	all, err := m.History(t.Context(), "k", "")
	if err != nil || len(all) != 3 || all[0].Value != "a" || all[2].Value != "c" || !all[2].Current() {
		t.Errorf("got %+v, %v", all, err)
	}
}
