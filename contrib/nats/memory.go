package nats

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/memory/memorystore"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
)

// A Memory is a [memory.Store] in a bucket. It is safe for concurrent use, also by several processes; do not copy it.
//
// Each conversation has a memory of its own. For example, Share: share.User gives the conversations of a user one
// memory. The memory of a conversation without a name is never written: it stays in the process, and the last 64 are
// kept.
//
// Each fact, preference and episode is a value of the bucket. The value of a fact has its history.
type Memory struct {
	Bucket *Bucket
	Share  share.Scope // the runs that have a memory in common; set it before the first use
	Clock  agent.Clock // source of timestamps; nil: the system's clock. Set it before the first use

	memories memorystore.Memories
}

var _ memory.Store = (*Memory)(nil)

const (
	factKeys       = "fact"
	preferenceKeys = "preference"
	episodeKeys    = "episode"

	trimEvery = 20 // additions of episodes, on average, after which older ones are removed
)

// own returns the memory that a call with a context changes.
func (m *Memory) own(ctx context.Context) memorystore.Layer {
	return m.memories.Own(ctx, m.Share, m.Clock)
}

// layers returns the memories that a call with a context reads: its own, and the common one.
func (m *Memory) layers(ctx context.Context) []memorystore.Layer {
	return m.memories.All(ctx, m.Share, m.Clock)
}

func (m *Memory) now() time.Time {
	if m.Clock == nil {
		return time.Now().Truncate(time.Microsecond).UTC()
	}
	return m.Clock.Now().Truncate(time.Microsecond).UTC()
}

func factKey(owner agent.Identity, key, scope string) string {
	return boundedKey(factKeys, owner, cmp.Or(scope, memory.GlobalScope), key)
}

// A ranked value has the revision of its last change, which orders values of equal times.
type ranked[T any] struct {
	value T
	rank  uint64
}

// history returns the facts of one key and scope, the oldest first, and the revision of the last change.
func (m *Memory) history(ctx context.Context, owner agent.Identity, key, scope string) ([]memory.Fact, uint64, error) {
	e, err := m.Bucket.Get(ctx, factKey(owner, key, scope))
	if found := new(agent.NotFound); errors.As(err, &found) {
		return nil, 0, nil
	}
	var facts []memory.Fact
	if err == nil {
		facts, err = decodeFacts(e)
	}
	return facts, e.Revision, err
}

func decodeFacts(e Entry) (facts []memory.Fact, err error) {
	if err := json.Unmarshal(e.Value, &facts); err != nil {
		return nil, fmt.Errorf("the stored fact under %.80q is corrupt: %w; delete it", e.Key, err)
	}
	return facts, nil
}

// changeFacts replaces the history of a key and scope by what f returns, unless f returns nil.
func (m *Memory) changeFacts(
	ctx context.Context, owner agent.Identity, key, scope string, f func([]memory.Fact) []memory.Fact,
) error {
	return m.Bucket.retry(ctx, func(ctx context.Context) error {
		facts, revision, err := m.history(ctx, owner, key, scope)
		if err != nil {
			return err
		}
		if facts = f(facts); facts == nil {
			return nil
		}
		text, err := json.Marshal(facts)
		if err == nil {
			_, err = m.Bucket.change(ctx, factKey(owner, key, scope), text, revision)
		}
		return err
	})
}

// current returns the current fact of a history, or nil.
func current(facts []memory.Fact) *memory.Fact {
	if n := len(facts); n > 0 && facts[n-1].Current() {
		return &facts[n-1]
	}
	return nil
}

// AddFact implements [memory.Store].
func (m *Memory) AddFact(ctx context.Context, f memory.Fact) (added memory.Fact, err error) {
	own := m.own(ctx)
	if own.Unnamed != nil {
		return own.Unnamed.AddFact(own.Ctx, f)
	}
	if f.Key == "" {
		return memory.Fact{}, fmt.Errorf("a fact: %w", errNoKey)
	}
	err = m.changeFacts(ctx, own.Owner, f.Key, f.Scope, func(facts []memory.Fact) []memory.Fact {
		now := m.now()
		added = memorystore.NewFact(f, now)
		if old := current(facts); old != nil {
			if old.Value == f.Value {
				old.UpdatedAt = now
				added = *old
				return facts
			}
			old.ValidTo, old.InvalidatedAt, added.Supersedes = now, now, old.ID
		}
		return append(facts, added)
	})
	if err != nil {
		return memory.Fact{}, err
	}
	return added, nil
}

