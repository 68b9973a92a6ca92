package session_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/filename"
	"github.com/hookgen/hookgen/loop/looptest"
)

// stores returns the stores of this package, each empty.
func stores() map[string]func(t *testing.T) agent.Store {
	return map[string]func(t *testing.T) agent.Store{
		"in memory": func(*testing.T) agent.Store { return new(session.Map) },
		"in files":  func(t *testing.T) agent.Store { return session.Dir{Path: filepath.Join(t.TempDir(), "made")} },
	}
}

func TestStoresKeepTheirContract(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) { looptest.CheckStore(t, open) })
		t.Run("sessions "+name, func(t *testing.T) {
			looptest.CheckSessionStore(t, func(t *testing.T) agent.SessionStore { return session.Sessions{Store: open(t)} })
		})
	}
}

func TestDirIgnoresForeignFiles(t *testing.T) {
	dir := t.TempDir()
	s := session.Dir{Path: dir}
	long := strings.Repeat("k", 300)
	name := filename.Of(long) + ".keyed"
	if err := s.Put(t.Context(), long, []byte("v")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, "renamed.keyed")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README", "Upper.json", ".x.json.1.tmp", "%zz.json", "torn.keyed", "-.keyed", name} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(`{ "key": "`+long+"\" }\nv"), 0o600); err != nil {
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
	if err := os.WriteFile(filepath.Join(dir, "dir.json", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "dir"); err == nil {
		t.Error("a directory was deleted")
	}
	if err := s.Put(t.Context(), "z", nil); err != nil {
		t.Error(err)
	}
	if keys, err := s.Keys(t.Context(), ""); !slices.Equal(keys, []string{"z"}) || err != nil {
		t.Errorf("keys %q, %v", keys, err)
	}
	for what, use := range map[string]func() ([]byte, error){
		"Get":  func() ([]byte, error) { return s.Get(t.Context(), long) },
		"Swap": func() ([]byte, error) { _, err := s.Swap(t.Context(), long, nil, []byte("v")); return nil, err },
	} {
		value, err := use()
		if value != nil || err == nil || !strings.Contains(err.Error(), "its first line is not the key") {
			t.Errorf("%s of a torn file: %q, %v", what, value, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
		t.Errorf("the torn file: %v", err)
	}
	if keys, err := (session.Dir{Path: filepath.Join(dir, "README")}).Keys(t.Context(), ""); err == nil {
		t.Errorf("a file has the keys %q", keys)
	}
	if _, err := s.Get(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "the key is empty") {
		t.Errorf("without a key: %v", err)
	}
	if _, err := (session.Dir{}).Get(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "set Path") {
		t.Errorf("without a directory: %v", err)
	}
}

// A value that an earlier version saved has no time. It is listed after those that have one, and can be loaded.
func TestSessionsWithoutATimeAreLast(t *testing.T) {
	store := new(session.Map)
	s := session.Sessions{Store: store}
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

// The path of the value is the longest that the system allows, so that no other file can be made next to it.
func TestTooLongPathsLoseNoValue(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the longest path is that of Linux")
	}
	for _, c := range []struct {
		name, file string
		use        func(session.Dir) error
		want       string
	}{
		{"Swap", "k.json", func(s session.Dir) error {
			_, err := s.Swap(t.Context(), "k", []byte("torn"), []byte("v"))
			return err
		}, "file name too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for longest := 4094 - len(c.file) - 2; len(dir) < longest; {
				dir += "/" + strings.Repeat("d", max(1, min(200, longest-len(dir)-1)))
			}
			path := filepath.Join(dir, c.file)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("torn"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := c.use(session.Dir{Path: dir}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %.300v, want %q in it", err, c.want)
			}
			if got := string(fixture.ReadFile(t, path)); got != "torn" {
				t.Errorf("the file has %q", got)
			}
		})
	}
}

func TestErrorsOfLoadHaveTheirCause(t *testing.T) {
	store := new(session.Map)
	if err := store.Put(t.Context(), "session///c", []byte("torn")); err != nil {
		t.Fatal(err)
	}
	s := session.Sessions{Store: store}
	if _, err := s.Load(t.Context(), agent.Identity{Conversation: "c"}); !errors.As(err, new(*json.SyntaxError)) {
		t.Errorf("a torn session: %v", err)
	}
	if _, err := s.Load(t.Context(), agent.Identity{User: "u"}); err == nil || !strings.Contains(err.Error(), "no name") {
		t.Errorf("without a name: %v", err)
	}
}

func TestErrorsNameTheConversation(t *testing.T) {
	for _, c := range []struct {
		id   agent.Identity
		want string
	}{
		{agent.Identity{Conversation: "c"}, `the session "c" cannot be saved`},
		{agent.Identity{Conversation: "c", User: "u"}, `the session "c" of the user "u" cannot be saved`},
		{agent.Identity{Conversation: "c", Tenant: "t"}, `the session "c" of the tenant "t" cannot be saved`},
		{agent.Identity{Conversation: "c", User: "u", Tenant: "t"}, `"c" of the user "u" of the tenant "t" cannot`},
	} {
		t.Run(c.want, func(t *testing.T) {
			invalid := map[string]json.RawMessage{"a": json.RawMessage("{")}
			s := session.Sessions{Store: new(session.Map)}
			err := s.Save(t.Context(), agent.Session{Identity: c.id, State: invalid})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q in it", err, c.want)
			}
			if ids, _ := s.List(t.Context()); len(ids) != 0 {
				t.Errorf("saved %v", ids)
			}
		})
	}
}

func TestSessionsHaveTheTimeOfTheirSave(t *testing.T) {
	store := new(session.Map)
	before := time.Now()
	id := agent.Identity{Conversation: "c"}
	if err := (session.Sessions{Store: store}).Save(t.Context(), agent.Session{Identity: id}); err != nil {
		t.Fatal(err)
	}
	after := time.Now().Add(time.Second / 2)
	var saved struct {
		At time.Time `json:"saved_at"`
	}
	value, err := store.Get(t.Context(), "session///c")
	err = errors.Join(err, json.Unmarshal(value, &saved))
	if err != nil || saved.At.Before(before) || saved.At.After(after) {
		t.Errorf("saved at %v between %v and %v, %v", saved.At, before, after, err)
	}
}
