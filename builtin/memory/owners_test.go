package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

var (
	annOne = agent.Identity{Tenant: "acme", User: "ann", Conversation: "1"}
	annTwo = agent.Identity{Tenant: "acme", User: "ann", Conversation: "2"}
	bobOne = agent.Identity{Tenant: "acme", User: "bob", Conversation: "1"}
	other  = agent.Identity{Tenant: "else", User: "ann", Conversation: "1"}
	nobody = agent.Identity{Conversation: "run 0123456789abcdef"} // a conversation without a name
)

// as returns a context that acts for an owner.
func as(t *testing.T, id agent.Identity) context.Context {
	return agentspec.WithIdentity(t.Context(), id)
}

// A sharingCase has the owners that see a text of annOne.
type sharingCase struct {
	scope   share.Scope
	visible []agent.Identity
}

var sharingCases = []sharingCase{
	{share.Conversation, []agent.Identity{annOne}},
	{share.User, []agent.Identity{annOne, annTwo}},
	{share.Tenant, []agent.Identity{annOne, annTwo, bobOne}},
	{share.Everyone, []agent.Identity{annOne, annTwo, bobOne, other, nobody, {}}},
}

// check checks which owners see the text.
func (c sharingCase) check(t *testing.T, sees func(ctx context.Context) bool) {
	t.Helper()
	want := make(map[agent.Identity]bool)
	for _, id := range c.visible {
		want[id] = true
	}
	for _, id := range []agent.Identity{annOne, annTwo, bobOne, other, nobody, {}} {
		if got := sees(as(t, id)); got != want[id] {
			t.Errorf("%+v sees it: %t, want %t", id, got, want[id])
		}
	}
}

func TestMemoriesBelongToTheirOwners(t *testing.T) {
	for _, c := range sharingCases {
		t.Run(c.scope.String(), func(t *testing.T) {
			forEachMemory(t, func(t *testing.T, m Store, _ *looptest.Clock) {
				switch m := m.(type) {
				case *Map:
					m.Share = c.scope
				case *File:
					m.Share = c.scope
				}
				ctx := as(t, annOne)
				_, err := m.AddFact(ctx, Fact{Key: "secret", Value: "fact"})
				err = errors.Join(err, m.SetPreference(ctx, "secret", "preference"),
					m.AddEpisode(ctx, Episode{Kind: "secret", Outcome: "episode"}))
				for range 2 {
					if err != nil {
						t.Fatal(err)
					}
					c.check(t, func(ctx context.Context) bool {
						text, err := Render(ctx, m, 9, 9)
						if err != nil {
							t.Error(err)
						}
						all := strings.Contains(text, "fact") && strings.Contains(text, "preference") &&
							strings.Contains(text, "episode")
						if some := strings.Contains(text, "secret"); some != all {
							t.Errorf("rendered %q", text)
						}
						return all
					})
					err = m.Flush(ctx) // and again from the files
				}
			})
		})
	}
}

func TestNotesBelongToTheirOwners(t *testing.T) {
	for _, c := range sharingCases {
		t.Run(c.scope.String(), func(t *testing.T) {
			forEachNotes(t, 0, func(t *testing.T, n Notes) {
				switch n := n.(type) {
				case *NotesText:
					n.Share = c.scope
				case *NotesFile:
					n.Share = c.scope
				}
				if err := n.Append(as(t, annOne), "secret", ""); err != nil {
					t.Fatal(err)
				}
				c.check(t, func(ctx context.Context) bool {
					text, err := n.Tail(ctx, -1)
					if err != nil {
						t.Error(err)
					}
					return text == "secret"
				})
			})
		})
	}
}

func TestOwnersSeeTheCommonMemory(t *testing.T) {
	forEachMemory(t, func(t *testing.T, m Store, _ *looptest.Clock) {
		ctx := as(t, annOne)
		for _, ctx := range []context.Context{t.Context(), ctx} {
			name := "common"
			if agentspec.IdentityOf(ctx) == annOne {
				name = "own"
			}
			_, err := m.AddFact(ctx, Fact{Key: "both", Value: name})
			_, failed := m.AddFact(ctx, Fact{Key: name, Value: name})
			if err = errors.Join(err, failed, m.SetPreference(ctx, "both", name), m.SetPreference(ctx, name, name),
				m.AddEpisode(ctx, Episode{Kind: name})); err != nil {
				t.Fatal(err)
			}
		}
		both, ok, _ := m.Fact(ctx, "both", "")
		facts, _ := m.Facts(ctx, "")
		history, _ := m.History(ctx, "both", "")
		preferences, _ := m.Preferences(ctx)
		episodes, _ := m.Recent(ctx, 9, "")
		last, _ := m.Recent(ctx, 1, "")
		if !ok || both.Value != "own" || len(facts) != 3 || len(history) != 2 || len(preferences) != 3 ||
			preferences[0].Value != "own" || len(episodes) != 2 || len(last) != 1 {
			t.Errorf("fact %+v, facts %+v, history %+v, preferences %+v, episodes %+v and %+v", both, facts, history,
				preferences, episodes, last)
		}
		if had, err := m.Forget(ctx, "common", ""); had || err != nil {
			t.Errorf("an owner has changed the common memory: %v", err)
		}
		if common, ok, _ := m.Fact(t.Context(), "both", ""); !ok || common.Value != "common" {
			t.Errorf("the common fact is %+v", common)
		}
	})
}