// Forget implements [memory.Store].
func (m *Memory) Forget(ctx context.Context, key, scope string) (had bool, err error) {
	own := m.own(ctx)
	if own.Unnamed != nil {
		return own.Unnamed.Forget(own.Ctx, key, scope)
	}
	err = m.changeFacts(ctx, own.Owner, key, scope, func(facts []memory.Fact) []memory.Fact {
		old := current(facts)
		if had = old != nil; !had {
			return nil
		}
		now := m.now()
		old.ValidTo, old.InvalidatedAt = now, now
		return facts
	})
	return had && err == nil, err
}

// Fact implements [memory.Store].
func (m *Memory) Fact(ctx context.Context, key, scope string) (memory.Fact, bool, error) {
	for _, l := range m.layers(ctx) {
		if l.Unnamed != nil {
			if f, ok, err := l.Unnamed.Fact(l.Ctx, key, scope); ok || err != nil {
				return f, ok, err
			}
			continue
		}
		facts, _, err := m.history(ctx, l.Owner, key, scope)
		if err != nil {
			return memory.Fact{}, false, err
		}
		if now := current(facts); now != nil {
			return *now, true, nil
		}
	}
	return memory.Fact{}, false, nil
}

// facts returns the facts of an owner for which choose is true. An empty scope means all scopes.
func (m *Memory) facts(
	ctx context.Context, owner agent.Identity, scope string, choose func(memory.Fact) bool,
) (found []ranked[memory.Fact], err error) {
	prefix := boundedKey(factKeys, owner) + "/"
	if scope != "" {
		prefix = boundedKey(factKeys, owner, scope) + "/"
	}
	entries, err := m.Bucket.bounded(ctx, prefix)
	for _, e := range entries {
		facts, failed := decodeFacts(e)
		err = errors.Join(err, failed)
		for _, f := range facts {
			if choose(f) {
				found = append(found, ranked[memory.Fact]{f, e.Revision})
			}
		}
	}
	return found, err
}

// Facts implements [memory.Store].
func (m *Memory) Facts(ctx context.Context, scope string) ([]memory.Fact, error) {
	all, err := memorystore.Read(m.layers(ctx), func(unnamed *memory.Map, own context.Context) ([]memory.Fact, error) {
		return unnamed.Facts(own, scope)
	}, func(owner agent.Identity) ([]memory.Fact, error) {
		found, err := m.facts(ctx, owner, scope, memory.Fact.Current)
		return sorted(found, func(a, b ranked[memory.Fact]) int {
			return cmp.Or(b.value.UpdatedAt.Compare(a.value.UpdatedAt), cmp.Compare(b.rank, a.rank))
		}), err
	})
	return memorystore.Facts(all), err
}

// sorted returns sorted values.
func sorted[T any](all []ranked[T], order func(a, b ranked[T]) int) (values []T) {
	slices.SortFunc(all, order)
	for _, r := range all {
		values = append(values, r.value)
	}
	return values
}

// History implements [memory.Store].
func (m *Memory) History(ctx context.Context, key, scope string) ([]memory.Fact, error) {
	all, err := memorystore.Read(m.layers(ctx), func(unnamed *memory.Map, own context.Context) ([]memory.Fact, error) {
		return unnamed.History(own, key, scope)
	}, func(owner agent.Identity) ([]memory.Fact, error) {
		facts, _, err := m.history(ctx, owner, key, scope)
		return facts, err
	})
	return memorystore.History(all), err
}

// AsOf implements [memory.Store].
func (m *Memory) AsOf(ctx context.Context, t time.Time) ([]memory.Fact, error) {
	t = t.Truncate(time.Microsecond)
	all, err := memorystore.Read(m.layers(ctx), func(unnamed *memory.Map, own context.Context) ([]memory.Fact, error) {
		return unnamed.AsOf(own, t)
	}, func(owner agent.Identity) ([]memory.Fact, error) {
		found, err := m.facts(ctx, owner, "", func(f memory.Fact) bool {
			return !f.ValidFrom.After(t) && (f.ValidTo.IsZero() || f.ValidTo.After(t))
		})
		return sorted(found, func(a, b ranked[memory.Fact]) int {
			return cmp.Or(a.value.ValidFrom.Compare(b.value.ValidFrom), cmp.Compare(a.rank, b.rank))
		}), err
	})
	return memorystore.History(all), err
}

// SetPreference implements [memory.Store].
func (m *Memory) SetPreference(ctx context.Context, key, value string) error {
	own := m.own(ctx)
	switch {
	case own.Unnamed != nil:
		return own.Unnamed.SetPreference(own.Ctx, key, value)
	case key == "":
		return fmt.Errorf("a preference: %w", errNoKey)
	case value == "":
		return m.Bucket.Delete(ctx, boundedKey(preferenceKeys, own.Owner, key))
	}
	text, err := json.Marshal(memory.Preference{Key: key, Value: value, UpdatedAt: m.now()})
	if err == nil {
		_, err = m.Bucket.Put(ctx, boundedKey(preferenceKeys, own.Owner, key), text)
	}
	return err
}

