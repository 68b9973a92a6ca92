package memory

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
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
			for name, m := range map[string]*Facts{"here": {}, "in a Dir": {In: session.Dir{Path: t.TempDir()}}} {
				t.Run(name, func(t *testing.T) {
					m.Share = c.scope
					keep(t, as(t, annOne), m, Fact{Key: "secret", Value: "fact"},
						Fact{Key: "secret", Value: "preference", Scope: PreferenceScope},
						Episode{Kind: "secret", Outcome: "episode"}.Fact())
					c.check(t, func(ctx context.Context) bool {
						text, err := Render(ctx, m, "", 9, 9)
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
				})
			}
		})
	}
}

func TestNotesBelongToTheirOwners(t *testing.T) {
	for _, c := range sharingCases {
		t.Run(c.scope.String(), func(t *testing.T) {
			forEachNotes(t, 0, func(t *testing.T, n *Notes) {
				n.Share = c.scope
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

func TestOwnersSeeTheCommonNotes(t *testing.T) {
	forEachNotes(t, 0, func(t *testing.T, n *Notes) {
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
	facts := &Facts{In: session.Dir{Path: filepath.Join(dir, "memory")}}
	notes := &Notes{Path: filepath.Join(dir, "notes.md")}
	known := func(ctx context.Context) bool {
		found, _, err := facts.Search(ctx, Query{})
		if err != nil {
			t.Error(err)
		}
		return len(found) > 0
	}
	for i := range 3 * maxUnnamed {
		ctx := as(t, agent.Identity{Conversation: fmt.Sprintf("run %016x", i)})
		keep(t, ctx, facts, Fact{Key: "k", Value: "v"})
		if err := notes.Append(ctx, "note", ""); err != nil {
			t.Fatal(err)
		}
		if text, _ := notes.Tail(ctx, -1); !known(ctx) || text != "note" {
			t.Errorf("during run %d there are no facts, or the notes %q", i, text)
		}
	}
	for i := 3*maxUnnamed - 1; i >= 0; i-- { // the oldest are dropped
		ctx := as(t, agent.Identity{Conversation: fmt.Sprintf("run %016x", i)})
		if kept := known(ctx); kept != (i >= 2*maxUnnamed) {
			t.Errorf("the memory of run %d is kept: %t", i, kept)
		}
		text, err := notes.Tail(ctx, -1)
		if kept := text != ""; err != nil || kept != (i >= 2*maxUnnamed) {
			t.Errorf("the notes of run %d are kept: %t, %v", i, kept, err)
		}
	}
	if len(facts.here.values) > maxUnnamed || len(notes.texts.values) > maxUnnamed {
		t.Errorf("%d memories and %d notes are kept", len(facts.here.values), len(notes.texts.values))
	}
	if entries, err := os.ReadDir(dir); len(entries) != 0 || err != nil {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

func TestEachOwnerHasNotesOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	notes := &Notes{Path: filepath.Join(dir, "notes.md")}
	long := strings.Repeat("long", 200)
	for _, id := range []agent.Identity{
		annOne, {Conversation: "../up"}, {User: "CON"}, {Tenant: long, User: long, Conversation: long},
	} {
		if err := notes.Append(as(t, id), id.Conversation+"!", ""); err != nil {
			t.Fatal(err)
		}
		if text, err := notes.Tail(as(t, id), -1); text != id.Conversation+"!" || err != nil {
			t.Errorf("the notes of %.40v are %.40q, %v", id, text, err)
		}
	}
	for _, name := range []string{"notes.md.d/acme/ann/1.md", "notes.md.d/-/-/%2e%2e%2fup.md"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
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
	notes := &Notes{Path: path}
	if os.Args[len(os.Args)-1] == "endless" {
		notes.MaxChars = limit.None
	}
	var err error
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
