package sqlite

import (
	"bytes"
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
	if err := s.fits(key, value); err != nil {
		return err
	}
	return s.DB.change(ctx, func(tx *sql.Tx) error { return put(ctx, tx, key, value) })
}

func (s Store) fits(key string, value []byte) error {
	if key == "" {
		return errNoKey
	}
	return s.DB.fits("the value with its key", len(key), len(value))
}

func put(ctx context.Context, tx *sql.Tx, key string, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO entries (key, value) VALUES (?, ?)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, value)
	return err
}

// Delete removes a key and its value. A missing key is not an error.
func (s Store) Delete(ctx context.Context, key string) error {
	return s.DB.change(ctx, func(tx *sql.Tx) error { return remove(ctx, tx, key) })
}

func remove(ctx context.Context, tx *sql.Tx, key string) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM entries WHERE key = ?", key)
	return err
}

// Swap stores the value of a key if its present value is old, and reports whether it did. For old, nil says that the
// key has no value; as the new value, it removes the key. If several processes swap the same value, one of them does.
func (s Store) Swap(ctx context.Context, key string, old, value []byte) (swapped bool, err error) {
	if err := s.fits(key, value); err != nil {
		return false, err
	}
	err = s.DB.change(ctx, func(tx *sql.Tx) error {
		var was []byte
		err := tx.QueryRowContext(ctx, "SELECT value FROM entries WHERE key = ?", key).Scan(&was)
		missing := errors.Is(err, sql.ErrNoRows)
		if err != nil && !missing {
			return err
		}
		swapped = missing == (old == nil) && bytes.Equal(was, old)
		switch {
		case !swapped:
			return nil
		case value == nil:
			return remove(ctx, tx, key)
		}
		return put(ctx, tx, key, value)
	})
	return swapped && err == nil, err
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
