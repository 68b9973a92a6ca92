package sqlite

import (
	"cmp"
	"context"
	"database/sql"
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

// A Memory is a [memory.Store] in a file. It is safe for concurrent use, also by several processes; do not copy it.
//
// Each conversation has a memory of its own. For example, Share: share.User gives the conversations of a user one
// memory. The memory of a conversation without a name is never written: it stays in the process, and the last 64 are
// kept.
type Memory struct {
	DB    *DB
	Share share.Scope // the runs that have a memory in common; set it before the first use
	Clock agent.Clock // source of timestamps; nil: the system's clock. Set it before the first use

	once    sync.Once
	unnamed memory.Map
}

var _ memory.Store = (*Memory)(nil)

// maxEpisodes bounds the episodes of an owner.
const maxEpisodes = 500

// owner returns the owner for whom a context acts. If it is a conversation without a name, unnamed has its memory, and
// own is the context to use.
func (m *Memory) owner(ctx context.Context) (owner agent.Identity, own context.Context, unnamed *memory.Map) {
	owner = m.Share.Of(agentspec.IdentityOf(ctx))
	if owner.Conversation == "" || owner.Named() {
		return owner, ctx, nil
	}
	m.once.Do(func() { m.unnamed.Clock = m.Clock })
	return owner, agentspec.WithIdentity(ctx, owner), &m.unnamed
}

func (m *Memory) now() int64 {
	if m.Clock == nil {
		return time.Now().UnixMicro()
	}
	return m.Clock.Now().UnixMicro()
}

// layers returns the owners whose memories a context reads: its own and the common one.
func layers(owner agent.Identity) []agent.Identity {
	if owner == (agent.Identity{}) {
		return []agent.Identity{owner}
	}
	return []agent.Identity{owner, {}}
}

// factColumns are the columns that scanFact reads.
const factColumns = "id, key, value, scope, source, updated_at, valid_from, valid_to, invalidated_at, supersedes"

func scanFact(scan func(...any) error) (f memory.Fact, err error) {
	var (
		updated, from   int64
		to, invalidated sql.NullInt64
	)
	err = scan(&f.ID, &f.Key, &f.Value, &f.Scope, &f.Source, &updated, &from, &to, &invalidated, &f.Supersedes)
	f.UpdatedAt, f.ValidFrom = timeOf(updated), timeOf(from)
	if to.Valid {
		f.ValidTo = timeOf(to.Int64)
	}
	if invalidated.Valid {
		f.InvalidatedAt = timeOf(invalidated.Int64)
	}
	return f, err
}

func timeOf(micro int64) time.Time { return time.UnixMicro(micro).UTC() }

// facts returns the facts of one owner that satisfy a condition.
func (m *Memory) facts(
	ctx context.Context, owner agent.Identity, condition string, args ...any,
) (found []memory.Fact, err error) {
	err = m.DB.rows(ctx, func() { found = nil }, func(scan func(...any) error) error {
		f, err := scanFact(scan)
		found = append(found, f)
		return err
	}, "SELECT "+factColumns+" FROM facts WHERE tenant = ? AND user = ? AND conversation = ? AND "+condition,
		append([]any{owner.Tenant, owner.User, owner.Conversation}, args...)...)
	return found, err
}

// AddFact implements [memory.Store].
func (m *Memory) AddFact(ctx context.Context, f memory.Fact) (memory.Fact, error) {
	owner, own, unnamed := m.owner(ctx)
	if unnamed != nil {
		return unnamed.AddFact(own, f)
	}
	if f.Key == "" {
		return memory.Fact{}, fmt.Errorf("a fact: %w", errNoKey)
	}
	if err := m.DB.fits("the fact", len(f.Key), len(f.Value), len(f.Scope), len(f.Source)); err != nil {
		return memory.Fact{}, err
	}
	added := memory.Fact{
		ID: fmt.Sprintf("%016x", rand.Uint64()), Key: f.Key, Value: f.Value, Scope: cmp.Or(f.Scope, memory.GlobalScope),
		Source: f.Source,
	}
	err := m.DB.change(ctx, func(tx *sql.Tx) error {
		now := m.now() // after waiting for other writers, so that the times are in order
		added.UpdatedAt, added.ValidFrom = timeOf(now), timeOf(now)
		old, err := scanFact(tx.QueryRowContext(ctx, "SELECT "+factColumns+` FROM facts
			WHERE tenant = ? AND user = ? AND conversation = ? AND key = ? AND scope = ? AND valid_to IS NULL`,
			owner.Tenant, owner.User, owner.Conversation, added.Key, added.Scope).Scan)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case old.Value == f.Value:
			added = old
			added.UpdatedAt = timeOf(now)
			_, err := tx.ExecContext(ctx, "UPDATE facts SET updated_at = ? WHERE id = ?", now, old.ID)
			return err
		default:
			added.Supersedes = old.ID
			_, err := tx.ExecContext(ctx, "UPDATE facts SET valid_to = ?, invalidated_at = ? WHERE id = ?", now, now, old.ID)
			if err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO facts
			(tenant, user, conversation, id, key, value, scope, source, updated_at, valid_from, supersedes)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, owner.Tenant, owner.User, owner.Conversation, added.ID, added.Key,
			added.Value, added.Scope, added.Source, now, now, added.Supersedes)
		return err
	})
	if err != nil {
		return memory.Fact{}, err
	}
	return added, nil
}

