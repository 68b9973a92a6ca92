package looptest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

// CheckSessionStore runs the conformance suite for implementations of [agent.SessionStore]. The function open returns a
// new, empty store each time.
//
// The suite checks that conversations are loaded as they were saved, that those of other users and tenants are apart,
// that List begins with the one that was saved last, and that a Save is done whole or not at all. The rules of
// [CheckStore] about missing values, copies, done contexts and concurrent calls are checked as well.
func CheckSessionStore(t *testing.T, open func(t *testing.T) agent.SessionStore) {
	t.Helper()
	for _, c := range sessionChecks {
		t.Run(c.name, func(t *testing.T) { c.check(t, open(t)) })
	}
}

// sessionChecks are the checks of CheckSessionStore, each of an empty store.
var sessionChecks = []struct {
	name  string
	check func(t testing.TB, s agent.SessionStore)
}{
	{"nothing is stored", checkNoSessions},
	{"sessions are loaded unchanged", checkSessionContent},
	{"owners are apart", checkOwners},
	{"the last saved is listed first", checkSessionOrder},
	{"sessions are copied", checkSessionCopies},
	{"done contexts have no effect", checkSessionContext},
	{"sessions are whole", checkWholeSessions},
}

// save stores a session, or ends the check.
func save(t testing.TB, s agent.SessionStore, session agent.Session) {
	t.Helper()
	if err := s.Save(t.Context(), session); err != nil {
		t.Fatalf("Save of %+v: %v", session.Identity, err)
	}
}

// listsSessions checks the identities in a store, in any order.
func listsSessions(t testing.TB, s agent.SessionStore, want ...agent.Identity) {
	t.Helper()
	got, err := s.List(t.Context())
	order := func(a, b agent.Identity) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.User, b.User),
			cmp.Compare(a.Conversation, b.Conversation))
	}
	got, want = slices.SortedFunc(slices.Values(got), order), slices.SortedFunc(slices.Values(want), order)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("List = %+q, %v; want %+q", got, err, want)
	}
}

func sessionOf(id agent.Identity, text string) agent.Session {
	return agent.Session{Identity: id, Messages: []agent.Message{{Role: agent.RoleUser, Content: text}}}
}

func checkNoSessions(t testing.TB, s agent.SessionStore) {
	id := agent.Identity{Tenant: "t", User: "u", Conversation: "c"}
	_, err := s.Load(t.Context(), id)
	missing(t, "Load from an empty store", err)
	if err := s.Delete(t.Context(), id); err != nil {
		t.Errorf("Delete of a missing session: %v; want no error", err)
	}
	unnamed := agent.Identity{Tenant: "t", User: "u"}
	if s.Save(t.Context(), sessionOf(unnamed, "x")) == nil {
		t.Error("Save of a conversation without a name was accepted; want an error")
	}
	if _, err := s.Load(t.Context(), unnamed); err == nil {
		t.Error("Load of a conversation without a name was accepted; want an error")
	}
	listsSessions(t, s)
}

func checkSessionContent(t testing.TB, s agent.SessionStore) {
	id := agent.Identity{Tenant: "t", User: "u/v", Conversation: "../c"}
	full := agent.Session{
		Identity: id,
		Messages: []agent.Message{
			{
				Role: agent.RoleUser, Content: "hi \u2028 ä\n",
				Parts: []agent.Part{{MediaType: "image/png", Data: []byte{0, 255}}},
			},
			{
				Role: agent.RoleAssistant, Reasoning: "hm",
				ToolCalls: []agent.ToolCallRequest{
					{ID: "1", Name: "x", Args: json.RawMessage(`not JSON`)},
					{ID: "2", Name: "y", Args: json.RawMessage(`{"a":[1]}`)},
				},
				Extra: map[string]json.RawMessage{"signature": json.RawMessage(`"abc"`)},
			},
			{Role: agent.RoleTool, Name: "x", ToolCallID: "1", Content: "no", IsError: true},
			{Role: agent.RoleTool, Name: "y", ToolCallID: "2", Content: strings.Repeat("long ", 20_000)},
		},
		State: map[string]json.RawMessage{"n": json.RawMessage(`1`), "text": json.RawMessage(`"ä"`)},
	}
	short := sessionOf(id, "again")
	for _, want := range []agent.Session{full, short, full} {
		save(t, s, want)
		got, err := s.Load(t.Context(), id)
		if err != nil || got.Identity != id || !reflect.DeepEqual(got.Messages, want.Messages) ||
			len(got.State) != len(want.State) || len(want.State) > 0 && !reflect.DeepEqual(got.State, want.State) {
			t.Errorf("Load returned %.300v, %v; want %.300v", got, err, want)
		}
	}
	save(t, s, agent.Session{Identity: id})
	if got, err := s.Load(t.Context(), id); err != nil || len(got.Messages) != 0 {
		t.Errorf("Load of a session without messages: %+v, %v", got, err)
	}
	listsSessions(t, s, id)
}

