package nats

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

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
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

	once    sync.Once
	unnamed memory.Map
}

var _ memory.Store = (*Memory)(nil)

const (
	factKeys       = "fact"
	preferenceKeys = "preference"
	episodeKeys    = "episode"

	maxEpisodes = 500 // of an owner, that Recent finds
	trimEvery   = 20  // additions, on average, after which older ones are removed
)

// A layer is a memory that a call uses: that of an owner in the bucket, or one that stays in the process.
type layer struct {
	owner   agent.Identity
	ctx     context.Context
	unnamed *memory.Map // nil: it is in the bucket
}

// own returns the memory that a call with a context changes.
func (m *Memory) own(ctx context.Context) layer {
	owner := m.Share.Of(agentspec.IdentityOf(ctx))
	if owner.Conversation == "" || owner.Named() {
		return layer{owner, ctx, nil}
	}
	m.once.Do(func() { m.unnamed.Clock = m.Clock })
	return layer{owner, agentspec.WithIdentity(ctx, owner), &m.unnamed}
}

// layers returns the memories that a call with a context reads: its own, and the common one.
func (m *Memory) layers(ctx context.Context) []layer {
	own := m.own(ctx)
	if own.owner == (agent.Identity{}) {
		return []layer{own}
	}
	return []layer{own, {ctx: ctx}}
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
	if own.unnamed != nil {
		return own.unnamed.AddFact(own.ctx, f)
	}
	if f.Key == "" {
		return memory.Fact{}, fmt.Errorf("a fact: %w", errNoKey)
	}
	err = m.changeFacts(ctx, own.owner, f.Key, f.Scope, func(facts []memory.Fact) []memory.Fact {
		now := m.now()
		added = memory.Fact{
			ID: fmt.Sprintf("%016x", rand.Uint64()), Key: f.Key, Value: f.Value, Scope: cmp.Or(f.Scope, memory.GlobalScope),
			Source: f.Source, UpdatedAt: now, ValidFrom: now,
		}
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
	if own.unnamed != nil {
		return own.unnamed.Forget(own.ctx, key, scope)
	}
	err = m.changeFacts(ctx, own.owner, key, scope, func(facts []memory.Fact) []memory.Fact {
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
		if l.unnamed != nil {
			if f, ok, err := l.unnamed.Fact(l.ctx, key, scope); ok || err != nil {
				return f, ok, err
			}
			continue
		}
		facts, _, err := m.history(ctx, l.owner, key, scope)
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
	type place struct{ key, scope string }
	var found []ranked[memory.Fact]
	seen := make(map[place]bool)
	for _, l := range m.layers(ctx) {
		var all []ranked[memory.Fact]
		var err error
		if l.unnamed != nil {
			all, err = unranked(l.unnamed.Facts(l.ctx, scope))
		} else {
			all, err = m.facts(ctx, l.owner, scope, memory.Fact.Current)
		}
		if err != nil {
			return nil, err
		}
		for _, f := range all {
			if at := (place{f.value.Key, f.value.Scope}); !seen[at] { // an owner's fact hides the common one
				seen[at] = true
				found = append(found, f)
			}
		}
	}
	return sorted(found, func(a, b ranked[memory.Fact]) int {
		return cmp.Or(b.value.UpdatedAt.Compare(a.value.UpdatedAt), cmp.Compare(b.rank, a.rank))
	}), nil
}

// unranked returns values that are in order.
func unranked[T any](values []T, err error) (all []ranked[T], _ error) {
	for _, v := range values {
		all = append(all, ranked[T]{value: v})
	}
	return all, err
}

// sorted returns sorted values.
func sorted[T any](all []ranked[T], order func(a, b ranked[T]) int) (values []T) {
	slices.SortStableFunc(all, order)
	for _, r := range all {
		values = append(values, r.value)
	}
	return values
}

// History implements [memory.Store].
func (m *Memory) History(ctx context.Context, key, scope string) (all []memory.Fact, err error) {
	filled := 0
	for _, l := range m.layers(ctx) {
		var facts []memory.Fact
		if l.unnamed != nil {
			facts, err = l.unnamed.History(l.ctx, key, scope)
		} else {
			facts, _, err = m.history(ctx, l.owner, key, scope)
		}
		if err != nil {
			return nil, err
		}
		if all = append(all, facts...); len(facts) > 0 {
			filled++
		}
	}
	if filled > 1 { // one history is in order, also if the clock was set back
		slices.SortStableFunc(all, func(a, b memory.Fact) int { return a.ValidFrom.Compare(b.ValidFrom) })
	}
	return all, nil
}

// AsOf implements [memory.Store].
func (m *Memory) AsOf(ctx context.Context, t time.Time) ([]memory.Fact, error) {
	t = t.Truncate(time.Microsecond)
	var found []ranked[memory.Fact]
	for _, l := range m.layers(ctx) {
		var all []ranked[memory.Fact]
		var err error
		if l.unnamed != nil {
			all, err = unranked(l.unnamed.AsOf(l.ctx, t))
		} else {
			all, err = m.facts(ctx, l.owner, "", func(f memory.Fact) bool {
				return !f.ValidFrom.After(t) && (f.ValidTo.IsZero() || f.ValidTo.After(t))
			})
		}
		if err != nil {
			return nil, err
		}
		found = append(found, all...)
	}
	return sorted(found, func(a, b ranked[memory.Fact]) int {
		return cmp.Or(a.value.ValidFrom.Compare(b.value.ValidFrom), cmp.Compare(a.rank, b.rank))
	}), nil
}

// SetPreference implements [memory.Store].
func (m *Memory) SetPreference(ctx context.Context, key, value string) error {
	own := m.own(ctx)
	switch {
	case own.unnamed != nil:
		return own.unnamed.SetPreference(own.ctx, key, value)
	case key == "":
		return fmt.Errorf("a preference: %w", errNoKey)
	case value == "":
		return m.Bucket.Delete(ctx, boundedKey(preferenceKeys, own.owner, key))
	}
	text, err := json.Marshal(memory.Preference{Key: key, Value: value, UpdatedAt: m.now()})
	if err == nil {
		_, err = m.Bucket.Put(ctx, boundedKey(preferenceKeys, own.owner, key), text)
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
func (m *Memory) Preferences(ctx context.Context) (all []memory.Preference, err error) {
	seen := make(map[string]bool)
	for _, l := range m.layers(ctx) {
		var found []ranked[memory.Preference]
		if l.unnamed != nil {
			found, err = unranked(l.unnamed.Preferences(l.ctx))
		} else {
			found, err = decodeAll[memory.Preference](m.Bucket.bounded(ctx, boundedKey(preferenceKeys, l.owner)+"/"))
		}
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			if !seen[p.value.Key] { // an owner's preference hides the common one
				seen[p.value.Key] = true
				all = append(all, p.value)
			}
		}
	}
	slices.SortFunc(all, func(a, b memory.Preference) int { return strings.Compare(a.Key, b.Key) })
	return all, nil
}

// AddEpisode implements [memory.Store].
func (m *Memory) AddEpisode(ctx context.Context, e memory.Episode) error {
	own := m.own(ctx)
	if own.unnamed != nil {
		return own.unnamed.AddEpisode(own.ctx, e)
	}
	switch {
	case len(e.Payload) == 0:
		e.Payload = nil
	case !json.Valid(e.Payload):
		e.Payload, _ = json.Marshal(string(e.Payload))
	}
	if e.Time.IsZero() {
		e.Time = m.now()
	}
	text, err := json.Marshal(storedEpisode{e.Kind, e.Payload, e.Outcome, e.Time.Truncate(time.Microsecond).UTC(), e.Agent,
		e.Run, e.Tenant, e.User, e.Conversation})
	if err != nil {
		return err
	}
	prefix := boundedKey(episodeKeys, own.owner) + "/"
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
	old, err := m.Bucket.oldest(ctx, prefix, maxEpisodes)
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
	n = min(n, maxEpisodes)
	var all []memory.Episode
	filled := 0
	for _, l := range m.layers(ctx) {
		var found []memory.Episode
		var err error
		if l.unnamed != nil {
			found, err = l.unnamed.Recent(l.ctx, n, kind)
		} else {
			found, err = m.recent(ctx, l.owner, n, kind)
		}
		if err != nil {
			return nil, err
		}
		if all = append(all, found...); len(found) > 0 {
			filled++
		}
	}
	if filled > 1 { // episodes of one memory are in the order of addition, whatever their times
		slices.SortStableFunc(all, func(a, b memory.Episode) int { return b.Time.Compare(a.Time) })
	}
	return all[:min(len(all), n)], nil
}

// recent returns the last n episodes of an owner, newest first.
func (m *Memory) recent(
	ctx context.Context, owner agent.Identity, n int, kind string,
) (last []memory.Episode, err error) {
	stored, err := decodeAll[storedEpisode](m.Bucket.bounded(ctx, boundedKey(episodeKeys, owner)+"/"))
	if err != nil {
		return nil, err
	}
	for _, s := range slices.Backward(stored[max(0, len(stored)-maxEpisodes):]) {
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