// The owner and the common memory change in turn, and the lists have the order of the changes.
func TestListsMergeBothMemories(t *testing.T) {
	forEachMemory(t, func(t *testing.T, m Store, c *looptest.Clock) {
		own := as(t, annOne)
		for i, ctx := range []context.Context{t.Context(), own, t.Context(), own, t.Context()} {
			c.Advance(time.Second)
			key := fmt.Sprint("k", i)
			_, err := m.AddFact(ctx, Fact{Key: key, Value: key, Scope: "s"})
			_, failed := m.AddFact(ctx, Fact{Key: "same", Value: key})
			if err = errors.Join(err, failed, m.SetPreference(ctx, key, "v"),
				m.AddEpisode(ctx, Episode{Kind: key, Payload: json.RawMessage(`"p"`)})); err != nil {
				t.Fatal(err)
			}
		}
		facts, err := m.Facts(own, "s")
		var keys []string
		for _, f := range facts {
			keys = append(keys, f.Key)
		}
		if got := strings.Join(keys, " "); got != "k4 k3 k2 k1 k0" {
			t.Errorf("facts %s, %v", got, err)
		}
		history, err := m.History(own, "same", "")
		var values []string
		for _, f := range history {
			values = append(values, f.Value)
		}
		if got := strings.Join(values, " "); got != "k0 k1 k2 k3 k4" {
			t.Errorf("history %s, %v", got, err)
		}
		preferences, err := m.Preferences(own)
		keys = nil
		for _, p := range preferences {
			keys = append(keys, p.Key)
		}
		if got := strings.Join(keys, " "); got != "k0 k1 k2 k3 k4" {
			t.Errorf("preferences %s, %v", got, err)
		}
		for n, want := range map[int]string{-1: "", 0: "", 2: "k4 k3", 4: "k4 k3 k2 k1", 9: "k4 k3 k2 k1 k0"} {
			episodes, err := m.Recent(own, n, "")
			var kinds []string
			for _, e := range episodes {
				kinds = append(kinds, e.Kind)
			}
			if got := strings.Join(kinds, " "); got != want {
				t.Errorf("the last %d episodes are %s, %v", n, got, err)
			}
		}
		episodes, _ := m.Recent(own, 1, "k1")
		if len(episodes) != 1 || episodes[0].Kind != "k1" {
			t.Errorf("episodes of one kind: %+v", episodes)
		}
	})
}

func TestOwnersSeeTheCommonNotes(t *testing.T) {
	forEachNotes(t, 0, func(t *testing.T, n Notes) {
		appendNotes(t, n, "common", "")
		if err := n.Append(as(t, annOne), "own", ""); err != nil {
			t.Fatal(err)
		}
		for chars, want := range map[int]string{
			-1: "common\nown", 100: "common\nown", 11: "common\nown", 10: "own", 4: "own", 3: "wn", 0: "",
		} {
			if got, err := n.Tail(as(t, annOne), chars); got != want || err != nil {
				t.Errorf("the last %d: %q, %v, want %q", chars, got, err, want)
			}
		}
		if got := tailOfNotes(t, n, -1); got != "common" {
			t.Errorf("the common notes are %q", got)
		}
	})
}

