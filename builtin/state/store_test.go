package state_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/state"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// stores returns the stores of this package, each empty.
func stores() map[string]func(t *testing.T) agent.Store {
	return map[string]func(t *testing.T) agent.Store{
		"in memory": func(*testing.T) agent.Store { return new(state.Map) },
		"in files":  func(t *testing.T) agent.Store { return state.Dir{Path: filepath.Join(t.TempDir(), "made")} },
	}
}

func TestStoresKeepTheirContract(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) { looptest.CheckStore(t, open) })
		t.Run("sessions "+name, func(t *testing.T) {
			looptest.CheckSessionStore(t, func(t *testing.T) agent.SessionStore { return state.Sessions{Store: open(t)} })
		})
	}
}

func TestDirIgnoresForeignFiles(t *testing.T) {
	dir := t.TempDir()
	s := state.Dir{Path: dir}
	for _, name := range []string{"README", "Upper.json", ".x.json.1.tmp", "%zz.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if keys, err := s.Keys(t.Context(), ""); len(keys) != 0 || err != nil {
		t.Errorf("keys %q, %v", keys, err)
	}
	if err := s.Put(t.Context(), "dir", nil); err == nil {
		t.Error("a directory was replaced")
	}
	if _, err := (state.Dir{}).Get(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "set Path") {
		t.Errorf("without a directory: %v", err)
	}
}

func TestCorruptSessionIsBackedUp(t *testing.T) {
	dir := t.TempDir()
	s := state.Sessions{Store: state.Dir{Path: dir}}
	id := agent.Identity{Conversation: "s"}
	path := filepath.Join(dir, "session%2f%2f%2fs.json")
	for i, text := range []string{`{"messages": [tor`, `{"other": 1}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(t.Context(), id); err == nil || !strings.Contains(err.Error(), `session "s" is corrupt`) {
			t.Errorf("loaded: %v", err)
		}
		if err := s.Save(t.Context(), agent.Session{Identity: id}); err != nil {
			t.Error(err)
		}
		if got := string(fixture.ReadFile(t, fmt.Sprintf("%s.corrupt-%d", path, i+1))); got != text {
			t.Errorf("moved aside: %q", got)
		}
		if got, err := s.Load(t.Context(), id); err != nil || got.Messages == nil {
			t.Errorf("saved: %+v, %v", got, err)
		}
	}
	if ids, _ := s.List(t.Context()); len(ids) != 1 {
		t.Errorf("list: %q", ids)
	}

	// An earlier program has made the backup and was then killed.
	if err := os.WriteFile(path, []byte(`{"other": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), agent.Session{Identity: id}); err != nil {
		t.Error(err)
	}
	if files, _ := filepath.Glob(path + ".*"); len(files) != 2 {
		t.Errorf("copied again: %q", files)
	}
}

// A value that an earlier version saved has no time. It is listed after those that have one, and can be loaded.
func TestSessionsWithoutATimeAreLast(t *testing.T) {
	store := new(state.Map)
	s := state.Sessions{Store: store}
	for _, name := range []string{"old", "new"} {
		if err := s.Save(t.Context(), agent.Session{Identity: agent.Identity{Conversation: name}}); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := store.Keys(t.Context(), "")
	if err != nil || len(keys) != 2 {
		t.Fatalf("the keys are %q, %v", keys, err)
	}
	for _, key := range keys {
		if strings.Contains(key, "old") {
			if err := store.Put(t.Context(), key, []byte(`{"messages": []}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	old, recent := agent.Identity{Conversation: "old"}, agent.Identity{Conversation: "new"}
	if ids, err := s.List(t.Context()); err != nil || !slices.Equal(ids, []agent.Identity{recent, old}) {
		t.Errorf("the list is %+v, %v", ids, err)
	}
	if _, err := s.Load(t.Context(), old); err != nil {
		t.Error(err)
	}
}
