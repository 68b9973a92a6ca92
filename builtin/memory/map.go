package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A Map is a [Store] in memory; its content is lost when the program ends. Its methods return an error only for an
// empty key and if the context is done. The zero value is empty and ready to use. A Map is safe for concurrent use and
// must not be copied.
//
// Each conversation has a memory of its own. For example, Share: share.User gives the conversations of a user one
// memory, and Share: share.Everyone makes everything common. Of conversations without a name, a Map keeps the memories
// of the last 64.
type Map struct {
	Clock agent.Clock // source of timestamps; nil: the system's clock. Set it before the first use
	Share share.Scope // the runs that have a memory in common; set it before the first use

	mu      sync.Mutex
	known   map[agent.Identity]*knowledge
	unnamed []agent.Identity // owners in known without a named conversation, oldest first
	file    *File            // where the knowledge of named owners is kept; nil: only here
	flushed int              // how often knowledge was removed from known because its file has everything
}

// maxUnnamed bounds the memories of conversations without a name.
const maxUnnamed = 64

var errNoKey = errors.New("the key is empty; give one")

// owner returns the owner for whom a context acts.
func (m *Map) owner(ctx context.Context) agent.Identity { return m.Share.Of(agentspec.IdentityOf(ctx)) }

// Flush implements [Store]. It does nothing.
func (m *Map) Flush(ctx context.Context) error { return ctx.Err() }

// now returns the time to the microsecond, the precision of a memory file.
func (m *Map) now() time.Time {
	return nowBy(m.Clock).Round(0).Truncate(time.Microsecond)
}

// onlyHere reports whether the knowledge of an owner is not kept in a file.
func (m *Map) onlyHere(owner agent.Identity) bool { return m.file == nil || isUnnamed(owner) }

// isUnnamed reports whether an owner is a conversation without a name.
func isUnnamed(owner agent.Identity) bool { return owner.Conversation != "" && !owner.Named() }

// lock locks the Map and returns the knowledge of an owner, which it reads from its file if necessary. It returns nil
// if there is none and create is false. After an error the Map is not locked.
func (m *Map) lock(owner agent.Identity, create bool) (*knowledge, error) {
	for {
		m.mu.Lock()
		k := m.known[owner]
		switch {
		case k != nil:
			return k, nil
		case m.onlyHere(owner):
			if create {
				k = new(knowledge)
				m.keep(owner, k)
			}
			return k, nil
		}
		flushed := m.flushed
		m.mu.Unlock()
		k, err := m.file.read(owner)
		if err != nil {
			return nil, err
		}
		m.mu.Lock()
		switch {
		case m.known[owner] != nil:
		case m.flushed != flushed:
			// Meanwhile another goroutine may have read, changed, written and flushed this knowledge. Nobody can
			// write the file now, because only known memories are written.
			if k, err = m.file.read(owner); err != nil {
				m.mu.Unlock()
				return nil, err
			}
			fallthrough
		default:
			m.keep(owner, k)
		}
		m.mu.Unlock()
	}
}

// keep stores the knowledge of an owner. The caller holds the lock.
func (m *Map) keep(owner agent.Identity, k *knowledge) {
	if m.known == nil {
		m.known = make(map[agent.Identity]*knowledge)
	}
	m.known[owner] = k
	if !isUnnamed(owner) {
		return
	}
	if m.unnamed = append(m.unnamed, owner); len(m.unnamed) > maxUnnamed {
		delete(m.known, m.unnamed[0])
		m.unnamed = m.unnamed[1:]
	}
}

// look calls f with the knowledge of the owner for whom ctx acts, and the common knowledge.
func (m *Map) look(ctx context.Context, f func(layers)) error {
	owner := m.owner(ctx)
	k, err := m.lock(owner, false)
	if err != nil {
		return err
	}
	defer m.mu.Unlock()
	var all layers
	if k != nil {
		all = append(all, k)
	}
	if common := m.known[agent.Identity{}]; common != nil && owner != (agent.Identity{}) {
		all = append(all, common)
	}
	f(all)
	return ctx.Err()
}

// change calls f with the knowledge of the owner for whom ctx acts. F reports whether it changed it.
func (m *Map) change(ctx context.Context, f func(k *knowledge, now time.Time) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	owner := m.owner(ctx)
	k, err := m.lock(owner, true)
	if err != nil {
		return err
	}
	changed := f(k, m.now())
	k.dirty = k.dirty || changed
	m.mu.Unlock()
	if !changed || m.onlyHere(owner) {
		return nil
	}
	return m.file.changed(owner, k)
}

// AddFact implements [Store].
func (m *Map) AddFact(ctx context.Context, f Fact) (added Fact, err error) {
	if f.Key == "" {
		return Fact{}, fmt.Errorf("a fact: %w", errNoKey)
	}
	err = m.change(ctx, func(k *knowledge, now time.Time) bool {
		added = k.add(f, now)
		return true
	})
	return added, err
}

// Fact implements [Store].
func (m *Map) Fact(ctx context.Context, key, scope string) (f Fact, ok bool, err error) {
	err = m.look(ctx, func(l layers) { f, ok = l.fact(keyOf(key, scope)) })
	return f, ok, err
}

// Facts implements [Store].
func (m *Map) Facts(ctx context.Context, scope string) (found []Fact, err error) {
	err = m.look(ctx, func(l layers) { found = l.current(scope) })
	return found, err
}

// History implements [Store].
func (m *Map) History(ctx context.Context, key, scope string) (found []Fact, err error) {
	at := keyOf(key, scope)
	err = m.look(ctx, func(l layers) {
		found = l.where(func(f Fact) bool { return f.Key == at.key && f.Scope == at.scope })
	})
	return found, err
}

// AsOf implements [Store].
func (m *Map) AsOf(ctx context.Context, t time.Time) (found []Fact, err error) {
	err = m.look(ctx, func(l layers) {
		found = l.where(func(f Fact) bool {
			return !t.Before(f.ValidFrom) && (f.ValidTo.IsZero() || t.Before(f.ValidTo))
		})
	})
	return found, err
}

// Forget implements [Store].
func (m *Map) Forget(ctx context.Context, key, scope string) (had bool, err error) {
	err = m.change(ctx, func(k *knowledge, now time.Time) bool {
		had = k.forget(keyOf(key, scope), now)
		return had
	})
	return had, err
}

// SetPreference implements [Store].
func (m *Map) SetPreference(ctx context.Context, key, value string) error {
	if key == "" {
		return fmt.Errorf("a preference: %w", errNoKey)
	}
	return m.change(ctx, func(k *knowledge, now time.Time) bool {
		k.setPreference(key, value, now)
		return true
	})
}

// Preferences implements [Store].
func (m *Map) Preferences(ctx context.Context) (all []Preference, err error) {
	err = m.look(ctx, func(l layers) { all = l.preferences() })
	return all, err
}

// AddEpisode implements [Store].
func (m *Map) AddEpisode(ctx context.Context, e Episode) error {
	e.Payload = asJSON(e.Payload)
	return m.change(ctx, func(k *knowledge, now time.Time) bool {
		if e.Time.IsZero() {
			e.Time = now
		}
		e.Time = e.Time.Truncate(time.Microsecond)
		k.addEpisode(e)
		return true
	})
}

// Recent implements [Store].
func (m *Map) Recent(ctx context.Context, n int, kind string) (found []Episode, err error) {
	err = m.look(ctx, func(l layers) { found = l.recent(n, kind) })
	return found, err
}
