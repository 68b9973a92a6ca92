package looptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

// A failedTest collects the errors of a check.
type failedTest struct {
	testing.TB
	mu    sync.Mutex
	texts []string
}

func (f *failedTest) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

func (f *failedTest) Error(args ...any) { f.Errorf("%s", fmt.Sprint(args...)) }

func (f *failedTest) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// errorsOf returns the errors of a check.
func errorsOf(t *testing.T, check func(testing.TB)) string {
	f := &failedTest{TB: t}
	var done sync.WaitGroup
	done.Go(func() { check(f) })
	done.Wait()
	return strings.Join(f.texts, "\n")
}

// A goodStore is a correct store. Each broken one changes one of its functions.
type goodStore struct {
	mu     sync.Mutex
	values map[string][]byte

	key      func(string) string      // changes keys
	value    func([]byte) []byte      // replaces the copy of a value
	notFound func(key string) error   // the error of a missing value
	keys     func([]string) []string  // changes lists
	hasKey   func(key, p string) bool // whether a key has a prefix
	done     func(context.Context) error
	any      bool // accepts the empty key
	careless bool // Swap does not compare values
}

func newGoodStore() *goodStore {
	return &goodStore{
		values: make(map[string][]byte), key: func(k string) string { return k }, value: slices.Clone[[]byte],
		notFound: func(key string) error { return fmt.Errorf("store: %w", &agent.NotFound{Key: key}) },
		keys:     func(keys []string) []string { return keys }, hasKey: strings.HasPrefix, done: context.Context.Err,
	}
}

func (s *goodStore) Get(ctx context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[s.key(key)]
	if err := s.done(ctx); err != nil || !ok {
		return nil, errors.Join(err, s.notFound(key))
	}
	return s.value(value), nil
}

func (s *goodStore) Swap(ctx context.Context, key string, old, value []byte) (bool, error) {
	if key == "" {
		return false, errors.New("no key")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.done(ctx); err != nil {
		return false, err
	}
	was, known := s.values[key]
	switch {
	case known != (old != nil) || !bytes.Equal(was, old) && !s.careless:
		return false, nil
	case value == nil:
		delete(s.values, key)
	default:
		s.values[key] = s.value(value)
	}
	return true, nil
}

func (s *goodStore) Put(ctx context.Context, key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.done(ctx); err != nil || key == "" && !s.any {
		return errors.Join(err, errors.New("no key"))
	}
	s.values[s.key(key)] = s.value(value)
	return nil
}

func (s *goodStore) Delete(ctx context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.done(ctx); err != nil {
		return err
	}
	delete(s.values, s.key(key))
	return nil
}

func (s *goodStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(s.values)), func(k string) bool { return !s.hasKey(k, prefix) })
	return s.keys(keys), s.done(ctx)
}

func TestCheckStorePassesAGoodStore(t *testing.T) {
	CheckStore(t, func(*testing.T) agent.Store { return newGoodStore() })
}

func TestCheckStoreFindsBrokenStores(t *testing.T) {
	for _, c := range []struct {
		name, check string
		breaks      func(s *goodStore)
		want        string
	}{
		{"another error", "nothing is stored", func(s *goodStore) {
			s.notFound = func(string) error { return errors.New("no such key") }
		}, "want an *agent.NotFound"},
		{"no key in the error", "nothing is stored", func(s *goodStore) {
			s.notFound = func(string) error { return &agent.NotFound{} }
		}, `has the key ""`},
		{"empty key", "nothing is stored", func(s *goodStore) { s.any = true }, `Put("") was accepted`},
		{"keys without case", "keys are any text", func(s *goodStore) { s.key = strings.ToLower }, `Get("a") = "value of A"`},
		{"keys end at NUL", "keys are any text", func(s *goodStore) {
			s.key = func(k string) string { k, _, _ = strings.Cut(k, "\x00"); return k }
		}, `Get("a\x00") = "value of a\x00b"`},
		{"long keys are cut", "keys are any text", func(s *goodStore) {
			s.key = func(k string) string { return k[:min(len(k), 100)] }
		}, "long/"},
		{"unsorted", "keys are any text", func(s *goodStore) {
			s.keys = func(k []string) []string { slices.Reverse(k); return k }
		}, `Keys("") =`},
		{"patterns", "lists have a prefix", func(s *goodStore) {
			s.hasKey = func(k, p string) bool { return strings.HasPrefix(k, p) || p == "a_" && strings.HasPrefix(k, "ax") }
		}, `Keys("a_") = ["a_b" "axb"]`},
		{"shared values", "values are copied", func(s *goodStore) { s.value = func(v []byte) []byte { return v } },
			"after Put changed the stored value"},
		{"values are cut", "values are any bytes", func(s *goodStore) {
			s.value = func(v []byte) []byte { return slices.Clone(v[:min(len(v), 1000)]) }
		}, `Get("key") =`},
		{"no context", "done contexts have no effect", func(s *goodStore) {
			s.done = func(context.Context) error { return nil }
		}, "Put with a cancelled context: <nil>; want"},
		{"torn values", "values are whole", func(s *goodStore) {
			s.value = func(v []byte) []byte { return slices.Clone(v[:len(v)/2]) }
		}, "want one of the values that were put"},
		{"careless swaps", "one of many swaps a value", func(s *goodStore) { s.careless = true },
			"4 of 4 concurrent calls of Swap succeeded; want 1"},
		{"swaps without a context", "one of many swaps a value", func(s *goodStore) {
			s.done = func(context.Context) error { return nil }
		}, "Swap with a cancelled context: <nil>; want"},
		{"a part is swapped", "one of many swaps a value", func(s *goodStore) {
			s.value = func(v []byte) []byte { return slices.Clone(v[:len(v)/2]) }
		}, `Get("suspended/0") = "su"`},
		{"few keys", "many keys", func(s *goodStore) {
			s.keys = func(k []string) []string { return k[:min(len(k), 100)] }
		}, `Keys("many/")`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newGoodStore()
			c.breaks(s)
			for _, check := range storeChecks {
				if check.name != c.check {
					continue
				}
				if got := errorsOf(t, func(tb testing.TB) { check.check(tb, s) }); !strings.Contains(got, c.want) {
					t.Errorf("found %q, want %q", got, c.want)
				}
			}
		})
	}
}

