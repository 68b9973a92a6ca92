package state_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/state"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestStoresKeepTheirContract(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) agent.Store{
		"in memory": func(*testing.T) agent.Store { return new(state.Map) },
		"in files":  func(t *testing.T) agent.Store { return state.Dir{Path: filepath.Join(t.TempDir(), "made")} },
	} {
		t.Run(name, func(t *testing.T) {
			s, ctx := open(t), t.Context()
			var missing *agent.NotFound
			if _, err := s.Get(ctx, "a"); !errors.As(err, &missing) || missing.Key != "a" {
				t.Errorf("of nothing: %v", err)
			}
			if keys, err := s.Keys(ctx, ""); err != nil || len(keys) != 0 {
				t.Errorf("an empty store has %v, %v", keys, err)
			}
			if err := s.Delete(ctx, "a"); err != nil {
				t.Errorf("deleting nothing: %v", err)
			}
			long := strings.Repeat("long/", 200)
			keys := []string{"../up", "A", "a", "a/b", "c", long + "1", long + "2\xff", "ä"}
			value := []byte(`{"x":1}`)
			for _, key := range keys {
				if err := s.Put(ctx, key, append([]byte("old"), value...)); err != nil {
					t.Fatal(err)
				}
				if err := s.Put(ctx, key, value); err != nil {
					t.Fatal(err)
				}
			}
			value[0] = '!'
			got, err := s.Get(ctx, "../up")
			if string(got) != `{"x":1}` || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			got[0] = '!'
			if got, _ := s.Get(ctx, "../up"); string(got) != `{"x":1}` {
				t.Errorf("the store shares memory: %q", got)
			}
			if all, err := s.Keys(ctx, ""); err != nil || !reflect.DeepEqual(all, keys) {
				t.Errorf("keys %q, %v", all, err)
			}
			if got, err := s.Get(ctx, long+"1"); string(got) != `{"x":1}` || err != nil {
				t.Errorf("of a long key: %q, %v", got, err)
			}
			if _, err := s.Get(ctx, long+"3"); !errors.As(err, &missing) {
				t.Errorf("of another long key: %v", err)
			}
			if some, _ := s.Keys(ctx, "a"); !reflect.DeepEqual(some, []string{"a", "a/b"}) {
				t.Errorf("keys with a: %q", some)
			}
			if err := s.Delete(ctx, "a"); err != nil {
				t.Error(err)
			}
			if _, err := s.Get(ctx, "a"); !errors.As(err, &missing) {
				t.Errorf("deleted: %v", err)
			}
			if err := s.Put(ctx, "", nil); err == nil {
				t.Error("an empty key was accepted")
			}
			over, cancel := context.WithCancel(ctx)
			cancel()
			if err := s.Put(over, "late", value); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					key := fmt.Sprint("k", i%5)
					if err := s.Put(ctx, key, []byte(strings.Repeat(key, 1000))); err != nil {
						t.Error(err)
					}
					if got, err := s.Get(ctx, key); err != nil || string(got) != strings.Repeat(key, 1000) {
						t.Errorf("%s: %.20q, %v", key, got, err)
					}
				})
			}
			all.Wait()
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

func TestSessionsAreLoadedUnchanged(t *testing.T) {
	dir := t.TempDir()
	for _, s := range []state.Sessions{{Store: new(state.Map)}, {Store: state.Dir{Path: dir}}} {
		ctx := t.Context()
		want := agent.Session{Identity: agent.Identity{
			Tenant:       "t",
			User:         "u/v",
			Conversation: "../a",
		}, Messages: []agent.Message{
			{Role: agent.RoleUser, Content: "hi"},
			{Role: agent.RoleAssistant,
				ToolCalls: []agent.ToolCallRequest{{ID: "1", Name: "x", Args: json.RawMessage(`not json`)}}},
			{Role: agent.RoleTool, ToolCallID: "1", Content: "y", IsError: true},
		}, State: map[string]json.RawMessage{"n": json.RawMessage(`1`)}}
		if err := s.Save(ctx, want); err != nil {
			t.Fatal(err)
		}
		got, err := s.Load(ctx, want.Identity)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v", got, err)
		}
		if ids, err := s.List(ctx); err != nil || !reflect.DeepEqual(ids, []agent.Identity{want.Identity}) {
			t.Errorf("list: %q, %v", ids, err)
		}
		if err := s.Save(ctx, agent.Session{}); err == nil {
			t.Error("a session without an identity was saved")
		}
		if _, err := s.Load(ctx, agent.Identity{Tenant: "t", User: "u"}); err == nil {
			t.Error("a session without an identity was loaded")
		}
		if err := s.Delete(ctx, want.Identity); err != nil {
			t.Error(err)
		}
		if _, err := s.Load(ctx, want.Identity); !errors.As(err, new(*agent.NotFound)) {
			t.Errorf("deleted: %v", err)
		}
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
