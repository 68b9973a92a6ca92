package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/memory/memorystore"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
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

	memories memorystore.Memories
}

var _ memory.Store = (*Memory)(nil)

// own returns the memory that a call with a context changes.
func (m *Memory) own(ctx context.Context) memorystore.Layer {
	return m.memories.Own(ctx, m.Share, m.Clock)
}

// layers returns the memories that a call with a context reads: its own, and the common one.
func (m *Memory) layers(ctx context.Context) []memorystore.Layer {
	return m.memories.All(ctx, m.Share, m.Clock)
}

func (m *Memory) now() int64 {
	if m.Clock == nil {
		return time.Now().UnixMicro()
	}
	return m.Clock.Now().UnixMicro()
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
	own := m.own(ctx)
	if own.Unnamed != nil {
		return own.Unnamed.AddFact(own.Ctx, f)
	}
	owner := own.Owner
	if f.Key == "" {
		return memory.Fact{}, fmt.Errorf("a fact: %w", errNoKey)
	}
	if err := m.DB.fits("the fact", len(f.Key), len(f.Value), len(f.Scope), len(f.Source)); err != nil {
		return memory.Fact{}, err
	}
	var added memory.Fact
	err := m.DB.change(ctx, func(tx *sql.Tx) error {
		now := m.now() // after waiting for other writers, so that the times are in order
		added = memorystore.NewFact(f, timeOf(now))
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
	for _, l := range m.layers(ctx) {
		if l.Unnamed != nil {
			if f, ok, err := l.Unnamed.Fact(l.Ctx, key, scope); ok || err != nil {
				return f, ok, err
			}
			continue
		}
		found, err := m.facts(ctx, l.Owner, "key = ? AND scope = ? AND valid_to IS NULL", key,
			cmp.Or(scope, memory.GlobalScope))
		if err != nil || len(found) > 0 {
			return append(found, memory.Fact{})[0], len(found) > 0, err
		}
	}
	return memory.Fact{}, false, nil
}

// Facts implements [memory.Store].
func (m *Memory) Facts(ctx context.Context, scope string) ([]memory.Fact, error) {
	all, err := memorystore.Read(m.layers(ctx), func(unnamed *memory.Map, own context.Context) ([]memory.Fact, error) {
		return unnamed.Facts(own, scope)
	}, func(owner agent.Identity) ([]memory.Fact, error) {
		return m.facts(ctx, owner, "valid_to IS NULL AND (? = '' OR scope = ?) ORDER BY updated_at DESC, rank DESC", scope,
			scope)
	})
	return memorystore.Facts(all), err
}

// History implements [memory.Store].
func (m *Memory) History(ctx context.Context, key, scope string) ([]memory.Fact, error) {
	all, err := memorystore.Read(m.layers(ctx), func(unnamed *memory.Map, own context.Context) ([]memory.Fact, error) {
		return unnamed.History(own, key, scope)
	}, func(owner agent.Identity) ([]memory.Fact, error) {
		return m.facts(ctx, owner, "key = ? AND scope = ? ORDER BY rank", key, cmp.Or(scope, memory.GlobalScope))
	})
	return memorystore.History(all), err
}

// AsOf implements [memory.Store].
func (m *Memory) AsOf(ctx context.Context, t time.Time) ([]memory.Fact, error) {
	at := t.Truncate(time.Microsecond).UnixMicro()
	all, err := memorystore.Read(m.layers(ctx), func(unnamed *memory.Map, own context.Context) ([]memory.Fact, error) {
		return unnamed.AsOf(own, t)
	}, func(owner agent.Identity) ([]memory.Fact, error) {
		return m.facts(ctx, owner, "valid_from <= ? AND (valid_to IS NULL OR valid_to > ?) ORDER BY rank", at, at)
	})
	return memorystore.History(all), err
}

// Forget implements [memory.Store].
func (m *Memory) Forget(ctx context.Context, key, scope string) (had bool, err error) {
	own := m.own(ctx)
	if own.Unnamed != nil {
		return own.Unnamed.Forget(own.Ctx, key, scope)
	}
	owner := own.Owner
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
	own := m.own(ctx)
	if own.Unnamed != nil {
		return own.Unnamed.SetPreference(own.Ctx, key, value)
	}
	owner := own.Owner
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
func (m *Memory) Preferences(ctx context.Context) ([]memory.Preference, error) {
	all, err := memorystore.Read(m.layers(ctx), (*memory.Map).Preferences,
		func(owner agent.Identity) (found []memory.Preference, err error) {
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
	owner := own.Owner
	payload := []byte(memorystore.Payload(e.Payload))
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
				ORDER BY rank DESC LIMIT 1 OFFSET ?4)`, owner.Tenant, owner.User, owner.Conversation, memorystore.MaxEpisodes)
		return err
	})
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
) (found []memory.Episode, err error) {
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
	return found, err
}

// Flush implements [memory.Store]. It does nothing, because every change is on the disk when its call returns.
func (m *Memory) Flush(ctx context.Context) error { return ctx.Err() }