// A sessionMap is a correct session store, unless its functions are replaced.
type sessionMap struct {
	mu    sync.Mutex
	all   map[agent.Identity]agent.Session
	order []agent.Identity // of all Saves, the last one first
	sorts bool             // lists by name
	key   func(agent.Identity) agent.Identity
	clone func(agent.Session) agent.Session
	done  func(context.Context) error
}

func newSessionMap() *sessionMap {
	return &sessionMap{
		all: make(map[agent.Identity]agent.Session), key: func(id agent.Identity) agent.Identity { return id },
		clone: func(s agent.Session) agent.Session {
			s.Messages, s.State = slices.Clone(s.Messages), maps.Clone(s.State)
			return s
		},
		done: context.Context.Err,
	}
}

func (m *sessionMap) Save(ctx context.Context, s agent.Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.done(ctx); err != nil || s.Conversation == "" {
		return errors.Join(err, errors.New("no name"))
	}
	m.all[m.key(s.Identity)] = m.clone(s)
	m.order = append([]agent.Identity{m.key(s.Identity)}, m.order...)
	return nil
}

func (m *sessionMap) Load(ctx context.Context, id agent.Identity) (agent.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.all[m.key(id)]
	if err := m.done(ctx); err != nil || !ok {
		return s, errors.Join(err, &agent.NotFound{Key: id.Conversation})
	}
	return m.clone(s), nil
}

func (m *sessionMap) Delete(ctx context.Context, id agent.Identity) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done(ctx) == nil {
		delete(m.all, m.key(id))
	}
	return m.done(ctx)
}

func (m *sessionMap) List(ctx context.Context) ([]agent.Identity, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []agent.Identity
	for _, id := range m.order {
		if _, ok := m.all[id]; ok && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if m.sorts {
		slices.SortFunc(ids, func(a, b agent.Identity) int { return strings.Compare(a.Conversation, b.Conversation) })
	}
	return ids, m.done(ctx)
}

func TestCheckSessionStorePassesAGoodStore(t *testing.T) {
	CheckSessionStore(t, func(*testing.T) agent.SessionStore { return newSessionMap() })
}

func TestCheckSessionStoreFindsBrokenStores(t *testing.T) {
	for _, c := range []struct {
		name, check string
		breaks      func(m *sessionMap)
		want        string
	}{
		{"joined names", "owners are apart", func(m *sessionMap) {
			m.key = func(id agent.Identity) agent.Identity {
				return agent.Identity{Conversation: id.Tenant + id.User + id.Conversation}
			}
		}, "List ="},
		{"no tenants", "owners are apart", func(m *sessionMap) {
			m.key = func(id agent.Identity) agent.Identity { id.Tenant = ""; return id }
		}, "want the session"},
		{"no state", "sessions are loaded unchanged", func(m *sessionMap) {
			m.clone = func(s agent.Session) agent.Session { s.State = nil; return s }
		}, "Load returned"},
		{"shared messages", "sessions are copied", func(m *sessionMap) {
			m.clone = func(s agent.Session) agent.Session { return s }
		}, "after Save changed the stored one"},
		{"no context", "done contexts have no effect", func(m *sessionMap) {
			m.done = func(context.Context) error { return nil }
		}, "Save with a cancelled context: <nil>; want"},
		{"torn sessions", "sessions are whole", func(m *sessionMap) {
			m.clone = func(s agent.Session) agent.Session {
				s.Messages = slices.Clone(s.Messages)
				s.Messages[len(s.Messages)-1].Content = "other"
				return s
			}
		}, "messages that were not saved together"},
		{"sorted by name", "the last saved is listed first", func(m *sessionMap) {
			m.sorts = true
		}, "after three Saves, List ="},
		{"missing session", "nothing is stored", func(m *sessionMap) {
			m.all[agent.Identity{Tenant: "t", User: "u", Conversation: "c"}] = agent.Session{}
		}, "Load from an empty store: the error is <nil>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newSessionMap()
			c.breaks(m)
			for _, check := range sessionChecks {
				if check.name != c.check {
					continue
				}
				if got := errorsOf(t, func(tb testing.TB) { check.check(tb, m) }); !strings.Contains(got, c.want) {
					t.Errorf("found %q, want %q", got, c.want)
				}
			}
		})
	}
}
