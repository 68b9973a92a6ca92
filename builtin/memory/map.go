package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Map is a [Store] in memory; its content is lost when the program ends. Its methods return an error only for an
// empty key and if the context is done. The zero value is empty and ready to use. A Map is safe for concurrent use and
// must not be copied.
type Map struct {
	Clock agent.Clock // source of timestamps; nil: the system's clock. Set it before the first use

	mu       sync.RWMutex
	facts    []Fact // in the order in which they became current
	current  map[factKey]int
	prefs    map[string]Preference
	episodes []Episode
}

type factKey struct{ key, scope string }

func keyOf(key, scope string) factKey { return factKey{key, cmp.Or(scope, GlobalScope)} }

var errNoKey = errors.New("the key is empty; give one")

// AddFact implements [Store].
func (m *Map) AddFact(ctx context.Context, f Fact) (Fact, error) {
	if err := ctx.Err(); err != nil {
		return Fact{}, err
	}
	if f.Key == "" {
		return Fact{}, fmt.Errorf("a fact: %w", errNoKey)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now, at := m.now(), keyOf(f.Key, f.Scope)
	added := Fact{
		ID: newFactID(), Key: f.Key, Value: f.Value, Scope: at.scope, Source: f.Source,
		UpdatedAt: now, ValidFrom: now,
	}
	if i, ok := m.current[at]; ok {
		old := &m.facts[i]
		if old.Value == f.Value {
			old.UpdatedAt = now
			return *old, nil
		}
		old.ValidTo, old.InvalidatedAt = now, now
		added.Supersedes = old.ID
	}
	m.activate(added)
	return added, nil
}

// activate adds a current fact. The caller holds the lock.
func (m *Map) activate(f Fact) {
	if m.current == nil {
		m.current = make(map[factKey]int)
	}
	m.facts = append(m.facts, f)
	m.current[keyOf(f.Key, f.Scope)] = len(m.facts) - 1
}

// Fact implements [Store].
func (m *Map) Fact(ctx context.Context, key, scope string) (Fact, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	i, ok := m.current[keyOf(key, scope)]
	if !ok {
		return Fact{}, false, ctx.Err()
	}
	return m.facts[i], true, ctx.Err()
}

// Facts implements [Store].
func (m *Map) Facts(ctx context.Context, scope string) ([]Fact, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var found []Fact
	for _, f := range slices.Backward(m.facts) {
		if f.Current() && (scope == "" || f.Scope == scope) {
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b Fact) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return found, ctx.Err()
}

// History implements [Store].
func (m *Map) History(ctx context.Context, key, scope string) ([]Fact, error) {
	at := keyOf(key, scope)
	return m.where(ctx, func(f Fact) bool { return f.Key == at.key && f.Scope == at.scope })
}

// AsOf implements [Store].
func (m *Map) AsOf(ctx context.Context, t time.Time) ([]Fact, error) {
	return m.where(ctx, func(f Fact) bool {
		return !t.Before(f.ValidFrom) && (f.ValidTo.IsZero() || t.Before(f.ValidTo))
	})
}

func (m *Map) where(ctx context.Context, holds func(Fact) bool) ([]Fact, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var found []Fact
	for _, f := range m.facts {
		if holds(f) {
			found = append(found, f)
		}
	}
	return found, ctx.Err()
}

// Forget implements [Store].
func (m *Map) Forget(ctx context.Context, key, scope string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := keyOf(key, scope)
	i, ok := m.current[at]
	if ok {
		now := m.now()
		m.facts[i].ValidTo, m.facts[i].InvalidatedAt = now, now
		delete(m.current, at)
	}
	return ok, nil
}

// SetPreference implements [Store].
func (m *Map) SetPreference(ctx context.Context, key, value string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if key == "" {
		return fmt.Errorf("a preference: %w", errNoKey)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if value == "" {
		delete(m.prefs, key)
		return nil
	}
	if m.prefs == nil {
		m.prefs = make(map[string]Preference)
	}
	m.prefs[key] = Preference{key, value, m.now()}
	return nil
}

// Preferences implements [Store].
func (m *Map) Preferences(ctx context.Context) ([]Preference, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var all []Preference
	for _, p := range m.prefs {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Preference) int { return strings.Compare(a.Key, b.Key) })
	return all, ctx.Err()
}

// AddEpisode implements [Store].
func (m *Map) AddEpisode(ctx context.Context, e Episode) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.Payload = asJSON(e.Payload)
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.Time.IsZero() {
		e.Time = m.now()
	}
	e.Time = e.Time.Truncate(time.Microsecond)
	m.episodes = append(m.episodes, e)
	if over := len(m.episodes) - maxEpisodes; over > 0 {
		m.episodes = slices.Delete(m.episodes, 0, over)
	}
	return nil
}

// Recent implements [Store].
func (m *Map) Recent(ctx context.Context, n int, kind string) ([]Episode, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var found []Episode
	for _, e := range slices.Backward(m.episodes) {
		if len(found) >= n {
			break
		}
		if kind == "" || e.Kind == kind {
			e.Payload = slices.Clone(e.Payload)
			found = append(found, e)
		}
	}
	return found, ctx.Err()
}

// Flush implements [Store]. It does nothing.
func (m *Map) Flush(ctx context.Context) error { return ctx.Err() }

// now returns the time to the microsecond, the precision of a memory file.
func (m *Map) now() time.Time {
	return nowBy(m.Clock).Round(0).Truncate(time.Microsecond)
}

func newFactID() string { return fmt.Sprintf("%016x", rand.Uint64()) }

// asJSON returns a copy of data if it is valid JSON, nil if it is empty, and otherwise data as a JSON string.
func asJSON(data json.RawMessage) json.RawMessage {
	switch {
	case len(data) == 0:
		return nil
	case json.Valid(data):
		return slices.Clone(data)
	}
	text, _ := json.Marshal(string(data))
	return text
}