func TestUnnamedConversationsAreNotKept(t *testing.T) {
	dir := t.TempDir()
	file, err := OpenFile(filepath.Join(dir, "memory.json"))
	if err != nil {
		t.Fatal(err)
	}
	notes, err := OpenNotesFile(filepath.Join(dir, "notes.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * maxUnnamed {
		ctx := as(t, agent.Identity{Conversation: fmt.Sprintf("run %016x", i)})
		if err := errors.Join(file.SetPreference(ctx, "k", "v"), notes.Append(ctx, "note", "")); err != nil {
			t.Fatal(err)
		}
		preferences, _ := file.Preferences(ctx)
		if text, _ := notes.Tail(ctx, -1); len(preferences) != 1 || text != "note" {
			t.Errorf("during run %d there are %+v and %q", i, preferences, text)
		}
	}
	for i := range 3 * maxUnnamed { // the oldest are dropped
		ctx := as(t, agent.Identity{Conversation: fmt.Sprintf("run %016x", i)})
		preferences, err := file.Preferences(ctx)
		if kept := len(preferences) > 0; err != nil || kept != (i >= 2*maxUnnamed) {
			t.Errorf("the memory of run %d is kept: %t, %v", i, kept, err)
		}
		text, err := notes.Tail(ctx, -1)
		if kept := text != ""; err != nil || kept != (i >= 2*maxUnnamed) {
			t.Errorf("the notes of run %d are kept: %t, %v", i, kept, err)
		}
	}
	if len(file.known) > maxUnnamed+1 || len(notes.unnamed.texts) > maxUnnamed {
		t.Errorf("%d memories and %d notes are kept", len(file.known), len(notes.unnamed.texts))
	}
	if err := file.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); len(entries) != 0 || err != nil {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

func TestEachOwnerHasAFile(t *testing.T) {
	dir := t.TempDir()
	file, err := OpenFile(filepath.Join(dir, "memory.json"))
	if err != nil {
		t.Fatal(err)
	}
	notes, err := OpenNotesFile(filepath.Join(dir, "notes.md"))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("long", 200)
	for _, id := range []agent.Identity{
		annOne, {Conversation: "../up"}, {User: "CON"}, {Tenant: long, User: long, Conversation: long},
	} {
		ctx := as(t, id)
		if err := errors.Join(file.SetPreference(ctx, "k", id.Conversation), notes.Append(ctx, id.Conversation+"!", ""),
			file.Flush(ctx)); err != nil {
			t.Fatal(err)
		}
		if file.known[id] != nil {
			t.Errorf("the memory of %.20s is still open after a Flush", id.Conversation)
		}
	}
	for _, name := range []string{"memory.json.d/acme/ann/1.json", "notes.md.d/acme/ann/1.md",
		"memory.json.d/-/-/%2e%2e%2fup.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	again, err := OpenFile(filepath.Join(dir, "memory.json"))
	if err != nil {
		t.Fatal(err)
	}
	ctx := as(t, agent.Identity{Tenant: long, User: long, Conversation: long})
	if p, err := again.Preferences(ctx); err != nil || len(p) != 1 || p[0].Value != long {
		t.Errorf("after the restart there are %d preferences, %v", len(p), err)
	}
}

func TestFileWithALongNameIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("n", 250)+".json")
	m, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.SetPreference(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	if again, err := OpenFile(path); err != nil || again.known[agent.Identity{}].prefs["k"].Value != "v" {
		t.Errorf("not written: %v", err)
	}
}

func TestOwnersShareAFileConcurrently(t *testing.T) {
	m, err := OpenFile(filepath.Join(t.TempDir(), "memory.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for w := range 16 {
		id := agent.Identity{User: fmt.Sprint(w / 2), Conversation: "c"}
		all.Go(func() {
			ctx := as(t, id)
			for i := range 20 {
				if err := m.SetPreference(ctx, fmt.Sprint(w, "-", i), "v"); err != nil {
					t.Error(err)
				}
				if i%3 == 0 {
					if err := m.Flush(ctx); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	for w := range 8 {
		ctx := as(t, agent.Identity{User: fmt.Sprint(w), Conversation: "c"})
		if p, err := m.Preferences(ctx); len(p) != 40 || err != nil {
			t.Errorf("user %d has %d preferences, %v", w, len(p), err)
		}
	}
}

// writer is the environment variable with the path of the notes to which a process appends.
const writer = "HOOKGEN_NOTES_WRITER"

const writerNotes = 40

func TestMain(m *testing.M) {
	path := os.Getenv(writer)
	if path == "" {
		os.Exit(m.Run())
	}
	notes, err := OpenNotesFile(path)
	if err == nil && os.Args[len(os.Args)-1] == "endless" {
		notes.MaxChars = limit.None
	}
	for i := 0; i < writerNotes && err == nil; i++ {
		err = notes.Append(context.Background(), fmt.Sprintf("<%d %d>", os.Getpid(), i), "")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestProcessesShareANotesFile(t *testing.T) {
	for _, bound := range []string{"bounded", "endless"} {
		t.Run(bound, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "notes.md")
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					c := exec.Command(os.Args[0], bound)
					c.Env = append(os.Environ(), writer+"="+path)
					if out, err := c.CombinedOutput(); err != nil {
						t.Errorf("%v: %s", err, out)
					}
				})
			}
			all.Wait()
			data, err := os.ReadFile(path)
			if n := strings.Count(string(data), ">\n"); n != 4*writerNotes || err != nil {
				t.Errorf("%d notes of %d, %v", n, 4*writerNotes, err)
			}
		})
	}
}