// decodeAll decodes the values of some entries.
func decodeAll[T any](entries []Entry, err error) (all []ranked[T], _ error) {
	for _, e := range entries {
		var v T
		if failed := json.Unmarshal(e.Value, &v); failed != nil {
			err = errors.Join(err, fmt.Errorf("the value under %.80q is corrupt: %w; delete it", e.Key, failed))
			continue
		}
		all = append(all, ranked[T]{v, e.Revision})
	}
	return all, err
}

// Preferences implements [memory.Store].
func (m *Memory) Preferences(ctx context.Context) ([]memory.Preference, error) {
	all, err := memorystore.Read(m.layers(ctx), (*memory.Map).Preferences,
		func(owner agent.Identity) (found []memory.Preference, err error) {
			stored, err := decodeAll[memory.Preference](m.Bucket.bounded(ctx, boundedKey(preferenceKeys, owner)+"/"))
			for _, p := range stored {
				found = append(found, p.value)
			}
			return found, err
		})
	return memorystore.Preferences(all), err
}

// AddEpisode implements [memory.Store].
func (m *Memory) AddEpisode(ctx context.Context, e memory.Episode) error {
	own := m.own(ctx)
	if own.Unnamed != nil {
		return own.Unnamed.AddEpisode(own.Ctx, e)
	}
	e.Payload = memorystore.Payload(e.Payload)
	if e.Time.IsZero() {
		e.Time = m.now()
	}
	text, err := json.Marshal(storedEpisode{e.Kind, e.Payload, e.Outcome, e.Time.Truncate(time.Microsecond).UTC(), e.Agent,
		e.Run, e.Tenant, e.User, e.Conversation})
	if err != nil {
		return err
	}
	prefix := boundedKey(episodeKeys, own.Owner) + "/"
	return m.Bucket.conn.Do(ctx, func(ctx context.Context) error {
		_, err := m.Bucket.Create(ctx, prefix+newID(), text)
		if err != nil || rand.N(trimEvery) > 0 {
			return err
		}
		return m.trim(ctx, prefix)
	})
}

// storedEpisode is the value of an episode. Its payload is a text, so that it is stored byte for byte.
type storedEpisode struct {
	Kind         string    `json:"kind"`
	Payload      []byte    `json:"payload,omitempty"`
	Outcome      string    `json:"outcome,omitempty"`
	Time         time.Time `json:"time"`
	Agent        string    `json:"agent,omitempty"`
	Run          string    `json:"run,omitempty"`
	Tenant       string    `json:"tenant,omitempty"`
	User         string    `json:"user,omitempty"`
	Conversation string    `json:"conversation,omitempty"`
}

// trim removes the episodes of an owner before the last ones.
func (m *Memory) trim(ctx context.Context, prefix string) error {
	old, err := m.Bucket.oldest(ctx, prefix, memorystore.MaxEpisodes)
	for _, key := range old {
		if err == nil {
			err = m.Bucket.Delete(ctx, key)
		}
	}
	return err
}

// Recent implements [memory.Store].
func (m *Memory) Recent(ctx context.Context, n int, kind string) ([]memory.Episode, error) {
	if n <= 0 {
		return nil, ctx.Err()
	}
	n = min(n, memorystore.MaxEpisodes)
	all, err := memorystore.Read(m.layers(ctx), func(unnamed *memory.Map, own context.Context) ([]memory.Episode, error) {
		return unnamed.Recent(own, n, kind)
	}, func(owner agent.Identity) ([]memory.Episode, error) { return m.recent(ctx, owner, n, kind) })
	return memorystore.Episodes(all, n), err
}

// recent returns the last n episodes of an owner, newest first.
func (m *Memory) recent(
	ctx context.Context, owner agent.Identity, n int, kind string,
) (last []memory.Episode, err error) {
	stored, err := decodeAll[storedEpisode](m.Bucket.bounded(ctx, boundedKey(episodeKeys, owner)+"/"))
	if err != nil {
		return nil, err
	}
	for _, s := range slices.Backward(stored[max(0, len(stored)-memorystore.MaxEpisodes):]) {
		e := s.value
		if len(last) < n && (kind == "" || e.Kind == kind) {
			last = append(last, memory.Episode{
				Kind: e.Kind, Payload: e.Payload, Outcome: e.Outcome, Time: e.Time, Agent: e.Agent, Run: e.Run,
				Identity: agent.Identity{Tenant: e.Tenant, User: e.User, Conversation: e.Conversation},
			})
		}
	}
	return last, nil
}

// Flush implements [memory.Store]. It does nothing, because the server has every change when its call returns.
func (m *Memory) Flush(ctx context.Context) error { return ctx.Err() }