// Fact implements [memory.Store].
func (m *Memory) Fact(ctx context.Context, key, scope string) (memory.Fact, bool, error) {
	owner, own, unnamed := m.owner(ctx)
	for _, of := range layers(owner) {
		if unnamed != nil && of == owner {
			if f, ok, err := unnamed.Fact(own, key, scope); ok || err != nil {
				return f, ok, err
			}
			continue
		}
		found, err := m.facts(ctx, of, "key = ? AND scope = ? AND valid_to IS NULL", key, cmp.Or(scope, memory.GlobalScope))
		if err != nil || len(found) > 0 {
			return append(found, memory.Fact{})[0], len(found) > 0, err
		}
	}
	return memory.Fact{}, false, nil
}

// Facts implements [memory.Store].
func (m *Memory) Facts(ctx context.Context, scope string) ([]memory.Fact, error) {
	type place struct{ key, scope string }
	var all []memory.Fact
	seen := make(map[place]bool)
	err := m.eachLayer(ctx, func(ctx context.Context, owner agent.Identity, unnamed *memory.Map) (err error) {
		var found []memory.Fact
		if unnamed != nil {
			found, err = unnamed.Facts(ctx, scope)
		} else {
			found, err = m.facts(ctx, owner, "valid_to IS NULL AND (? = '' OR scope = ?) ORDER BY updated_at DESC, rank DESC",
				scope, scope)
		}
		for _, f := range found {
			if at := (place{f.Key, f.Scope}); !seen[at] { // an owner's fact hides the common one
				seen[at] = true
				all = append(all, f)
			}
		}
		return err
	})
	slices.SortStableFunc(all, func(a, b memory.Fact) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return all, err
}

// eachLayer calls f for the memory of the owner for whom ctx acts, and for the common memory. For a conversation
// without a name, f gets its memory and the context to use.
func (m *Memory) eachLayer(
	ctx context.Context, f func(ctx context.Context, owner agent.Identity, unnamed *memory.Map) error,
) error {
	owner, own, unnamed := m.owner(ctx)
	for _, of := range layers(owner) {
		var err error
		if of == owner {
			err = f(own, of, unnamed)
		} else {
			err = f(ctx, of, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// History implements [memory.Store].
func (m *Memory) History(ctx context.Context, key, scope string) ([]memory.Fact, error) {
	return m.inOrder(ctx, func(ctx context.Context, unnamed *memory.Map) ([]memory.Fact, error) {
		return unnamed.History(ctx, key, scope)
	}, "key = ? AND scope = ? ORDER BY rank", key, cmp.Or(scope, memory.GlobalScope))
}

// AsOf implements [memory.Store].
func (m *Memory) AsOf(ctx context.Context, t time.Time) ([]memory.Fact, error) {
	at := t.Truncate(time.Microsecond).UnixMicro()
	return m.inOrder(ctx, func(ctx context.Context, unnamed *memory.Map) ([]memory.Fact, error) {
		return unnamed.AsOf(ctx, t)
	}, "valid_from <= ? AND (valid_to IS NULL OR valid_to > ?) ORDER BY rank", at, at)
}

// inOrder returns facts of the owner and common ones in the order in which they became current.
func (m *Memory) inOrder(
	ctx context.Context, look func(context.Context, *memory.Map) ([]memory.Fact, error), condition string, args ...any,
) (all []memory.Fact, err error) {
	filled := 0
	err = m.eachLayer(ctx, func(ctx context.Context, owner agent.Identity, unnamed *memory.Map) (err error) {
		var found []memory.Fact
		if unnamed != nil {
			found, err = look(ctx, unnamed)
		} else {
			found, err = m.facts(ctx, owner, condition, args...)
		}
		if all = append(all, found...); len(found) > 0 {
			filled++
		}
		return err
	})
	if filled < 2 { // in order, also if the clock was set back
		return all, err
	}
	slices.SortStableFunc(all, func(a, b memory.Fact) int { return a.ValidFrom.Compare(b.ValidFrom) })
	return all, err
}

// Forget implements [memory.Store].
func (m *Memory) Forget(ctx context.Context, key, scope string) (had bool, err error) {
	owner, own, unnamed := m.owner(ctx)
	if unnamed != nil {
		return unnamed.Forget(own, key, scope)
	}
	err = m.DB.change(ctx, func(tx *sql.Tx) error {
		now := m.now()
		result, err := tx.ExecContext(ctx, `UPDATE facts SET valid_to = ?, invalidated_at = ?
			WHERE tenant = ? AND user = ? AND conversation = ? AND key = ? AND scope = ? AND valid_to IS NULL`, now, now,
			owner.Tenant, owner.User, owner.Conversation, key, cmp.Or(scope, memory.GlobalScope))
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		had = n > 0
		return err
	})
	return had && err == nil, err
}

// SetPreference implements [memory.Store].
func (m *Memory) SetPreference(ctx context.Context, key, value string) error {
	owner, own, unnamed := m.owner(ctx)
	if unnamed != nil {
		return unnamed.SetPreference(own, key, value)
	}
	if key == "" {
		return fmt.Errorf("a preference: %w", errNoKey)
	}
	if err := m.DB.fits("the preference", len(key), len(value)); err != nil {
		return err
	}
	return m.DB.change(ctx, func(tx *sql.Tx) error {
		if value == "" {
			_, err := tx.ExecContext(ctx,
				"DELETE FROM preferences WHERE tenant = ? AND user = ? AND conversation = ? AND key = ?",
				owner.Tenant, owner.User, owner.Conversation, key)
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO preferences (tenant, user, conversation, key, value, updated_at)
			VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, user, conversation, key)
			DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
			owner.Tenant, owner.User, owner.Conversation, key, value, m.now())
		return err
	})
}

// Preferences implements [memory.Store].
func (m *Memory) Preferences(ctx context.Context) (all []memory.Preference, err error) {
	seen := make(map[string]bool)
	err = m.eachLayer(ctx, func(ctx context.Context, owner agent.Identity, unnamed *memory.Map) (err error) {
		var found []memory.Preference
		if unnamed != nil {
			found, err = unnamed.Preferences(ctx)
		} else {
			err = m.DB.rows(ctx, func() { found = nil }, func(scan func(...any) error) error {
				var (
					p       memory.Preference
					updated int64
				)
				err := scan(&p.Key, &p.Value, &updated)
				p.UpdatedAt = timeOf(updated)
				found = append(found, p)
				return err
			}, "SELECT key, value, updated_at FROM preferences WHERE tenant = ? AND user = ? AND conversation = ?",
				owner.Tenant, owner.User, owner.Conversation)
		}
		for _, p := range found {
			if !seen[p.Key] { // an owner's preference hides the common one
				seen[p.Key] = true
				all = append(all, p)
			}
		}
		return err
	})
	slices.SortFunc(all, func(a, b memory.Preference) int { return strings.Compare(a.Key, b.Key) })
	return all, err
}

// AddEpisode implements [memory.Store].
func (m *Memory) AddEpisode(ctx context.Context, e memory.Episode) error {
	owner, own, unnamed := m.owner(ctx)
	if unnamed != nil {
		return unnamed.AddEpisode(own, e)
	}
	var payload []byte
	switch {
	case len(e.Payload) == 0:
	case json.Valid(e.Payload):
		payload = e.Payload
	default:
		payload, _ = json.Marshal(string(e.Payload))
	}
	err := m.DB.fits("the episode", len(payload), len(e.Kind), len(e.Outcome), len(e.Agent), len(e.Run), len(e.Tenant),
		len(e.User), len(e.Conversation))
	if err != nil {
		return err
	}
	return m.DB.change(ctx, func(tx *sql.Tx) error {
		at := m.now()
		if !e.Time.IsZero() {
			at = e.Time.UnixMicro()
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO episodes (tenant, user, conversation, kind, payload, outcome, at, agent,
			run, of_tenant, of_user, of_conversation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, owner.Tenant, owner.User,
			owner.Conversation, e.Kind, payload, e.Outcome, at, e.Agent, e.Run, e.Tenant, e.User, e.Conversation)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM episodes WHERE tenant = ?1 AND user = ?2 AND conversation = ?3
			AND rank <= (SELECT rank FROM episodes WHERE tenant = ?1 AND user = ?2 AND conversation = ?3
				ORDER BY rank DESC LIMIT 1 OFFSET ?4)`, owner.Tenant, owner.User, owner.Conversation, maxEpisodes)
		return err
	})
}

// Recent implements [memory.Store].
func (m *Memory) Recent(ctx context.Context, n int, kind string) (all []memory.Episode, err error) {
	if n <= 0 {
		return nil, ctx.Err()
	}
	n = min(n, maxEpisodes)
	filled := 0
	err = m.eachLayer(ctx, func(ctx context.Context, owner agent.Identity, unnamed *memory.Map) (err error) {
		var found []memory.Episode
		if unnamed != nil {
			found, err = unnamed.Recent(ctx, n, kind)
		} else {
			err = m.DB.rows(ctx, func() { found = nil }, func(scan func(...any) error) error {
				var (
					e       memory.Episode
					payload []byte
					at      int64
				)
				err := scan(&e.Kind, &payload, &e.Outcome, &at, &e.Agent, &e.Run, &e.Tenant, &e.User, &e.Conversation)
				e.Payload, e.Time = payload, timeOf(at)
				found = append(found, e)
				return err
			}, `SELECT kind, payload, outcome, at, agent, run, of_tenant, of_user, of_conversation FROM episodes
				WHERE tenant = ? AND user = ? AND conversation = ? AND (? = '' OR kind = ?) ORDER BY rank DESC LIMIT ?`,
				owner.Tenant, owner.User, owner.Conversation, kind, kind, n)
		}
		if all = append(all, found...); len(found) > 0 {
			filled++
		}
		return err
	})
	if filled > 1 { // episodes of one memory are in the order of addition, whatever their times
		slices.SortStableFunc(all, func(a, b memory.Episode) int { return b.Time.Compare(a.Time) })
	}
	return all[:min(len(all), n)], err
}

// Flush implements [memory.Store]. It does nothing, because every change is on the disk when its call returns.
func (m *Memory) Flush(ctx context.Context) error { return ctx.Err() }
