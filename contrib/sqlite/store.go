package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Store is an [agent.Store] in a file. Hooks that share it never meet, because the keys of each begin with its kind.
// It is safe for concurrent use, also by several processes.
type Store struct {
	DB *DB
}

var _ agent.Store = Store{}

var errNoKey = errors.New("the key is empty; give one")

// Get returns the value of a key, or a *agent.NotFound.
func (s Store) Get(ctx context.Context, key string) ([]byte, error) {
	if key == "" {
		return nil, errNoKey
	}
	var value []byte
	err := s.DB.row(ctx, []any{&value}, "SELECT value FROM entries WHERE key = ?", key)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, &agent.NotFound{Key: key}
	}
	return value, err
}

// Put stores the value of a key.
func (s Store) Put(ctx context.Context, key string, value []byte) error {
	if key == "" {
		return errNoKey
	}
	if err := s.DB.fits("the value with its key", len(key), len(value)); err != nil {
		return err
	}
	if value == nil {
		value = []byte{}
	}
	return s.DB.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO entries (key, value) VALUES (?, ?)
			ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, value)
		return err
	})
}

// Delete removes a key and its value. A missing key is not an error.
func (s Store) Delete(ctx context.Context, key string) error {
	return s.DB.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM entries WHERE key = ?", key)
		return err
	})
}

// Take removes a key and returns its value, or a *agent.NotFound. If several processes take the same key, one of them
// gets the value. For example, a program stores suspended runs, and takes a run before it resumes it, so that no run is
// resumed twice. If the run was refused, and the error matches loop.ErrNotStarted, the program puts the value back.
func (s Store) Take(ctx context.Context, key string) (value []byte, err error) {
	err = s.DB.change(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "DELETE FROM entries WHERE key = ? RETURNING value", key).Scan(&value)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, &agent.NotFound{Key: key}
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}

// Keys returns the keys that begin with prefix, sorted.
func (s Store) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	each := func(scan func(...any) error) error {
		var key string
		err := scan(&key)
		keys = append(keys, key)
		return err
	}
	query, args := "SELECT key FROM entries WHERE key >= ?", []any{prefix}
	if after := following(prefix); after != "" {
		query, args = query+" AND key < ?", append(args, after)
	}
	err = s.DB.rows(ctx, func() { keys = nil }, each, query+" ORDER BY key", args...)
	return keys, err
}

// following returns the first text after all texts that begin with prefix, or "" if no text follows. Texts are compared
// byte by byte.
func following(prefix string) string {
	text := []byte(prefix)
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] < 0xff {
			text[i]++
			return string(text[:i+1])
		}
	}
	return ""
}