func checkSessionOrder(t testing.TB, s agent.SessionStore) {
	a, b, c := agent.Identity{Conversation: "a"}, agent.Identity{User: "u", Conversation: "b"},
		agent.Identity{Tenant: "t", Conversation: "c"}
	lists := func(when string, want ...agent.Identity) {
		t.Helper()
		if got, err := s.List(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s, List = %+q, %v; want %+q", when, got, err, want)
		}
	}
	for _, id := range []agent.Identity{c, a, b} {
		save(t, s, sessionOf(id, "x"))
	}
	lists("after three Saves", b, a, c)
	save(t, s, sessionOf(c, "a longer text"))
	lists("after another Save of the first", c, b, a)
	if err := s.Delete(t.Context(), c); err != nil {
		t.Errorf("Delete: %v", err)
	}
	save(t, s, sessionOf(a, "x"))
	lists("after a Delete and a Save", a, b)
}

// hostileOwners are different identities that are equal once their names are joined carelessly.
var hostileOwners = []agent.Identity{
	{Conversation: "c"},
	{User: "u", Conversation: "c"},
	{Tenant: "u", Conversation: "c"},
	{Tenant: "t", User: "u", Conversation: "c"},
	{Tenant: "t/u", Conversation: "c"},
	{Tenant: "t", User: "u/c", Conversation: "c"},
	{Tenant: "t", User: "u", Conversation: "c/c"},
	{Tenant: "t", User: "u", Conversation: "C"},
	{Tenant: "t", User: "u\x00", Conversation: "c"},
	{Tenant: "t", User: "u", Conversation: "\x00c"},
	{Tenant: "t", User: "u", Conversation: "c\xff"},
	{Tenant: "t", User: "%", Conversation: "_"},
	{Tenant: "..", User: "..", Conversation: ".."},
	{Tenant: "'", User: `"`, Conversation: "; --"},
}

func checkOwners(t testing.TB, s agent.SessionStore) {
	for i, id := range hostileOwners {
		save(t, s, sessionOf(id, fmt.Sprint(i)))
	}
	for i, id := range hostileOwners {
		if got, err := s.Load(t.Context(), id); err != nil || len(got.Messages) != 1 ||
			got.Messages[0].Content != fmt.Sprint(i) || got.Identity != id {
			t.Errorf("Load of %+q returned %+v, %v; want the session %d", id, got, err, i)
		}
	}
	listsSessions(t, s, hostileOwners...)
	if err := s.Delete(t.Context(), hostileOwners[0]); err != nil {
		t.Errorf("Delete: %v", err)
	}
	_, err := s.Load(t.Context(), hostileOwners[0])
	missing(t, "Load of a deleted session", err)
	listsSessions(t, s, hostileOwners[1:]...)
}

func checkSessionCopies(t testing.TB, s agent.SessionStore) {
	id := agent.Identity{Conversation: "c"}
	session := sessionOf(id, "text")
	session.State = map[string]json.RawMessage{"n": json.RawMessage(`1`)}
	save(t, s, session)
	for _, when := range []string{"a change of the session after Save", "a change of the session from Load"} {
		session.Messages[0].Content, session.State["n"] = "changed", json.RawMessage(`2`)
		got, err := s.Load(t.Context(), id)
		if err != nil || len(got.Messages) != 1 || got.Messages[0].Content != "text" || string(got.State["n"]) != "1" {
			t.Fatalf("%s changed the stored one: %+v, %v", when, got, err)
		}
		session = got
	}
}

func checkSessionContext(t testing.TB, s agent.SessionStore) {
	id := agent.Identity{Conversation: "c"}
	save(t, s, sessionOf(id, "old"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, loaded := s.Load(ctx, id)
	_, listed := s.List(ctx)
	for _, c := range []struct {
		call string
		err  error
	}{
		{"Load", loaded}, {"List", listed}, {"Save", s.Save(ctx, sessionOf(id, "new"))}, {"Delete", s.Delete(ctx, id)},
	} {
		if !errors.Is(c.err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v; want an error that wraps context.Canceled", c.call, c.err)
		}
	}
	if got, err := s.Load(t.Context(), id); err != nil || got.Messages[0].Content != "old" {
		t.Errorf("after calls with a cancelled context: %+v, %v; want the old session", got, err)
	}
}

// checkWholeSessions saves sessions of different lengths concurrently, and loads them meanwhile. All messages of a
// session have the same text.
func checkWholeSessions(t testing.TB, s agent.SessionStore) {
	id := agent.Identity{User: "u", Conversation: "c"}
	version := func(n int) agent.Session {
		session := sessionOf(id, fmt.Sprint(n))
		session.Messages = slices.Repeat(session.Messages, 1+n*50)
		return session
	}
	save(t, s, version(0))
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range 10 {
				if err := s.Save(t.Context(), version((w+i)%3)); err != nil {
					t.Errorf("a concurrent Save: %v", err)
				}
			}
		})
		all.Go(func() {
			for range 10 {
				got, err := s.Load(t.Context(), id)
				if err != nil || len(got.Messages) == 0 {
					t.Errorf("during a Save, Load returned %d messages, %v", len(got.Messages), err)
					continue
				}
				n := (len(got.Messages) - 1) / 50
				if want := version(n); !reflect.DeepEqual(got.Messages, want.Messages) {
					t.Errorf("during a Save, Load returned %d messages that were not saved together", len(got.Messages))
				}
			}
		})
	}
	all.Wait()
}
